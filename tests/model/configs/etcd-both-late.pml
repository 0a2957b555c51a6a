/* SPDX-License-Identifier: MIT */
/* Two semaphores with one permit each. One client wants both, one wants any. Requests are lost, late or repeated; one gives up. */
#define CLIENTS 2
#define COUNT(c) 1
#define NAMES 2
#define ANY(c) (c == 0)
#define LOSSES 1
#define REPEATS 1
#define QUITS 1
#define EXPIRIES 1
#include "../etcd/client.pml"

init { atomic { begin(1, 1); run expiry(0); run expiry(1); run client(0); run client(1) } }
