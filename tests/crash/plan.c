/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <stdio.h>
#include <string.h>

static const char *const fates[FATES] = {"kill", "resume", "kill-second", "kill-parent", "kill-family"};

void
plan_to_text(const struct plan *plan, char text[PLAN_TEXT])
{
	char j[24] = "all";
	if (plan->j != TO_THE_END)
		snprintf(j, sizeof(j), "%zu", plan->j);
	snprintf(text, PLAN_TEXT, "%s,%s,%u,%u,%d,%d,%s,%zu,%d,%s,%d,%d,%d,%d", plan->first->name,
	         plan->second == NULL ? "-" : plan->second->name, plan->capacity, plan->count, plan->full, plan->third,
	         fates[plan->fate], plan->k, plan->asleep, j, plan->second_leads, plan->early, plan->zombie,
	         plan->contained);
}

bool
plan_from_text(const char *text, struct plan *plan)
{
	char first[32];
	char second[32];
	char fate[32];
	char j[24];
	int full;
	int third;
	int asleep;
	int leads;
	int early;
	int zombie;
	int contained;
	*plan = (struct plan){0};
	if (sscanf(text, "%31[^,],%31[^,],%u,%u,%d,%d,%31[^,],%zu,%d,%23[^,],%d,%d,%d,%d", first, second, &plan->capacity,
	           &plan->count, &full, &third, fate, &plan->k, &asleep, j, &leads, &early, &zombie, &contained)
	    != 14)
		return false;
	plan->first = operation_by_name(first);
	plan->second = operation_by_name(second);
	plan->full = full != 0;
	plan->third = third != 0;
	plan->asleep = asleep != 0;
	plan->second_leads = leads != 0;
	plan->early = early != 0;
	plan->zombie = zombie != 0;
	plan->contained = contained != 0;
	if (strcmp(j, "all") == 0)
		plan->j = TO_THE_END;
	else if (sscanf(j, "%zu", &plan->j) != 1)
		return false;
	while (plan->fate < FATES && strcmp(fates[plan->fate], fate) != 0)
		plan->fate++;
	return plan->first != NULL && plan->fate < FATES && (plan->second != NULL || strcmp(second, "-") == 0);
}
