/* SPDX-License-Identifier: MIT */
/* One permit and two clients. Two requests or answers are lost, one request is repeated, a lease ends, and a waiter gives up. */
#define CLIENTS 2
#define COUNT(c) 1
#define LOSSES 2
#define REPEATS 1
#define QUITS 1
#define EXPIRIES 1
#include "../etcd/client.pml"

init { atomic { begin(1, 0); run expiry(0); run expiry(1); run client(0); run client(1) } }
