/* SPDX-License-Identifier: MIT */
/* The token by which the store knows the user, if it wants one. It is got again when the store does not accept it any more. */
#ifndef TSEM_CLI_ETCD_LOGIN_H
#define TSEM_CLI_ETCD_LOGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "etcd/call.h"

struct login;

/* Dies if the environment names a user without a password. */
struct login *login_begin(struct wire *wire);
void login_end(struct login *login);

/* Requests can be sent, or it is known that they will be refused. */
bool login_is_done(const struct login *login);

/* The user or the password is wrong. */
bool login_is_refused(const struct login *login);

/* Starts what is due, and looks at what is under way. Returns when to call it again, CLOCK_MONOTONIC. */
uint64_t login_tick(struct login *login);

#endif
