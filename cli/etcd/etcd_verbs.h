/* SPDX-License-Identifier: MIT */
/* The verbs for semaphores on etcd, one cmd_<verb>.c each. They return the exit status. */
#ifndef TSEM_CLI_ETCD_ETCD_VERBS_H
#define TSEM_CLI_ETCD_ETCD_VERBS_H

#include "options.h"

int etcd_cmd_run(const struct options *o);
int etcd_cmd_create(const struct options *o);
int etcd_cmd_take(const struct options *o);
int etcd_cmd_post(const struct options *o);
int etcd_cmd_cancel(const struct options *o);
int etcd_cmd_recover(const struct options *o);
int etcd_cmd_acquire(const struct options *o);
int etcd_cmd_release(const struct options *o);
int etcd_cmd_set(const struct options *o);
int etcd_cmd_show(const struct options *o);
int etcd_cmd_list(const struct options *o);
int etcd_cmd_wait(const struct options *o);
int etcd_cmd_remove(const struct options *o);

#endif
