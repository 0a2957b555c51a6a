/* SPDX-License-Identifier: MIT */
#include "jobserver/process_tree.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

#include "number.h"
#include "process.h"

struct node {
	pid_t pid;
	pid_t parent;
	size_t threads;
	bool descendant;
};

struct tree {
	struct node *all;
	size_t n;
	size_t room;
};

void
adopt_orphans(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* The number that names a directory of a process or thread; 0 for any other directory. */
static pid_t
id_of(const char *name)
{
	uint64_t id = 0;
	return parse_number(name, 1, INT32_MAX, &id) == PARSED ? (pid_t)id : 0;
}

/* /proc may belong to another PID namespace, or hide the processes of other users. */
static bool
proc_shows_all_processes(void)
{
	return proc_has_our_numbers() && access("/proc/1/stat", R_OK) == 0;
}

/* ---- processes ---- */

/* The n-th number of `text`. A space precedes each. */
static unsigned long
nth_number(const char *text, int n)
{
	while (n-- > 0 && (text = strchr(text, ' ')) != NULL)
		text++;
	return text == NULL ? 0 : strtoul(text, NULL, 10);
}

static bool
add_process(struct tree *processes, pid_t pid)
{
	enum { PARENT = 2, THREADS = 18 }; /* positions after the name, from 1 */
	char text[1024];
	const char *fields = read_proc(pid, "stat", text, sizeof(text)) > 0 ? fields_after_name(text) : NULL;
	if (fields == NULL)
		return true; /* the process is gone */
	const pid_t parent = (pid_t)nth_number(fields, PARENT);
	const unsigned long threads = nth_number(fields, THREADS);
	if (processes->n == processes->room) {
		const size_t room = processes->room * 2 + 256;
		struct node *all = realloc(processes->all, room * sizeof(*all));
		if (all == NULL)
			return false;
		processes->all = all;
		processes->room = room;
	}
	processes->all[processes->n++] = (struct node){.pid = pid, .parent = parent, .threads = threads > 0 ? threads : 1};
	return true;
}

static bool
list_processes(struct tree *processes)
{
	DIR *proc = opendir("/proc");
	if (proc == NULL)
		return false;
	bool complete = true;
	const struct dirent *entry;
	while (complete && (entry = readdir(proc)) != NULL) {
		const pid_t pid = id_of(entry->d_name);
		if (pid > 0)
			complete = add_process(processes, pid);
	}
	closedir(proc);
	return complete;
}

static bool
is_descendant(const struct tree *processes, pid_t pid, pid_t self)
{
	if (pid == self)
		return true;
	for (size_t i = 0; i < processes->n; i++) {
		if (processes->all[i].pid == pid)
			return processes->all[i].descendant;
	}
	return false;
}

/* Children mostly have larger numbers than their parents, so few rounds suffice. */
static size_t
mark_descendants(struct tree *processes)
{
	const pid_t self = getpid();
	size_t threads = 0;
	bool found = true;
	while (found) {
		found = false;
		for (size_t i = 0; i < processes->n; i++) {
			struct node *process = &processes->all[i];
			if (process->descendant || process->pid == self || !is_descendant(processes, process->parent, self))
				continue;
			process->descendant = true;
			threads += process->threads;
			found = true;
		}
	}
	return threads;
}

/* ---- threads ---- */

static uint64_t
mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

static unsigned long long
number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	return at == NULL ? 0 : strtoull(at + strlen(key), NULL, 10);
}

/* A thread that has run since the last scan has more context switches. */
static void
scan_thread(struct process_tree *tree, pid_t pid, pid_t thread)
{
	char file[32];
	char text[4096];
	snprintf(file, sizeof(file), "task/%d/status", (int)thread);
	const char *state = read_proc(pid, file, text, sizeof(text)) > 0 ? strstr(text, "\nState:\t") : NULL;
	const char *switches = state == NULL ? NULL : strstr(state, "\nvoluntary_ctxt_switches:");
	if (switches == NULL) {
		tree->asleep = false; /* the thread is gone, so something runs */
		return;
	}
	const char letter = state[strlen("\nState:\t")];
	tree->asleep = tree->asleep && strchr("SIZ", letter) != NULL;
	tree->fingerprint = mix(tree->fingerprint, (uint64_t)thread);
	tree->fingerprint = mix(tree->fingerprint, number_after(switches, "\nvoluntary_ctxt_switches:"));
	tree->fingerprint = mix(tree->fingerprint, number_after(switches, "nonvoluntary_ctxt_switches:"));
}

static void
scan_process(struct process_tree *tree, pid_t pid)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	if (tasks == NULL) {
		tree->asleep = false;
		return;
	}
	const struct dirent *entry;
	while ((entry = readdir(tasks)) != NULL) {
		const pid_t thread = id_of(entry->d_name);
		if (thread > 0)
			scan_thread(tree, pid, thread);
	}
	closedir(tasks);
}

struct process_tree
process_tree_scan(size_t enough)
{
	struct process_tree tree = {.asleep = true};
	struct tree processes = {.n = 0};
	if (proc_shows_all_processes() && list_processes(&processes)) {
		tree.known = true;
		tree.threads = mark_descendants(&processes);
		for (size_t i = 0; i < processes.n && tree.threads < enough; i++) {
			if (processes.all[i].descendant)
				scan_process(&tree, processes.all[i].pid);
		}
	}
	free(processes.all);
	return tree;
}
