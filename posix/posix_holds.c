/* SPDX-License-Identifier: MIT */
/*
 * Two stacks after Treiber, because sem_post() may be called in a signal handler: of holds, and of unused nodes. A stack is
 * the number of its first node, from 1 on, and a count of changes, so that a pop notices that the first node was taken and
 * put back meanwhile.
 */
#include "posix_holds.h"

#include <fnmatch.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 24, FIRST_CHUNK_BITS = 4 };

struct node {
	tsem_hold hold;
	_Atomic uint32_t next;
};

struct holds {
	_Atomic uint64_t held;
	_Atomic uint64_t unused;
	_Atomic uint32_t made;               /* nodes */
	struct node *_Atomic chunks[CHUNKS]; /* each twice as large as the one before */
};

bool
holds_are_wanted(const char *posix)
{
	const char *patterns = secure_getenv("TSEM_POSIX_HOLDS");
	char *copy = strdup(patterns != NULL ? patterns : "");
	char *rest = NULL;
	bool wanted = false;
	for (char *p = copy == NULL ? NULL : strtok_r(copy, ":", &rest); p != NULL; p = strtok_r(NULL, ":", &rest))
		wanted = wanted || fnmatch(p, posix, 0) == 0;
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

/* ---- nodes ---- */

static uint32_t
chunk_bits(uint32_t number)
{
	return 31 - (uint32_t)__builtin_clz(number);
}

/* Numbers from 16 on; chunk 0 has 16 to 31, chunk 1 has 32 to 63. */
static struct node *
node_at(struct holds *holds, uint32_t number)
{
	const uint32_t bits = chunk_bits(number);
	return &atomic_load_explicit(&holds->chunks[bits - FIRST_CHUNK_BITS],
	                             memory_order_acquire)[number - (UINT32_C(1) << bits)];
}

static void
push(struct holds *holds, _Atomic uint64_t *stack, uint32_t number)
{
	_Atomic uint32_t *next = &node_at(holds, number)->next;
	uint64_t seen = atomic_load_explicit(stack, memory_order_relaxed);
	do
		atomic_store_explicit(next, (uint32_t)seen, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(stack, &seen, ((seen >> 32) + 1) << 32 | number));
}

/* 0: the stack is empty. */
static uint32_t
pop(struct holds *holds, _Atomic uint64_t *stack)
{
	uint64_t seen = atomic_load_explicit(stack, memory_order_acquire);
	uint64_t next;
	do {
		if ((uint32_t)seen == 0)
			return 0;
		const struct node *first = node_at(holds, (uint32_t)seen);
		next = ((seen >> 32) + 1) << 32 | atomic_load_explicit(&first->next, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak(stack, &seen, next));
	return (uint32_t)seen;
}

/* 0: no memory. */
static uint32_t
make(struct holds *holds)
{
	const uint32_t number = atomic_fetch_add(&holds->made, 1) + (UINT32_C(1) << FIRST_CHUNK_BITS);
	const uint32_t bits = chunk_bits(number);
	struct node *_Atomic *chunk = &holds->chunks[bits - FIRST_CHUNK_BITS];
	struct node *expected = NULL;
	if (bits - FIRST_CHUNK_BITS >= CHUNKS)
		return 0;
	if (atomic_load(chunk) != NULL)
		return number;
	struct node *made = calloc((size_t)1 << bits, sizeof(struct node));
	if (!atomic_compare_exchange_strong(chunk, &expected, made))
		free(made);
	return atomic_load(chunk) != NULL ? number : 0;
}

/* ---- holds ---- */

bool
holds_push(struct holds *holds, const tsem_hold *hold)
{
	uint32_t number = pop(holds, &holds->unused);
	if (number == 0)
		number = make(holds);
	if (number == 0)
		return false;
	node_at(holds, number)->hold = *hold;
	push(holds, &holds->held, number);
	return true;
}

bool
holds_pop(struct holds *holds, tsem_hold *hold)
{
	const uint32_t number = pop(holds, &holds->held);
	if (number == 0)
		return false;
	*hold = node_at(holds, number)->hold;
	push(holds, &holds->unused, number);
	return true;
}

bool
holds_are_empty(const struct holds *holds)
{
	return (uint32_t)atomic_load(&holds->held) == 0;
}

void
holds_forget(struct holds *holds)
{
	atomic_store(&holds->held, 0);
	atomic_store(&holds->unused, 0);
	atomic_store(&holds->made, 0);
}
