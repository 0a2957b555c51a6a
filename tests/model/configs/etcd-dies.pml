/* SPDX-License-Identifier: MIT */
/* Two permits, and three clients of which one wants both. Two of them end, and their leases later. */
#define CLIENTS 3
#define COUNT(c) (c == 1 -> 2 : 1)
#define DEATHS 2
#include "../etcd/client.pml"

init { atomic { begin(2, 0); run expiry(0); run expiry(1); run expiry(2); run client(0); run client(1); run client(2) } }
