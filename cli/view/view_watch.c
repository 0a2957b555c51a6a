/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "message.h"
#include "monotonic.h"
#include "termination.h"
#include "view/events.h"
#include "view/snapshot.h"
#include "view/view_verbs.h"

/* A semaphore of this name, which may be removed and made again. */
struct place {
	struct watched watched;
	tsem *sem; /* NULL: there is none, or it cannot be read */
	dev_t device;
	ino_t inode;
	int error; /* the last one that was reported */
};

static void
die_of(const char *name, int error)
{
	if (error < 0)
		die_error(name, error);
}

static bool
is_still_there(const struct place *place)
{
	struct stat st;
	return owner_of(place->watched.name, &st) && st.st_dev == place->device && st.st_ino == place->inode;
}

/* The handle keeps the file, so that the last look sees the state at the removal. */
static void
look(struct place *place, struct snapshot *snapshot)
{
	const char *name = place->watched.name;
	int rc = snapshot_take(place->sem, snapshot);
	const bool is_last = !is_still_there(place);
	if (is_last)
		rc = snapshot_take(place->sem, snapshot);
	if (rc == 0)
		die_of(name, events_update(&place->watched, snapshot, is_last));
	else if (rc != place->error)
		complain_error(name, rc);
	place->error = rc;
	if (!is_last)
		return;
	die_of(name, events_end(&place->watched));
	tsem_close(place->sem);
	place->sem = NULL;
}

/* 0, or why there is nothing to watch yet. */
static int
begin(struct place *place, struct snapshot *snapshot)
{
	struct stat st = {0};
	const char *name = place->watched.name;
	owner_of(name, &st);
	int rc = open_for_viewing(name, &place->sem);
	if (rc < 0)
		return rc;
	place->device = st.st_dev;
	place->inode = st.st_ino;
	rc = snapshot_take(place->sem, snapshot);
	if (rc == 0) {
		die_of(name, events_begin(&place->watched, snapshot));
		return 0;
	}
	tsem_close(place->sem);
	place->sem = NULL;
	return rc;
}

static void
look_or_begin(struct place *place, struct snapshot *snapshot)
{
	if (place->sem != NULL)
		look(place, snapshot);
	if (place->sem != NULL)
		return;
	const int rc = begin(place, snapshot);
	if (rc < 0 && rc != -ENOENT && rc != -EIDRM && rc != place->error)
		complain_error(place->watched.name, rc);
	place->error = rc;
}

/* Each semaphore needs a descriptor. */
static void
allow_descriptors(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void
require_distinct(const struct options *o)
{
	for (size_t i = 0; i < o->names_n; i++) {
		for (size_t j = 0; j < i; j++) {
			if (strcmp(o->names[i], o->names[j]) == 0)
				die(o->names[i], "it is named twice (name it once)");
		}
	}
}

/* Also ends the process when nothing reads its output any more, as a write would. */
static void
sleep_until(uint64_t due)
{
	struct pollfd output = {.fd = STDOUT_FILENO};
	for (uint64_t now = monotonic_ns(); now < due; now = monotonic_ns()) {
		const struct timespec rest = to_timespec(due - now);
		if (ppoll(&output, 1, &rest, NULL) > 0) {
			die_of_signal(SIGPIPE);
			exit(EXIT_TSEM_FAILED);
		}
	}
}

/* The names that do not exist are reported, and the others are watched. */
static size_t
begin_all(struct place *places, const struct options *o, size_t n, struct snapshot *snapshot)
{
	size_t begun = 0;
	for (size_t i = 0; i < n; i++) {
		struct place *place = &places[begun];
		place->watched.name = o->names_n > 0 ? o->names[i] : o->name;
		const int rc = begin(place, snapshot);
		if (rc == 0)
			begun++;
		else
			complain_error(place->watched.name, rc);
	}
	return begun;
}

int
cmd_watch(const struct options *o)
{
	struct snapshot snapshot = {.n = 0};
	const size_t n = o->names_n > 0 ? o->names_n : 1;
	struct place *places = calloc(n, sizeof(*places));
	if (places == NULL)
		die_error(NULL, -ENOMEM);
	require_distinct(o);
	require_stdout(o->name);
	allow_descriptors();
	const size_t begun = begin_all(places, o, n, &snapshot);
	flush_stdout(o->name);
	if (begun == 0)
		return EXIT_TSEM_FAILED;
	for (uint64_t due = monotonic_ns() + o->view.delay_ns;; due += o->view.delay_ns) {
		sleep_until(due);
		for (size_t i = 0; i < begun; i++)
			look_or_begin(&places[i], &snapshot);
		flush_stdout(o->name);
		if (monotonic_ns() > due + o->view.delay_ns)
			due = monotonic_ns();
	}
}
