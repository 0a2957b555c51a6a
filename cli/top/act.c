/* SPDX-License-Identifier: MIT */
#include "top/act.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "message.h"
#include "number.h"
#include "process.h"
#include "top/send.h"
#include "view/snapshot.h"

static int
act_recover(tsem *sem, const struct target *target, uint32_t number, char result[RESULT_SIZE])
{
	uint32_t recovered;
	(void)target;
	(void)number;
	int rc = tsem_recover(sem, &recovered);
	if (rc == 0)
		snprintf(result, RESULT_SIZE, "%" PRIu32 " permit%s recovered", recovered, recovered == 1 ? "" : "s");
	return rc;
}

static int
act_cancel(tsem *sem, const struct target *target, uint32_t number, char result[RESULT_SIZE])
{
	(void)target;
	(void)number;
	int rc = tsem_cancel(sem);
	if (rc == 0)
		snprintf(result, RESULT_SIZE, "all waiters are cancelled");
	return rc;
}

static int
act_cancel_waiter(tsem *sem, const struct target *target, uint32_t number, char result[RESULT_SIZE])
{
	struct tsem_owner now;
	char process[PROCESS_TEXT_MAX];
	int rc = -ENOENT;
	(void)number;
	process_to_text(&target->owner, process);
	if (target_find_again(sem, target, &now))
		rc = tsem_cancel_owner(sem, now.pid_ns != 0 ? now.pid : process_number(&now), now.pid_ns);
	if (rc == 0)
		snprintf(result, RESULT_SIZE, "the wait of %s is cancelled", process);
	if (rc == -ENOENT)
		snprintf(result, RESULT_SIZE, "%s does not wait any more, nothing was done", process);
	return rc == -ENOENT ? 0 : rc;
}

static int
act_signal(tsem *sem, const struct target *target, uint32_t number, char result[RESULT_SIZE])
{
	send_signal(sem, target, (int)number, result);
	return 0;
}

static int
act_set(tsem *sem, const struct target *target, uint32_t number, char result[RESULT_SIZE])
{
	(void)target;
	int rc = tsem_set(sem, number);
	if (rc == 0)
		snprintf(result, RESULT_SIZE, "the capacity is now %" PRIu32, number);
	return rc;
}

static bool
parse_permits(const char *text, uint32_t *number)
{
	uint64_t value;
	if (parse_number(text, 0, UINT32_MAX, &value) != PARSED)
		return false;
	*number = (uint32_t)value;
	return true;
}

static bool
parse_signal_number(const char *text, uint32_t *number)
{
	int value;
	if (!parse_signal(text, &value))
		return false;
	*number = (uint32_t)value;
	return true;
}

static const struct argument permits = {.name = "permits of",
                                        .joint = "to",
                                        .standard = "",
                                        .parse = parse_permits,
                                        .mistake = "is not a number from 0 to 4294967295"};

static const struct argument signal_of_process = {.name = "signal (TERM) for",
                                                  .joint = "with",
                                                  .standard = "TERM",
                                                  .parse = parse_signal_number,
                                                  .mistake = "is no signal (such as TERM, KILL or 9)"};

const struct action actions[] = {
	{.key = 'r',
     .help = "recover the permits of dead holders",
     .question = "recover the permits of dead holders of",
     .act = act_recover},
	{.key = 'c',
     .scope = ON_WAITER,
     .help = "on a waiter, cancel the wait of that process",
     .question = "cancel the wait of",
     .act = act_cancel_waiter},
	{.key = 'c', .help = "cancel all waiters", .question = "cancel all waiters of", .act = act_cancel},
	{.key = 'k',
     .scope = ON_PROCESS,
     .help = "send a signal to the selected process",
     .question = "signal",
     .argument = &signal_of_process,
     .refuse = send_is_refused,
     .act = act_signal},
	{.key = 'n',
     .help = "change the number of permits",
     .question = "change the number of permits of",
     .argument = &permits,
     .act = act_set},
	{.key = 0},
};

static bool
applies(const struct action *action, const struct tsem_owner *selected)
{
	return action->scope == ON_SEMAPHORE
	       || (selected != NULL && (action->scope == ON_PROCESS || selected->position != 0));
}

const struct action *
find_action(int key, const struct tsem_owner *selected)
{
	const struct action *action = actions;
	while (action->key != 0 && (action->key != key || !applies(action, selected)))
		action++;
	return action->key == 0 ? NULL : action;
}

void
perform(const struct action *action, const struct options *o, const struct target *target, uint32_t number,
        char message[256])
{
	char done[RESULT_SIZE] = "";
	const char *name = target->name;
	tsem *sem;
	/* A signal changes no semaphore, so it needs no permission to. */
	int rc = action->scope == ON_PROCESS ? open_for_viewing(name, &sem)
	                                     : tsem_open(name, o->foreign ? TSEM_FOREIGN : 0, &sem);
	if (rc == 0) {
		rc = action->act(sem, target, number, done);
		tsem_close(sem);
	}
	snprintf(message, 256, "%.80s: %s", name, rc == 0 ? done : error_text(name, rc));
}
