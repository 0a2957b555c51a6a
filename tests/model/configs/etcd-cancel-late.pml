/* SPDX-License-Identifier: MIT */
/* Two permits; both clients want two, a request or an answer is lost, and the wait of one is cancelled. */
#define CLIENTS 2
#define COUNT(c) 2
#define LOSSES 1
#define REPEATS 1
#include "../etcd/client.pml"

init { atomic { begin(2, 0); run canceller(1); run client(0); run client(1) } }
