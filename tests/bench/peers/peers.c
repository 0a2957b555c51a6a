/* SPDX-License-Identifier: MIT */
#include "peer.h"

#include <string.h>

/* In this order they take turns, and stand in the tables. */
const struct peer *const all_peers[] = {
	&peer_tsem,          &peer_tsem_owned,    &peer_glibc,
	&peer_sysv,          &peer_sysv_undo,     &peer_mutex,
	&peer_flock,         &peer_ticket_futex,  &peer_ticket_semaphore,
	&peer_twa_semaphore, &peer_chains,        &peer_key_wait,
	&peer_owned_floor,   &peer_ticking_sleep, NULL,
};

const struct peer *
peer_find(const char *name)
{
	for (size_t i = 0; all_peers[i] != NULL; i++)
		if (strcmp(all_peers[i]->name, name) == 0)
			return all_peers[i];
	return NULL;
}

void
peer_join(const struct peer *peer, void *semaphore, struct seat *seat)
{
	if (peer->join != NULL)
		peer->join(semaphore, seat);
}

void
peer_leave(const struct peer *peer, void *semaphore, struct seat *seat)
{
	if (peer->leave != NULL)
		peer->leave(semaphore, seat);
}
