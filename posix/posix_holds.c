/* SPDX-License-Identifier: MIT */
/*
 * Two stacks after Treiber, because sem_post() may be called in a signal handler: of holds, and of places without one. A stack is
 * the number of its first place, from 1 on, and a count of changes, so that a pop notices that the first place was taken and
 * put back meanwhile.
 */
#include "posix_holds.h"

#include <fnmatch.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 24, FIRST_CHUNK_BITS = 4 };

struct place {
	tsem_hold hold;
	_Atomic uint32_t next;
	uint32_t number;
};

struct holds {
	_Atomic uint64_t held;
	_Atomic uint64_t unused;
	_Atomic uint32_t made;                /* places */
	struct place *_Atomic chunks[CHUNKS]; /* each twice as large as the one before */
};

bool
holds_are_wanted(const char *posix)
{
	const char *patterns = secure_getenv("TSEM_POSIX_HOLDS");
	char *copy = strdup(patterns != NULL ? patterns : "");
	char *rest = NULL;
	bool wanted = false;
	for (char *p = copy == NULL ? NULL : strtok_r(copy, ":", &rest); p != NULL; p = strtok_r(NULL, ":", &rest))
		wanted = wanted || fnmatch(p + strspn(p, "/"), posix + strspn(posix, "/"), 0) == 0;
	free(copy);
	return wanted;
}

struct holds *
holds_new(void)
{
	return calloc(1, sizeof(struct holds));
}

void
holds_free(struct holds *holds)
{
	for (size_t i = 0; holds != NULL && i < CHUNKS; i++)
		free(holds->chunks[i]);
	free(holds);
}

/* ---- stacks ---- */

static uint32_t
chunk_bits(uint32_t number)
{
	return 31 - (uint32_t)__builtin_clz(number);
}

/* Numbers from 16 on; chunk 0 has 16 to 31, chunk 1 has 32 to 63. */
static struct place *
place_at(struct holds *holds, uint32_t number)
{
	const uint32_t bits = chunk_bits(number);
	return &atomic_load_explicit(&holds->chunks[bits - FIRST_CHUNK_BITS],
	                             memory_order_acquire)[number - (UINT32_C(1) << bits)];
}

static void
push(_Atomic uint64_t *stack, struct place *place)
{
	uint64_t seen = atomic_load_explicit(stack, memory_order_relaxed);
	do
		atomic_store_explicit(&place->next, (uint32_t)seen, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(stack, &seen, ((seen >> 32) + 1) << 32 | place->number));
}

/* NULL: the stack is empty. */
static struct place *
pop(struct holds *holds, _Atomic uint64_t *stack)
{
	uint64_t seen = atomic_load_explicit(stack, memory_order_acquire);
	uint64_t next;
	struct place *first;
	do {
		if ((uint32_t)seen == 0)
			return NULL;
		first = place_at(holds, (uint32_t)seen);
		next = ((seen >> 32) + 1) << 32 | atomic_load_explicit(&first->next, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak(stack, &seen, next));
	return first;
}

/* NULL: no memory. */
static struct place *
make(struct holds *holds)
{
	const uint32_t number = atomic_fetch_add(&holds->made, 1) + (UINT32_C(1) << FIRST_CHUNK_BITS);
	const uint32_t bits = chunk_bits(number);
	if (bits - FIRST_CHUNK_BITS >= CHUNKS)
		return NULL;
	struct place *_Atomic *chunk = &holds->chunks[bits - FIRST_CHUNK_BITS];
	struct place *expected = NULL;
	if (atomic_load(chunk) == NULL) {
		struct place *made = calloc((size_t)1 << bits, sizeof(struct place));
		if (!atomic_compare_exchange_strong(chunk, &expected, made))
			free(made);
	}
	if (atomic_load(chunk) == NULL)
		return NULL;
	struct place *place = place_at(holds, number);
	place->number = number;
	return place;
}

/* ---- holds ---- */

struct place *
holds_place(struct holds *holds)
{
	struct place *place = pop(holds, &holds->unused);
	return place != NULL ? place : make(holds);
}

tsem_hold *
holds_of_place(struct place *place)
{
	return &place->hold;
}

void
holds_push(struct holds *holds, struct place *place)
{
	push(&holds->held, place);
}

struct place *
holds_pop(struct holds *holds)
{
	return pop(holds, &holds->held);
}

void
holds_free_place(struct holds *holds, struct place *place)
{
	push(&holds->unused, place);
}

bool
holds_are_idle(struct holds *holds)
{
	const uint64_t unused = atomic_load(&holds->unused);
	const uint32_t made = atomic_load(&holds->made);
	uint32_t n = 0;
	for (uint32_t at = (uint32_t)unused; at != 0 && n < made; n++)
		at = atomic_load_explicit(&place_at(holds, at)->next, memory_order_relaxed);
	return n == made && atomic_load(&holds->unused) == unused && (uint32_t)atomic_load(&holds->held) == 0;
}

void
holds_forget(struct holds *holds)
{
	atomic_store(&holds->held, 0);
	atomic_store(&holds->unused, 0);
	atomic_store(&holds->made, 0);
}
