/* SPDX-License-Identifier: MIT */
#include "etcd/entry.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "etcd/store.h"
#include "process.h"

const char *
id_of(const char *key)
{
	return strrchr(key, '/') + 1;
}

int64_t
lease_of(const char *key)
{
	enum { DIGITS = 16, HEXADECIMAL = 16 };
	const char *id = id_of(key);
	const bool good = strlen(id) == DIGITS && strspn(id, "0123456789abcdef") == DIGITS;
	return good ? (int64_t)strtoull(id, NULL, HEXADECIMAL) : 0;
}

/* ---- processes ---- */

static uint64_t
namespace_of(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/*
 * This boot of this machine, with the namespaces in which a number and the start time of a process have their meaning.
 * "": unknown, or /proc shows another namespace. Looks once.
 */
static const char *
this_machine(void)
{
	static char machine[96];
	static bool looked;
	char boot[40] = "";
	if (looked)
		return machine;
	looked = true;
	const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? 0 : read(fd, boot, sizeof(boot) - 1);
	if (fd >= 0)
		close(fd);
	boot[strcspn(boot, "\n")] = '\0';
	if (n > 0 && proc_has_our_numbers())
		snprintf(machine, sizeof(machine), "%s/%" PRIu64 "/%" PRIu64, boot, namespace_of("/proc/self/ns/pid"),
		         namespace_of("/proc/self/ns/time"));
	return machine;
}

static const char *
field_after(const char *field, int fields)
{
	for (int i = 0; field != NULL && i < fields; i++)
		field = strchr(field + 1, ' ');
	return field;
}

/*
 * When it started, in the unit of /proc; 0: it cannot be told. `ended`: it is a zombie. One with more threads than its
 * first one, which has ended, still runs.
 */
static uint64_t
start_of(pid_t pid, bool *ended)
{
	enum { TO_THREADS = 17, TO_START = 2 };
	char stat[1024];
	const char *state = read_proc(pid, "stat", stat, sizeof(stat)) == 0 ? NULL : fields_after_name(stat);
	const char *threads = field_after(state, TO_THREADS);
	const char *start = field_after(threads, TO_START);
	*ended = state != NULL && threads != NULL && (state[1] == 'Z' || state[1] == 'X') && strtol(threads, NULL, 10) <= 1;
	return start == NULL ? 0 : strtoull(start, NULL, 10);
}

/* Another process may have the number now. A /proc that hides it is no evidence of its end. */
static bool
has_ended(pid_t pid, uint64_t start)
{
	bool ended;
	const uint64_t now = start_of(pid, &ended);
	return ended || (now != 0 ? now != start : kill(pid, 0) != 0 && errno == ESRCH);
}

/* ---- the value ---- */

json_t *
entry_new(const struct options *o, pid_t pid, pid_t command, double since, size_t names)
{
	char name[256] = "";
	char host[sizeof(name)];
	char task[1024];
	bool ended;
	gethostname(name, sizeof(name) - 1);
	copy_printable(host, sizeof(host), (const unsigned char *)name, strlen(name));
	process_task(pid, task, sizeof(task));
	return json_pack("{s:s, s:s, s:i, s:I, s:i, s:I, s:I, s:s, s:I, s:I, s:b, s:f}", "host", host, "machine",
	                 this_machine(), "pid", (int)pid, "start", (json_int_t)start_of(pid, &ended), "command_pid",
	                 (int)command, "command_start", (json_int_t)start_of(command, &ended), "uid", (json_int_t)getuid(),
	                 "command", task, "count", (json_int_t)o->count, "names", (json_int_t)names, "acquired",
	                 o->owner != 0, "since", since);
}

static bool
read_number(const json_t *json, const char *key, json_int_t max, json_int_t *number)
{
	const json_t *value = json_object_get(json, key);
	*number = json_integer_value(value);
	return json_is_integer(value) && *number >= 0 && *number <= max;
}

bool
entry_read(const struct kv *kv, struct entry *entry)
{
	json_int_t pid;
	json_int_t uid;
	json_int_t count;
	json_int_t names;
	json_t *json = json_loads(kv->value, 0, NULL);
	*entry = (struct entry){
		.json = json,
		.key = kv->key,
		.lease = lease_of(kv->key),
		.create_revision = kv->create_revision,
		.host = json_string_value(json_object_get(json, "host")),
		.command = json_string_value(json_object_get(json, "command")),
		.acquired = json_is_true(json_object_get(json, "acquired")),
	};
	const bool good = read_number(json, "pid", INT32_MAX, &pid) && read_number(json, "uid", UINT32_MAX, &uid)
	                  && read_number(json, "count", UINT32_MAX, &count) && count > 0 && entry->host != NULL
	                  && entry->command != NULL && entry->lease != 0 && entry->lease == kv->lease;
	if (!good) {
		entry_free(entry);
		return false;
	}
	entry->pid = (pid_t)pid;
	entry->uid = (uid_t)uid;
	entry->count = (uint32_t)count;
	entry->names = read_number(json, "names", NAMES_MAX, &names) ? (uint32_t)names : 1;
	return true;
}

void
entry_free(struct entry *entry)
{
	json_decref(entry->json);
	entry->json = NULL;
}

/* ---- where it is, and whether it lives ---- */

static const char *
machine_of(const struct entry *entry)
{
	const char *machine = json_string_value(json_object_get(entry->json, "machine"));
	return machine == NULL ? "" : machine;
}

bool
entry_is_here(const struct entry *entry)
{
	return this_machine()[0] != '\0' && strcmp(machine_of(entry), this_machine()) == 0;
}

bool
entry_is_beside(const struct entry *entry, const struct entry *other)
{
	return strcmp(entry->host, other->host) == 0 && strcmp(machine_of(entry), machine_of(other)) == 0;
}

static bool
process_has_ended(const struct entry *entry, const char *pid, const char *start)
{
	json_int_t number;
	json_int_t since;
	return read_number(entry->json, pid, INT32_MAX, &number) && read_number(entry->json, start, INT64_MAX, &since)
	       && since > 0 && has_ended((pid_t)number, (uint64_t)since);
}

/* Another process may have the number now. */
bool
entry_is_of(const struct entry *entry, pid_t pid)
{
	return entry->pid == pid && entry_is_here(entry) && !process_has_ended(entry, "pid", "start");
}

bool
entry_is_dead(const struct entry *entry)
{
	return entry_is_here(entry) && process_has_ended(entry, "pid", "start")
	       && process_has_ended(entry, "command_pid", "command_start");
}
