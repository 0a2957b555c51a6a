/* SPDX-License-Identifier: MIT */
/* Two permits, and three clients of which one wants both. A request or an answer is lost, and a waiter gives up. */
#define CLIENTS 3
#define COUNT(c) (c == 1 -> 2 : 1)
#define LOSSES 1
#define QUITS 1
#include "../etcd/client.pml"

init { atomic { begin(2, 0); run client(0); run client(1); run client(2) } }
