/* SPDX-License-Identifier: MIT */
#include "view/seen.h"

#include "process.h"

int
seen_by_ticket(const void *a, const void *b)
{
	const struct seen *x = a;
	const struct seen *y = b;
	const uint64_t difference = (x->ticket - y->ticket) & TICKET_MASK;
	return difference == 0 ? 0 : difference > TICKET_MASK / 2 ? -1 : 1;
}

static bool
is_running(const struct seen *seen)
{
	char stat[512];
	if (seen->dead || seen->pid_here == 0 || read_proc(seen->pid_here, "stat", stat, sizeof(stat)) == 0)
		return false;
	const char *fields = fields_after_name(stat);
	return fields != NULL && fields[1] != 'Z' && fields[1] != 'X';
}

static void
count_leaver(struct changes *changes, struct seen *before)
{
	before->runs = before->holds && is_running(before);
	if (!before->holds)
		changes->waited++;
	else if (!before->runs)
		changes->held += before->count;
}

struct changes
seen_compare(struct seen *before, size_t before_n, struct seen *now, size_t now_n)
{
	struct changes changes = {0};
	struct seen *const before_end = before + before_n;
	struct seen *const now_end = now + now_n;
	while (before < before_end || now < now_end) {
		const int order = before == before_end ? 1 : now == now_end ? -1 : seen_by_ticket(before, now);
		if (order == 0) {
			now->before = before;
			before->stays = true;
		} else if (order < 0) {
			count_leaver(&changes, before);
		} else {
			changes.arrived += now->count;
		}
		before += order <= 0;
		now += order >= 0;
	}
	return changes;
}

struct fates
fates_of(const struct changes *changes, uint64_t recovered, uint64_t given_up, bool all_seen)
{
	struct fates fates = {"released", "left", recovered, given_up};
	if (recovered > 0) {
		/* A waiter may have been admitted and have died. */
		const bool known = all_seen && changes->waited == 0 && recovered >= changes->held;
		fates.holder = known ? "recovered" : "left";
		fates.recovered -= known ? changes->held : 0;
	}
	if (given_up > 0 && all_seen && given_up >= changes->waited) {
		fates.waiter = "gave_up";
		fates.given_up -= changes->waited;
	}
	return fates;
}
