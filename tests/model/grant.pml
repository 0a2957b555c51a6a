/* SPDX-License-Identifier: MIT */
/* lib/grant.c: what every process does after it has moved E. */

#if defined(ORPHANS) && !defined(MUTANT_ORPHANS_NOT_SKIPPED)
#define grant_notify() wake_enabled(); recover_from(SKIP, false); notify_idle()
#else
#define grant_notify() wake_enabled(); notify_idle()
#endif
