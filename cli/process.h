/* SPDX-License-Identifier: MIT */
/* What /proc tells about other processes. */
#ifndef TSEM_CLI_PROCESS_H
#define TSEM_CLI_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tsem.h"

/* An owner that a store on the network has recorded, on whatever machine: what /proc tells of the others. */
struct remote {
	char *host;
	char *command;
	uint64_t fence; /* of a holder; 0: none */
};

/*
 * The command line of an owner, or "?" if the owner is dead, or /proc does not show it: it, or all of /proc, belongs to
 * another PID namespace.
 */
void owner_command(const struct tsem_owner *owner, char *text, size_t size);

/* The same for people: of a `tsem run`, only the command that it runs. */
void owner_task(const struct tsem_owner *owner, char *text, size_t size);

/* The command line, arguments separated by spaces, as valid UTF-8 without control characters; "?" if unknown. */
void process_command(pid_t pid, char *text, size_t size);

/* The same, but of a `tsem run`, only the command that it runs. */
void process_task(pid_t pid, char *text, size_t size);

/*
 * Copies `n` bytes as text of valid UTF-8, cut to `size`. Control characters, such as the separators of arguments, become
 * spaces; malformed bytes become '?'.
 */
void copy_printable(char *text, size_t size, const unsigned char *bytes, size_t n);

/* Whether a signal or a debugger has stopped the process. False if that is unknown. */
bool process_is_stopped(const struct tsem_owner *owner);

/* The number by which the caller knows the process; 0: it has none here, or that is not known. */
pid_t process_number(const struct tsem_owner *owner);

/* Whether the process is in another PID namespace than the caller. False if that is unknown. */
bool process_is_elsewhere(const struct tsem_owner *owner);

/*
 * Reads /proc/PID/FILE, such as "stat" or "task/TID/stat", and ends it with a null byte. Returns its length, 0 if the
 * file is unreadable or the process is gone.
 */
size_t read_proc(pid_t pid, const char *file, char *text, size_t size);

/*
 * Whether /proc is that of this process's PID namespace, so that its numbers are those that this process knows.
 */
bool proc_has_our_numbers(void);

/* 0: there is none in this PID namespace, or it is unknown. */
pid_t process_parent(pid_t pid);

/* What follows the name in the text of a stat file: " S 1 ..."; NULL if it is malformed. */
const char *fields_after_name(const char *stat);

#endif
