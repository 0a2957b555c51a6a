/* SPDX-License-Identifier: MIT */
/* Runners wait for the starter's signal. Each signal sends off one of them, in queue order. */
#include "auto_reset_event.h"

#include "crew.h"

enum { RUNNERS = 4 };

static const struct timespec past = {0};
struct shared {
	atomic_int gone;
	int order[RUNNERS];
};

static struct shared *shared;
static tsem *event;

static void
run(int number)
{
	CHECK(auto_reset_event_wait(event, NULL) == 0);
	const int place = atomic_load(&shared->gone);
	shared->order[place] = number;
	atomic_store(&shared->gone, place + 1);
}

static void
give_the_signal(int number)
{
	(void)number;
	CHECK(auto_reset_event_set(event) == 0);
}

int
main(void)
{
	crew_begin();
	shared = shared_memory(sizeof(*shared));
	const char *name = crew_name("example-auto-reset-event");
	tsem *same;
	CHECK(auto_reset_event_open(name, &event) == 0);
	CHECK(auto_reset_event_open(name, &same) == 0); /* as another program does */

	pid_t runners[RUNNERS];
	for (int i = 0; i < RUNNERS; i++) {
		runners[i] = start(run, i);
		AWAIT(stat_of(event).waiting == (unsigned)i + 1);
	}
	kill(runners[1], SIGKILL);
	CHECK(status_of(runners[1]) == SIGKILL);
	for (int gone = 0; gone < RUNNERS - 1; gone++) {
		CHECK(shared->gone == gone);
		start(give_the_signal, 0);
		AWAIT(shared->gone > gone); /* takes up to half a second if the dead runner was in front */
		CHECK(stat_of(event).available == 0);
	}
	all_end_well();
	CHECK(shared->order[0] == 0 && shared->order[1] == 2 && shared->order[2] == 3);

	for (int i = 0; i < 3; i++)
		CHECK(auto_reset_event_set(same) == 0); /* no runner waits, so the event is set once */
	CHECK(auto_reset_event_wait(event, &past) == 0);
	CHECK(auto_reset_event_wait(event, &past) == -ETIMEDOUT);
	CHECK(auto_reset_event_set(event) == 0 && auto_reset_event_reset(event) == 0);
	CHECK(auto_reset_event_reset(event) == 0);
	CHECK(auto_reset_event_wait(event, &past) == -ETIMEDOUT);
	tsem_close(same);
	tsem_close(event);
	printf("%d runners, one signal each, and one that did not live to hear it\n", RUNNERS);
	return 0;
}
