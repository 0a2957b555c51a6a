/* SPDX-License-Identifier: MIT */
/* Four processes pay into one account under a benaphore, and no payment is lost. */
#include "benaphore.h"

#include "crew.h"

enum { CLERKS = 4, PAYMENTS = 3000 };

struct shared {
	atomic_uint wanted;
	unsigned long balance; /* not atomic: the mutex protects it */
	struct room room;
};

static struct shared *shared;
static struct benaphore mutex;

static void
pay_in(int number)
{
	(void)number;
	for (int i = 0; i < PAYMENTS; i++) {
		CHECK(benaphore_lock(&mutex) == 0);
		const unsigned long balance = shared->balance;
		enter(&shared->room, 1);
		shared->balance = balance + 1;
		leave(&shared->room);
		CHECK(benaphore_unlock(&mutex) == 0);
	}
}

int
main(void)
{
	crew_begin();
	shared = shared_memory(sizeof(*shared));
	mutex = (struct benaphore){.wanted = &shared->wanted, .baton = shared_semaphore(0, 0)};

	pay_in(0); /* without contention, so the semaphore is not used */
	CHECK(stat_of(mutex.baton).ticket == 0 && stat_of(mutex.baton).grant == 0);

	CHECK(benaphore_lock(&mutex) == 0);
	CHECK(benaphore_try_lock(&mutex) == -EAGAIN);
	for (int i = 0; i < CLERKS; i++)
		start(pay_in, i);
	AWAIT(stat_of(mutex.baton).waiting == CLERKS);
	CHECK(benaphore_unlock(&mutex) == 0);
	all_end_well();

	CHECK(shared->balance == (CLERKS + 1) * PAYMENTS);
	CHECK(benaphore_try_lock(&mutex) == 0);
	printf("%d payments, none lost\n", (CLERKS + 1) * PAYMENTS);
	return 0;
}
