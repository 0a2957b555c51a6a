/* SPDX-License-Identifier: MIT */
/* One permit and three clients. Two leases end although their clients live. */
#define CLIENTS 3
#define COUNT(c) 1
#define EXPIRIES 2
#include "../etcd/client.pml"

init { atomic { begin(1, 0); run expiry(0); run expiry(1); run expiry(2); run client(0); run client(1); run client(2) } }
