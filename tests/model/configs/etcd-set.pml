/* SPDX-License-Identifier: MIT */
/* Three clients, of which one wants two permits. The capacity of two is lowered, and then raised. */
#define CLIENTS 3
#define COUNT(c) (c == 1 -> 2 : 1)
#include "../etcd/client.pml"

init { atomic { begin(2, 0); run setter(1, 3); run client(0); run client(1); run client(2) } }
