/* SPDX-License-Identifier: MIT */
/* Versions of etcd with a fault that breaks a promise. */
#ifndef TSEM_CLI_ETCD_VERSION_H
#define TSEM_CLI_ETCD_VERSION_H

#include "etcd/semaphore.h"

/* Prints a warning if the member that answers has such a version. */
void version_warn(struct semaphore_on_etcd *sem);

#endif
