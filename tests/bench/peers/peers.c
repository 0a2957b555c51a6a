/* SPDX-License-Identifier: MIT */
#include "peer.h"

#include <string.h>

/* The order of their turns and of the tables. */
const struct peer *const all_peers[] = {
	&peer_tsem,
	&peer_tsem_owned,
	&peer_glibc,
	&peer_sysv,
	&peer_sysv_undo,
	&peer_ticket_futex,
	&peer_ticket_semaphore,
	&peer_twa_semaphore,
	&peer_chains,
	&peer_key_wait,
	NULL,
};

const struct peer *
peer_find(const char *name)
{
	for (size_t i = 0; all_peers[i] != NULL; i++)
		if (strcmp(all_peers[i]->name, name) == 0)
			return all_peers[i];
	return NULL;
}
