/* SPDX-License-Identifier: MIT */
/* Two permits; two clients take one each, another process posts them, and a third client holds one. A lease ends although its client
 * lives. */
#define CLIENTS 3
#define COUNT(c) 1
#define TAKES(c) (c < 2)
#define EXPIRIES 1
#include "../etcd/client.pml"

init { atomic { begin(2, 0); run poster(); run expiry(0); run expiry(1); run expiry(2); run client(0); run client(1); run client(2) } }
