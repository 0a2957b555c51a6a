/* SPDX-License-Identifier: MIT */
/* No permit, so nothing changes but that both waits are cancelled. */
#define CLIENTS 2
#define COUNT(c) 1
#include "../etcd/client.pml"

init { atomic { begin(0, 0); run canceller(0); run canceller(1); run client(0); run client(1) } }
