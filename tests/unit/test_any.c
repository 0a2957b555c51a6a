/* SPDX-License-Identifier: MIT */
/* tsem_acquire_any: when one of the semaphores has no record left, and what is written down of the wait. */
#include "fake.h"
#include "hold.h"
#include "identity.h"
#include "record.h"

#include <errno.h>
#include <sys/mman.h>

static tsem *plenty, *tight;
static unsigned char *memory;
static size_t size;

/* The second has two records only. */
static int
set_up(void **state)
{
	(void)state;
	const struct tsem_config config = {.size = sizeof(config), .permits = 1};
	size = tsem_size_at(1);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(tsem_init_at(memory, size, &config, &tight), 0);
	plenty = new_semaphore(1, 0);
	fake_begin();
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	fake_end();
	tsem_close(tight);
	tsem_close(plenty);
	munmap(memory, size);
	return 0;
}

/* Nothing is available: whoever wants any has to wait in line. */
static void
take_both(void)
{
	assert_int_equal(tsem_take(plenty, 1, NULL), 0);
	assert_int_equal(tsem_take(tight, 1, NULL), 0);
}

/* Somebody who lives, as far as anybody knows, has both records. */
static void
others_claim_the_records(void)
{
	for (uint32_t i = 0; i < 2; i++)
		put_record(tight, i, identity_owner(), STATE_HELD, 0, tickets_of(tight), 1);
	for (size_t i = 0; i < CACHE_ENTRIES; i++)
		cache_clear(tight->cache[i]);
}

static void
a_permit_elsewhere_needs_no_record_here(void **state)
{
	(void)state;
	tsem *const sems[] = {tight, plenty};
	tsem_hold hold;
	size_t which = 9;
	others_claim_the_records();
	assert_int_equal(tsem_acquire_any(sems, 2, NULL, &hold, &which), 0);
	assert_int_equal(which, 1);
	assert_int_equal(tsem_release(&hold), 0);
}

static int
go_on(void *arg, uint32_t position)
{
	(void)arg;
	(void)position;
	return 0;
}

/* A record is there when it tries, and none when it gets in line: it stands in no line, and does not sleep. */
static void
no_record_for_the_second_line(void **state)
{
	(void)state;
	tsem *const sems[] = {plenty, tight};
	const struct timespec deadline = {.tv_sec = 1000000};
	const struct tsem_wait wait = {.size = sizeof(wait), .deadline = &deadline, .progress = go_on, .every_ms = 1000000};
	tsem_hold hold;
	size_t which = 9;
	take_both();
	const uint64_t sleeps = fake.sleeps;
	/* Once to see how many looks at the clock a try takes, and once with the others in the first one behind it. */
	const uint64_t before = fake.calls;
	assert_int_equal(tsem_try_acquire(plenty, 1, &hold), -EAGAIN);
	assert_int_equal(tsem_try_acquire(tight, 1, &hold), -EAGAIN);
	fake.at_call = fake.calls + (fake.calls - before) + 1;
	fake.others = others_claim_the_records;
	assert_int_equal(tsem_acquire_any(sems, 2, &wait, &hold, &which), -EUSERS);
	assert_null(fake.others); /* they have been there */
	assert_int_equal(fake.sleeps, sleeps);
	assert_int_equal(which, 9);
	assert_int_equal(stat_of(plenty).waiting, 0);
}

static void
others_post(void)
{
	assert_int_equal(tsem_post(tight, 1, NULL), 0);
}

/* However often it wakes up by itself it is one sleeper in each line, and the kernel need not look for another one. */
static void
who_has_looked_around_is_nobody_else(void **state)
{
	(void)state;
	tsem *const sems[] = {plenty, tight};
	tsem_hold hold;
	size_t which = 9;
	take_both();
	fake.others = others_post;
	fake.others_from_sleep = 3;
	assert_int_equal(tsem_acquire_any(sems, 2, NULL, &hold, &which), 0);
	assert_int_equal(which, 1);
	assert_int_equal(fake.sleeps, 3);
	assert_true(fake.wakes >= 1);
	assert_int_equal(LOAD_SEQ(fake.woken[0]) & WORD_SEVERAL, 0);
	assert_int_equal(tsem_release(&hold), 0);
}

/* By the clock by which it has waited. */
static void
held_since_it_was_admitted(void **state)
{
	(void)state;
	tsem *const sems[] = {plenty, tight};
	tsem_hold hold;
	size_t which = 9;
	take_both();
	fake.clock = 1000 * NS_PER_SECOND;
	fake.others = others_post;
	assert_int_equal(tsem_acquire_any(sems, 2, NULL, &hold, &which), 0);
	assert_int_equal(which, 1);
	assert_int_equal(record_at(tight, hold_inside(&hold)->record)->since, fake.clock);
	assert_int_equal(tsem_release(&hold), 0);
}

static bool lower_where_it_is_enabled;

bool __real_wait_is_over(const struct tsem *sem, const struct waiter *waiter);
bool __wrap_wait_is_over(const struct tsem *sem, const struct waiter *waiter);

/* As the linker puts it in the place of the library's, between one look and the next. */
bool
__wrap_wait_is_over(const struct tsem *sem, const struct waiter *waiter)
{
	const bool over = __real_wait_is_over(sem, waiter);
	if (over && lower_where_it_is_enabled) {
		lower_where_it_is_enabled = false;
		STORE_SEQ(&sem->segment.header->capacity, 0);
	}
	return over;
}

/* Who was enabled at one look is let in, although the next one would find that it is not any more. */
static void
lowered_while_it_is_let_in(void **state)
{
	enum { INSTANTS = 12 }; /* at which somebody posts; 0: while it sleeps */
	const struct tsem_wait wait = {.size = sizeof(wait), .flags = TSEM_INTERRUPTIBLE};
	uint32_t lowered = 0;
	for (uint64_t at = 0; at <= INSTANTS; at++) {
		for (int interrupted = 0; interrupted <= 1; interrupted++) {
			tsem *sems[] = {plenty, tight};
			tsem_hold hold = {{0}};
			size_t which = 9;
			take_both();
			fake.at_call = at == 0 ? 0 : fake.calls + at;
			fake.others = others_post;
			fake.sleep_result = -EINTR;
			fake.at_sleep = interrupted ? fake.sleeps + 1 : 0;
			lower_where_it_is_enabled = true;
			const int rc = tsem_acquire_any(sems, 2, &wait, &hold, &which);
			lowered += !lower_where_it_is_enabled;
			lower_where_it_is_enabled = false;
			if (rc != -EINTR) {
				assert_int_equal(rc, 0);
				assert_int_equal(which, 1);
				assert_int_equal(tsem_release(&hold), 0);
			}
			tear_down(state);
			set_up(state);
		}
	}
	assert_true(lowered > INSTANTS);
}

static int
see_deadline(const struct tsem_owner *owner, void *seen)
{
	assert_int_equal(owner->position, 1);
	assert_int_equal(owner->remaining_ns, 5 * NS_PER_SECOND);
	++*(size_t *)seen;
	return 0;
}

static void
others_look(void)
{
	size_t seen = 0;
	assert_int_equal(tsem_owners(plenty, see_deadline, &seen), 0);
	assert_int_equal(tsem_owners(tight, see_deadline, &seen), 0);
	assert_int_equal(seen, 2);
}

static void
everybody_sees_the_deadline(void **state)
{
	(void)state;
	tsem *const sems[] = {plenty, tight};
	const struct timespec deadline = {.tv_sec = 1005};
	const struct tsem_wait wait = {.size = sizeof(wait), .deadline = &deadline};
	tsem_hold hold;
	size_t which = 9;
	take_both();
	fake.clock = 1000 * NS_PER_SECOND;
	fake.others = others_look;
	assert_int_equal(tsem_acquire_any(sems, 2, &wait, &hold, &which), -ETIMEDOUT);
	assert_null(fake.others); /* they have looked */
}

/* A signal ends the wait if that was asked for; neither the ticks before it nor one that was not asked for do. */
static void
signals_while_it_waits(void **state)
{
	(void)state;
	enum { TICKS = 3 };
	tsem *const sems[] = {plenty, tight};
	const struct timespec deadline = {.tv_sec = 1010};
	tsem_hold hold;
	size_t which = 9;
	take_both();
	fake.sleep_result = -EINTR;
	for (int asked_for = 0; asked_for <= 1; asked_for++) {
		const struct tsem_wait wait = {
			.size = sizeof(wait), .deadline = &deadline, .flags = asked_for ? TSEM_INTERRUPTIBLE : 0};
		fake.at_sleep = fake.sleeps + TICKS;
		fake.clock = 1000 * NS_PER_SECOND;
		assert_int_equal(tsem_acquire_any(sems, 2, &wait, &hold, &which), asked_for ? -EINTR : -ETIMEDOUT);
		if (asked_for)
			assert_int_equal(fake.sleeps, fake.at_sleep);
		else
			assert_true(fake.sleeps > fake.at_sleep);
		for (size_t i = 0; i < 2; i++)
			assert_int_equal(stat_of(sems[i]).waiting, 0);
	}
	assert_int_equal(which, 9);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_permit_elsewhere_needs_no_record_here, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_record_for_the_second_line, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_has_looked_around_is_nobody_else, set_up, tear_down),
		cmocka_unit_test_setup_teardown(held_since_it_was_admitted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lowered_while_it_is_let_in, set_up, tear_down),
		cmocka_unit_test_setup_teardown(everybody_sees_the_deadline, set_up, tear_down),
		cmocka_unit_test_setup_teardown(signals_while_it_waits, set_up, tear_down),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
