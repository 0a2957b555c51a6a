/* SPDX-License-Identifier: MIT */
/* The keeper of a `tsem take`, from when it has the permits on. */
#include <stdlib.h>

#include "etcd/keeping.h"
#include "message.h"

static _Noreturn void
withdraw(struct keeping *k)
{
	if (!k->ledger->grant.recovered)
		claim_release(&k->claim, &k->ledger->grant);
	exit(EXIT_DONE);
}

/* A hold that is gone under a lease that is not has become permits without a holder, by an attempt whose answer was lost. */
static void
take(struct keeping *k)
{
	enum place place = PLACE_HOLDER;
	k->lease.holds = false; /* the key goes */
	while (place != PLACE_HOLDER || !claim_take(&k->claim, &k->ledger->grant)) {
		if (k->wrapper_gone)
			withdraw(k);
		place = claim_look(&k->claim, &k->ledger->grant);
		if (place == PLACE_NONE && keeping_confirm(k, UINT64_MAX))
			return;
		if (k->lease.gone || boottime_ns() >= keeping_limit_ns(k))
			die(k->o->name, "no member of the store has answered in time (see 'tsem show', because it may be done)");
	}
}

/* An earlier keeper may have taken them. */
void
keeper_take(struct keeping *k)
{
	if (!k->ledger->taken)
		take(k);
	k->ledger->taken = true;
}
