/* SPDX-License-Identifier: MIT */
#include "jobserver/family.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

#include "number.h"

struct member {
	pid_t pid;
	pid_t parent;
	size_t threads;
	bool ours; /* a descendant */
};

struct members {
	struct member *all;
	size_t n;
	size_t room;
};

void
family_adopt_orphans(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* The text of a file in /proc; false if it is gone, or not for us to read. */
static bool
read_text(const char *path, char *text, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	const ssize_t n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The name of a directory that is a process or a thread; 0: it is something else. */
static pid_t
id_of(const char *name)
{
	uint64_t id = 0;
	return parse_number(name, 1, INT32_MAX, &id) == PARSED ? (pid_t)id : 0;
}

/* /proc is that of our own PID namespace, and shows other users' processes, too. */
static bool
proc_shows_everybody(void)
{
	char link[16] = "";
	const ssize_t n = readlink("/proc/self", link, sizeof(link) - 1);
	return n > 0 && id_of(link) == getpid() && access("/proc/1/stat", R_OK) == 0;
}

/* ---- who there is ---- */

/* The n-th of the numbers behind `text`, each with a space in front of it. */
static unsigned long
nth_number(const char *text, int n)
{
	while (n-- > 0 && (text = strchr(text, ' ')) != NULL)
		text++;
	return text == NULL ? 0 : strtoul(text, NULL, 10);
}

static bool
add_member(struct members *members, pid_t pid)
{
	enum { PARENT = 2, THREADS = 18 }; /* behind the name */
	char path[32];
	char text[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	/* The name of the program may contain anything, so the rest is behind the last parenthesis. */
	const char *rest = read_text(path, text, sizeof(text)) ? strrchr(text, ')') : NULL;
	if (rest == NULL)
		return true; /* gone */
	const pid_t parent = (pid_t)nth_number(rest, PARENT);
	const unsigned long threads = nth_number(rest, THREADS);
	if (members->n == members->room) {
		const size_t room = members->room * 2 + 256;
		struct member *all = realloc(members->all, room * sizeof(*all));
		if (all == NULL)
			return false;
		members->all = all;
		members->room = room;
	}
	members->all[members->n++] = (struct member){.pid = pid, .parent = parent, .threads = threads > 0 ? threads : 1};
	return true;
}

static bool
list_processes(struct members *members)
{
	DIR *proc = opendir("/proc");
	if (proc == NULL)
		return false;
	bool complete = true;
	const struct dirent *entry;
	while (complete && (entry = readdir(proc)) != NULL) {
		const pid_t pid = id_of(entry->d_name);
		if (pid > 0)
			complete = add_member(members, pid);
	}
	closedir(proc);
	return complete;
}

static bool
is_ours(const struct members *members, pid_t pid, pid_t self)
{
	if (pid == self)
		return true;
	for (size_t i = 0; i < members->n; i++) {
		if (members->all[i].pid == pid)
			return members->all[i].ours;
	}
	return false;
}

/* Children are often younger than their parents, so few rounds are needed. */
static size_t
mark_descendants(struct members *members)
{
	const pid_t self = getpid();
	size_t threads = 0;
	bool found = true;
	while (found) {
		found = false;
		for (size_t i = 0; i < members->n; i++) {
			struct member *member = &members->all[i];
			if (member->ours || member->pid == self || !is_ours(members, member->parent, self))
				continue;
			member->ours = true;
			threads += member->threads;
			found = true;
		}
	}
	return threads;
}

/* ---- whether they have run ---- */

static uint64_t
mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

static unsigned long long
number_behind(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	return at == NULL ? 0 : strtoull(at + strlen(key), NULL, 10);
}

/* A thread that has run since the last look has been switched to and from. */
static void
look_at_thread(struct family *family, pid_t pid, pid_t thread)
{
	char path[64];
	char text[4096];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)thread);
	const char *state = read_text(path, text, sizeof(text)) ? strstr(text, "\nState:\t") : NULL;
	const char *switches = state == NULL ? NULL : strstr(state, "\nvoluntary_ctxt_switches:");
	if (switches == NULL) {
		family->asleep = false; /* gone, so something happens */
		return;
	}
	const char letter = state[strlen("\nState:\t")];
	family->asleep = family->asleep && strchr("SIZ", letter) != NULL;
	family->fingerprint = mix(family->fingerprint, (uint64_t)thread);
	family->fingerprint = mix(family->fingerprint, number_behind(switches, "\nvoluntary_ctxt_switches:"));
	family->fingerprint = mix(family->fingerprint, number_behind(switches, "nonvoluntary_ctxt_switches:"));
}

static void
look_at_process(struct family *family, pid_t pid)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	if (tasks == NULL) {
		family->asleep = false;
		return;
	}
	const struct dirent *entry;
	while ((entry = readdir(tasks)) != NULL) {
		const pid_t thread = id_of(entry->d_name);
		if (thread > 0)
			look_at_thread(family, pid, thread);
	}
	closedir(tasks);
}

struct family
family_look(size_t enough)
{
	struct family family = {.asleep = true};
	struct members members = {.n = 0};
	if (proc_shows_everybody() && list_processes(&members)) {
		family.known = true;
		family.threads = mark_descendants(&members);
		for (size_t i = 0; i < members.n && family.threads < enough; i++) {
			if (members.all[i].ours)
				look_at_process(&family, members.all[i].pid);
		}
	}
	free(members.all);
	return family;
}
