/* SPDX-License-Identifier: MIT */
/* Swimmers wait until the pool opens. It closes again at once, and still all swimmers that waited get in. */
#include "manual_reset_event.h"

#include "crew.h"

enum { SWIMMERS = 12 };

static const struct timespec past = {0};
static atomic_int *inside;
static tsem *event;

static void
swim(int number)
{
	(void)number;
	CHECK(manual_reset_event_wait(event, NULL) == 0);
	atomic_fetch_add(inside, 1);
}

int
main(void)
{
	crew_begin();
	inside = shared_memory(sizeof(*inside));
	const char *name = crew_name("example-manual-reset-event");
	tsem *same;
	CHECK(manual_reset_event_open(name, &event) == 0);
	CHECK(manual_reset_event_open(name, &same) == 0); /* as another program does */

	for (int day = 1; day <= 3; day++) {
		for (int i = 0; i < SWIMMERS; i++)
			start(swim, i);
		AWAIT(stat_of(event).waiting == SWIMMERS);
		CHECK(atomic_load(inside) == (day - 1) * SWIMMERS);
		CHECK(manual_reset_event_set(same) == 0);
		CHECK(manual_reset_event_reset(same) == 0);
		all_end_well();
		CHECK(atomic_load(inside) == day * SWIMMERS);
		CHECK(manual_reset_event_wait(event, &past) == -ETIMEDOUT);
	}

	CHECK(manual_reset_event_set(event) == 0 && manual_reset_event_set(event) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(manual_reset_event_wait(event, &past) == 0); /* the event stays set */
	CHECK(manual_reset_event_reset(event) == 0);
	CHECK(manual_reset_event_wait(event, &past) == -ETIMEDOUT);
	CHECK(stat_of(event).held == 0);
	tsem_close(same);
	tsem_close(event);
	printf("%d swimmers in each time, though the pool closed at once\n", SWIMMERS);
	return 0;
}
