/* SPDX-License-Identifier: MIT */
/* Another process corrects the count, too, between the count and the move of this process. */
#include "fixture.h"

#include "calls/post.h"

static void (*peer)(void);

static void
peer_acts(void)
{
	void (*const act)(void) = peer;
	peer = NULL;
	if (act != NULL)
		act();
}

int __real_advance_tickets(struct tsem *s, uint64_t tickets, uint64_t count);
int __wrap_advance_tickets(struct tsem *s, uint64_t tickets, uint64_t count);
int __real_post_taken(struct tsem *s, uint32_t count);
int __wrap_post_taken(struct tsem *s, uint32_t count);

int
__wrap_advance_tickets(struct tsem *s, uint64_t tickets, uint64_t count)
{
	peer_acts();
	return __real_advance_tickets(s, tickets, count);
}

int
__wrap_post_taken(struct tsem *s, uint32_t count)
{
	peer_acts();
	return __real_post_taken(s, count);
}

static int64_t peers_correction;

static void
correct(void)
{
	assert_int_equal(tsem_set_exact(sem, &peers_correction), 0);
}

static void
acquire_and_release(void)
{
	use_one_permit();
}

static int
set_up(void **state)
{
	(void)state;
	begin(4);
	peers_correction = 0;
	return 0;
}

TEST_WITH(set_up, a_second_correction_has_no_effect)
{
	static const int64_t posted[] = {3, -3};
	for (size_t i = 0; i < 2; i++) {
		int64_t correction = -99;
		if (posted[i] > 0)
			assert_int_equal(tsem_post(sem, 3, NULL), 0);
		else
			assert_int_equal(tsem_take(sem, 3, NULL), 0);
		peer = correct;
		assert_int_equal(tsem_set_exact(sem, &correction), 0);
		assert_null(peer);
		assert_int_equal(peers_correction, -posted[i]);
		assert_int_equal(correction, 0);
		expect_at_rest(sem, 4);
	}
}

TEST_WITH(set_up, a_hold_meanwhile_changes_nothing)
{
	int64_t correction = -99;
	assert_int_equal(tsem_post(sem, 3, NULL), 0);
	peer = acquire_and_release;
	assert_int_equal(tsem_set_exact(sem, &correction), 0);
	assert_int_equal(correction, -3);
	assert_int_equal(tsem_take(sem, 2, NULL), 0);
	peer = acquire_and_release;
	assert_int_equal(tsem_set_exact(sem, &correction), 0);
	assert_int_equal(correction, 2);
	expect_at_rest(sem, 4);
}
