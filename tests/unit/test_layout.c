/* SPDX-License-Identifier: MIT */
/* The packing of each word in the segment, with extreme values, and the hash of the waiting array. */
#include "support.h"

#include <string.h>

#include "layout.h"

static const uint64_t counters[] = {0,           1, 2, 0xffff, 0x10000, UINT32_MAX, UINT64_C(1) << 47, COUNTER_MASK - 1,
                                    COUNTER_MASK};
static const uint32_t records[] = {0, 1, 63, 64, 0x3fff, 0x4000, RECORDS_MAX - 1};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

TEST(a_word_holds_counter_and_tag)
{
	for (size_t i = 0; i < LENGTH(counters); i++) {
		for (size_t j = 0; j < LENGTH(records); j++) {
			for (unsigned phase = 0; phase < 2; phase++) {
				const uint64_t tag = tag_make(records[j], phase);
				const uint64_t word = counter_word_make(counters[i], tag);
				assert_int_equal(counter_value(word), counters[i]);
				assert_int_equal(counter_tag(word), tag);
				assert_int_equal(tag_record(counter_tag(word)), records[j]);
				assert_int_equal(tag_phase(counter_tag(word)), phase);
				assert_int_not_equal(tag, TAG_NONE);
			}
		}
		assert_int_equal(counter_tag(counter_word_make(counters[i], TAG_NONE)), TAG_NONE);
		assert_int_equal(counter_value(counter_word_make(counters[i], TAG_NONE)), counters[i]);
	}
}

/* A post adds to the whole word. */
TEST(adding_to_a_word_leaves_the_tag)
{
	static const uint64_t tags[] = {0, 1, 0x7fff, 0xfffd, TAG_NONE};
	for (size_t i = 0; i < LENGTH(counters); i++) {
		for (size_t j = 0; j < LENGTH(tags); j++) {
			const uint64_t sum = counter_word_make(counters[i], tags[j]) + counter_word_make(UINT32_MAX, 0);
			assert_int_equal(counter_tag(sum), tags[j]);
			assert_int_equal(counter_value(sum), counter_add(counters[i], UINT32_MAX));
		}
	}
}

TEST(counters_wrap_around)
{
	assert_int_equal(counter_add(COUNTER_MASK, 1), 0);
	assert_int_equal(counter_add(COUNTER_MASK - 1, 5), 3);
	assert_int_equal(counter_add(5, (UINT64_C(1) << 48) - 7), COUNTER_MASK - 1);

	assert_int_equal(counter_diff(0, COUNTER_MASK), 1);
	assert_int_equal(counter_diff(COUNTER_MASK, 0), -1);
	assert_int_equal(counter_diff(3, COUNTER_MASK - 1), 5);
	assert_int_equal(counter_diff(UINT64_C(1) << 46, 0), INT64_C(1) << 46);

	static const int64_t steps[] = {
		0, 1, -1, 4096, -4096, UINT32_MAX, -(int64_t)UINT32_MAX, COUNTER_DRIFT, -COUNTER_DRIFT};
	for (size_t i = 0; i < LENGTH(counters); i++) {
		for (size_t j = 0; j < LENGTH(steps); j++) {
			const uint64_t there = counter_add(counters[i], (uint64_t)steps[j]);
			assert_in_range(there, 0, COUNTER_MASK);
			assert_int_equal(counter_diff(there, counters[i]), steps[j]);
			assert_int_equal(counter_diff(counters[i], there), -steps[j]);
		}
	}
}

TEST(owner_words_hold_their_parts)
{
	static const uint32_t pids[] = {1, 2, 32768, (1U << PID_BITS) - 1};
	static const uint64_t starts[] = {0, 1, 4711, START_MASK};
	for (size_t i = 0; i < LENGTH(pids); i++) {
		for (size_t j = 0; j < LENGTH(starts); j++) {
			const uint64_t owner = owner_process(pids[i], starts[j]);
			assert_int_equal(owner_kind(owner), OWNER_KIND_PROCESS);
			assert_int_equal(owner_pid(owner), pids[i]);
			assert_int_equal(owner_start(owner), starts[j]);
			assert_int_not_equal(owner, 0); /* which means free */

			const uint64_t handed = owner_handed(pids[i], starts[j]);
			assert_int_equal(owner_kind(handed), OWNER_KIND_HANDED);
			assert_int_equal(owner_pid(handed), pids[i]);
			assert_int_equal(handed & OWNER_LOW_MASK, starts[j]);
		}
	}
	/* A start time that does not fit must not spill into the pid, nor a ticket into the kind. */
	assert_int_equal(owner_pid(owner_process(7, UINT64_MAX)), 7);
	assert_int_equal(owner_start(owner_process(7, UINT64_MAX)), START_MASK);
	assert_int_equal(owner_process(7, UINT64_MAX) & OWNER_LOCKED, 0);
	const uint64_t inside = owner_in_namespace(owner_process(7, UINT64_MAX), UINT32_MAX);
	assert_int_equal(owner_pid(inside), 7);
	assert_int_equal(owner_start(inside), START_MASK);
	assert_int_equal(inside & OWNER_LOCKED, 0);
	/* Neighbouring namespaces of live processes have different words. */
	assert_int_not_equal(owner_in_namespace(owner_process(7, 1), 4026532200U),
	                     owner_in_namespace(owner_process(7, 1), 4026532201U));
	assert_int_equal(owner_pid(owner_handed(7, COUNTER_MASK)), 7);
	assert_int_equal(owner_kind(owner_handed((1U << PID_BITS) - 1, COUNTER_MASK)), OWNER_KIND_HANDED);

	for (size_t i = 0; i < LENGTH(counters); i++) {
		const uint64_t orphan = owner_orphan(counters[i]);
		assert_int_equal(owner_kind(orphan), OWNER_KIND_ORPHAN);
		assert_int_equal(orphan & COUNTER_MASK, counters[i]);
		assert_int_not_equal(orphan, 0);
		/* Recovery sorts orphans by this difference, in which the kind must not count. */
		assert_int_equal(counter_diff(orphan, counters[i]), 0);
	}
}

TEST(a_state_keeps_its_phases)
{
	for (uint64_t phases = 0; phases <= STATE_PHASES; phases += STATE_ARRIVAL_PHASE) {
		for (size_t i = 0; i < LENGTH(counters); i++) {
			for (unsigned s = STATE_IDLE; s <= STATE_RELEASING; s++) {
				const uint64_t word = state_next(phases | STATE_HELD, (enum state_kind)s, counters[i]);
				assert_int_equal(state_kind(word), s);
				assert_int_equal(state_value(word), counters[i]);
				assert_int_equal(state_arrival_phase(word), (phases & STATE_ARRIVAL_PHASE) != 0);
				assert_int_equal(state_release_phase(word), (phases & STATE_RELEASE_PHASE) != 0);
			}
		}
		/* The difference of two counters may exceed 48 bits. */
		assert_int_equal(state_next(phases, STATE_QUEUED, UINT64_C(2) - 5),
		                 (COUNTER_MASK - 2) << 16 | phases | STATE_QUEUED);
	}
	assert_int_equal(state_arrival_phase(STATE_REPEAT_ONE), 0);
	assert_int_equal(state_release_phase(STATE_REPEAT_ONE), 0);
	assert_int_equal(state_kind(STATE_REPEAT_ONE), STATE_IDLE);
}

TEST(consecutive_tickets_have_different_words)
{
	static const uint32_t salts[] = {0, 1, 4095, 0x9e3779b9, UINT32_MAX};
	static const uint64_t firsts[] = {0, 1, UINT32_MAX - 100, COUNTER_MASK - 2000};
	for (size_t i = 0; i < LENGTH(salts); i++) {
		for (size_t j = 0; j < LENGTH(firsts); j++) {
			bool used[ARRAY_WORDS] = {false};
			uint32_t previous = word_index(counter_add(firsts[j], COUNTER_MASK), salts[i]);
			for (uint64_t n = 0; n < ARRAY_WORDS; n++) {
				const uint32_t at = word_index(counter_add(firsts[j], n), salts[i]);
				assert_in_range(at, 0, ARRAY_WORDS - 1);
				assert_false(used[at]);
				used[at] = true;
				assert_int_not_equal(at * 4 / LINE_BYTES, previous * 4 / LINE_BYTES);
				previous = at;
			}
		}
	}
}

TEST(tickets_on_one_word_have_different_bits)
{
	static const uint64_t firsts[] = {0, 4095, 4096, UINT32_MAX, COUNTER_MASK - 3, COUNTER_MASK - 10 * ARRAY_WORDS};
	for (size_t i = 0; i < LENGTH(firsts); i++) {
		uint32_t seen = 0;
		for (uint64_t round = 0; round < 32; round++) {
			const uint64_t ticket = counter_add(firsts[i], round * ARRAY_WORDS);
			const uint32_t bit = word_bit(ticket);
			assert_int_not_equal(bit, 0);
			assert_int_equal(bit & (bit - 1), 0);
			assert_int_equal(seen & bit, 0);
			assert_int_equal(word_index(ticket, 77), word_index(firsts[i], 77));
			seen |= bit;
		}
		assert_int_equal(seen, UINT32_MAX);
	}
}

TEST(the_remover_has_its_own_cache_line)
{
	assert_int_equal(offsetof(struct header, remover) % LINE_BYTES, 0);
	assert_int_equal(sizeof(((struct header *)0)->remover), LINE_BYTES);
	assert_in_range(offsetof(struct header, remover), offsetof(struct header, statistics) + sizeof(struct statistics),
	                PAGE_BYTES - LINE_BYTES);
}

#define MARK(structure, member, offset) \
	if (strcmp(#structure, name) == 0)  \
		memset(bytes + (offset), 1, sizeof(((struct structure *)0)->member));

/* The bytes of a structure that are in no member of LAYOUT_MEMBERS. */
static size_t
unlisted_bytes(const char *name, size_t size)
{
	unsigned char bytes[PAGE_BYTES] = {0};
	LAYOUT_MEMBERS(MARK)
	size_t n = 0;
	for (size_t i = 0; i < size; i++)
		n += bytes[i] == 0;
	return n;
}

TEST(the_fingerprint_knows_every_byte)
{
	assert_int_equal(unlisted_bytes("header", sizeof(struct header)), 0);
	assert_int_equal(unlisted_bytes("statistics", sizeof(struct statistics)), 0);
	assert_int_equal(unlisted_bytes("record", sizeof(struct record)), 0);
}
