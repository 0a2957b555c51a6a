/* SPDX-License-Identifier: MIT */
/* What the verbs refuse in the same words, whether the semaphore is on this machine or on etcd. */
#ifndef TSEM_CLI_REFUSAL_H
#define TSEM_CLI_REFUSAL_H

#include "options.h"

/* Of acquire and release: dies without --owner. */
void require_owner_of_hold(const struct options *o, const char *verb);

/* Of cancel and recover: dies if an option is given that means nothing without --owner. */
void require_owner(const struct options *o);

/* Of run: dies of options that exclude each other, and of several names with an option for one. */
void check_run_options(const struct options *o);

/* With -k all: the capacity is 0. */
_Noreturn void die_of_no_capacity(const struct options *o);

_Noreturn void die_of_bounded_post(const struct options *o);

/* For acquire: there is no such process, or it has ended during the wait. */
_Noreturn void die_of_no_process(const struct options *o);
_Noreturn void die_of_ended_process(const struct options *o);

/* For release: the process has ended, or has no hold. */
_Noreturn void die_of_ended_holder(const struct options *o);
_Noreturn void die_of_no_hold(const struct options *o);

/* For what --owner names: `what` it does not do; it may be alive; it is, as a holder or waiter, and has the number `here`. */
_Noreturn void die_of_no_owner(const struct options *o, const char *what);
_Noreturn void die_of_unknown_life(const struct options *o);
_Noreturn void die_of_living(const struct options *o, bool holds, pid_t here);

/* What is said with -v: by acquire; because of --max-waiting. */
void complain_of_recovery(const struct options *o);
void complain_of_full_line(const struct options *o);

#endif
