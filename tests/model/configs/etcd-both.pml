/* SPDX-License-Identifier: MIT */
/* Two semaphores with one permit each. Two clients want both, and one wants the second one. */
#define CLIENTS 3
#define COUNT(c) 1
#define NAMES 2
#define WANTS(c, n) (c < 2 || n == 1)
#include "../etcd/client.pml"

init { atomic { begin(1, 1); run client(0); run client(1); run client(2) } }
