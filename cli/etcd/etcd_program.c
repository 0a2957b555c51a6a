/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <stddef.h>

#include "dispatch.h"
#include "etcd/etcd_verbs.h"

const struct program this_program = {
	.name = ETCD_PROGRAM,
	.actions =
		(const struct verb_runner[]){
			{VERB_RUN, etcd_cmd_run},
			{VERB_CREATE, etcd_cmd_create},
			{VERB_TAKE, etcd_cmd_take},
			{VERB_POST, etcd_cmd_post},
			{VERB_ACQUIRE, etcd_cmd_acquire},
			{VERB_RELEASE, etcd_cmd_release},
			{VERB_CANCEL, etcd_cmd_cancel},
			{VERB_RECOVER, etcd_cmd_recover},
			{VERB_SET, etcd_cmd_set},
			{VERB_SHOW, etcd_cmd_show},
			{VERB_LIST, etcd_cmd_list},
			{VERB_WAIT, etcd_cmd_wait},
			{VERB_REMOVE, etcd_cmd_remove},
			{0, NULL},
		},
};
