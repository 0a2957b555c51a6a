/* SPDX-License-Identifier: MIT */
/*
 * The words of a semaphore, set and read one by one, and the situations that the unit tests begin with: a new
 * semaphore, permits held by another process, a cached record, a record to be recovered, a full table of records.
 */
#ifndef TSEM_TESTS_FIXTURE_H
#define TSEM_TESTS_FIXTURE_H

#include "support.h"

#include <errno.h>
#include <sys/stat.h>

#include "calls/hold.h"
#include "fake.h"
#include "protocol/fast.h"
#include "protocol/protocol.h"
#include "queue/queue.h"
#include "queue/wait.h"
#include "records/owner.h"
#include "records/record.h"
#include "recovery/look.h"
#include "recovery/recover.h"
#include "recovery/recover_front.h"
#include "recovery/removal.h"
#include "segment.h"
#include "system/identity.h"
#include "system/liveness.h"
#include "system/platform.h"
#include "wake/notify.h"
#include "wake/wake.h"

/* ---- the words of a semaphore ---- */

/*
 * The owner word of a process that has never existed: its pid is the highest possible one. The tests inject a judge of
 * life and death where it matters whether this process lives.
 */
#define UNUSED_PID ((1U << PID_BITS) - 1)
#define UNUSED_PROCESS owner_process(UNUSED_PID, 4711)

void set_counters(tsem *s, uint64_t ticket, uint64_t grant);
uint64_t tickets_of(tsem *s);
uint64_t grants_of(tsem *s);
uint64_t state_of(tsem *s, uint32_t index);

/* Writes a record with generation 7. `phases`: its STATE_ARRIVAL_PHASE and STATE_RELEASE_PHASE. */
void put_record(tsem *s, uint32_t index, uint64_t owner, enum state_kind state, uint64_t phases, uint64_t value,
                uint32_t count);

/* The number of records that are QUEUED, HELD or RELEASING: a cached record is CLAIMED. */
uint32_t records_in_use(tsem *s);

/* The number of records that have an owner, whatever their state. */
uint32_t records_owned(tsem *s);

/* ---- the semaphore under test ---- */

extern tsem *sem;
extern const char *sem_name;
extern uint64_t began; /* the fake clock when the situation began */

/* The word that the waiter with this ticket sleeps on. */
_Atomic uint32_t *word_of(uint64_t ticket);

/*
 * Each of these makes a new semaphore `sem`. It first ends the situation before, so a test may begin anew. end() closes
 * the semaphore and restores the platform.
 */
void begin(uint32_t permits);
void begin_limited(uint32_t permits, uint32_t max);
void begin_fake(uint32_t permits); /* the platform is the fake one of fake.h */
void begin_held(uint32_t permits); /* the same, and UNUSED_PROCESS holds them all, in record 40 */
void begin_embedded(uint32_t participants, uint32_t max); /* in memory of this process, with `max` permits */
void end(void);

/* For cmocka. */
int tear_down(void **state);

#define TEST_WITH(set_up, name) TEST_BETWEEN(set_up, tear_down, name)

/* ---- one permit, held by another process that lives, and a fake platform ---- */

int set_up_held(void **state);

#define TEST_HELD(name) TEST_WITH(set_up_held, name)

/* The time `ms` after `began`. */
struct timespec clock_after(uint64_t ms);

void peer_posts(void);

/* A process of that PID namespace has completed a look that began at that time of the fake clock. */
void peer_has_looked(uint32_t pid_ns, uint64_t at);
void peer_posts_and_dies_before_waking(void);
void peer_cancels_and_dies_before_waking(void);

/* ---- two permits, and a record that this thread has cached for one permit ---- */

int set_up_cached(void **state);
void skip_without_cache(void);

/* cmocka takes a skip in a set-up for a failure. */
#define TEST_CACHED(name)            \
	static void name##_cached(void); \
	TEST_WITH(set_up_cached, name)   \
	{                                \
		skip_without_cache();        \
		name##_cached();             \
	}                                \
	static void name##_cached(void)

/* Acquires and releases one permit. Returns the index of the record. */
uint32_t use_one_permit(void);

/* ---- three permits, one record, and an injected judge ---- */

int set_up_recovery(void **state);

#define TEST_RECOVERY(name) TEST_WITH(set_up_recovery, name)

/* G is 100, and T is 102. */
enum { RECORD = 5, COUNT = 2 };

/*
 * The judge is called after a recoverer has read `owner` and before it reads anything else. So this function, which the
 * next judgement calls once, does what other processes do while a slow recoverer stands there.
 */
extern void (*during_judgement)(void);

/* What the judge says of UNUSED_PROCESS. Every other process is alive. */
extern _Atomic bool unused_process_is_alive;

void put_the_record(uint64_t owner, enum state_kind state, uint64_t value);

/* Recovers the record. Returns the permits that came back. */
uint32_t recover_the_record(void);
uint64_t owner_of_the_record(void);

/* The record is free, IDLE with generation 8, and G has moved by `moved`. */
void expect_freed(uint64_t phases, uint64_t moved);
void expect_untouched(uint64_t owner, uint64_t state);

/* ---- a full table of records, for tests linked with --wrap=segment_reserve ---- */

/*
 * As begin_embedded(). The header says that there is one record more than the memory has, so each scan of all records
 * asks segment_reserve() for that record, in vain, and is counted. Returns the number of records.
 */
uint32_t begin_full(uint32_t participants, uint32_t max);

extern uint32_t scans;

int __wrap_segment_reserve(struct segment *segment, uint32_t n);

/* Of a semaphore in a file: each of the 32,766 records is HELD by that owner. */
void use_up_all_records(uint64_t owner);

/* ---- segments, without a semaphore ---- */

extern const struct segment_config three_of_nine;

struct segment create_segment(const char *name);
struct stat stat_of_file(const char *name);

/* Rounded up to pages of the machine, which the file system allocates. */
off_t in_pages(off_t bytes);

/* Attaching fails with this error, for reading and for writing. */
void expect_refused(const char *name, int error);

#endif
