/* SPDX-License-Identifier: MIT */
/* What cancel and recover share: an owner that the user names by its number. */
#ifndef TSEM_CLI_BY_OWNER_H
#define TSEM_CLI_BY_OWNER_H

#include "options.h"
#include "tsem.h"

/* Dies of what tsem_recover_owner() returned, or with `waits_only` tsem_cancel_owner(), and says what to do. */
_Noreturn void die_of_named(const struct options *o, tsem *sem, int error, bool waits_only);

#endif
