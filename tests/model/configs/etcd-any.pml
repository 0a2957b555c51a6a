/* SPDX-License-Identifier: MIT */
/* Two semaphores with one permit each. One client wants any of them, one wants both, and one wants the first one. */
#define CLIENTS 3
#define COUNT(c) 1
#define NAMES 2
#define WANTS(c, n) (c < 2 || n == 0)
#define ANY(c) (c == 0)
#include "../etcd/client.pml"

init { atomic { begin(1, 1); run client(0); run client(1); run client(2) } }
