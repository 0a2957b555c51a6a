/* SPDX-License-Identifier: MIT */
/* Two semaphores with one permit each, and two clients that want both or any of them, whose waits are cancelled. */
#define CLIENTS 3
#define COUNT(c) 1
#define NAMES 2
#define ANY(c) (c == 2)
#include "../etcd/client.pml"

init { atomic { begin(1, 1); run canceller(1); run canceller(2); run client(0); run client(1); run client(2) } }
