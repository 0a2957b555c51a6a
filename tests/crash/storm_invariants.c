/* SPDX-License-Identifier: MIT */
/* All workers have ended: every permit is available, no record is left, and holders have learnt of the deaths. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "records/record.h"
#include "rest.h"
#include "storm.h"

void
storm_check_end(struct storm *storm, unsigned i)
{
	struct tsem *sem = storm->sems[i];
	struct tsem_stat stat = {.size = sizeof(stat)};
	tsem_hold hold;
	char text[REST_TEXT];
	if (i != ANONYMOUS && i != SINGLE)
		storm_set_capacity(storm, i, storm->capacity[i], NULL);
	int rc = tsem_recover(sem, NULL);
	if (i == SINGLE && tsem_try_acquire(sem, 1, &hold) == 0) {
		monitor_notified(storm, tsem_hold_recovered(&hold), atomic_load(&storm->died));
		tsem_release(&hold);
	}
	record_free_cached(sem);
	if (rc == 0)
		rc = tsem_stat(sem, &stat);
	const uint64_t surplus = i == ANONYMOUS ? atomic_load(&storm->surplus) : 0;
	if (rc != 0)
		storm_fault(storm, "%s: recover: %s", storm->names[i], strerror(-rc));
	else if (!is_at_rest(&stat, storm->capacity[i], storm->capacity[i] + surplus, text)
	         || !are_records_at_rest(sem, text))
		storm_fault(storm, "%s: %s", storm->names[i], text);
	printf("capacity %u: %" PRIu64 " admitted, %" PRIu64 " waited; at most %" PRIu64
	       " permits seen held at once; %" PRIu64 " recovered, %" PRIu64 " given up\n",
	       storm->capacity[i], storm->admissions[i], storm->waits[i], storm->most[i], stat.recovered, stat.timeouts);
}
