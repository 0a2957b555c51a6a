/* SPDX-License-Identifier: MIT */
/* One permit that two clients take, and another process posts. A request or an answer is lost, and a request is repeated. */
#define CLIENTS 2
#define COUNT(c) 1
#define TAKES(c) true
#define LOSSES 1
#define REPEATS 1
#include "../etcd/client.pml"

init { atomic { begin(1, 0); run poster(); run client(0); run client(1) } }
