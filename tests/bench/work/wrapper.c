/* SPDX-License-Identifier: MIT */
/* A command around `true`, and 30 jobs that wait in its queue until the first one ends. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

static const char *const do_nothing[] = {"true", NULL};

enum { RUNS = 10, JOBS_MAX = 256, SLOW_REPETITIONS = 7 };

static double
time_run(const struct command *command)
{
	const uint64_t began = now_ns();
	command_wait(command, command_start(command, command->words, do_nothing));
	const double took = (double)(now_ns() - began) / 1e6;
	if (command->dies)
		commands_recover();
	return took;
}

/* The commands that are there. */
static void
look_around(const struct options *options, bool *there)
{
	for (size_t i = 0; all_commands[i].name != NULL; i++)
		there[i] = command_is_there(&all_commands[i], options);
}

/* The commands run in turns; a figure is the mean of ten runs, or one run of a slow command. */
static void
wrap_once(const bool *there)
{
	double sums[PEERS_MAX] = {0};
	for (unsigned run = 0; run < RUNS; run++)
		for (size_t i = 0; all_commands[i].name != NULL; i++)
			if (there[i] && (run == 0 || !all_commands[i].slow))
				sums[i] += time_run(&all_commands[i]);
	for (size_t i = 0; all_commands[i].name != NULL; i++)
		if (there[i])
			say(all_commands[i].name, 0, "around true", "ms", sums[i] / (all_commands[i].slow ? 1 : RUNS));
}

void
run_wrapper(const struct options *options)
{
	bool there[PEERS_MAX];
	commands_begin(options);
	look_around(options, there);
	for (unsigned repetition = 0; repetition < options->repetitions; repetition++)
		wrap_once(there);
	commands_end();
}

static bool
is_asleep(pid_t pid)
{
	char path[48];
	char state = '?';
	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		die(path);
	const int found = fscanf(file, "%*d %*s %c", &state);
	fclose(file);
	return found == 1 && state == 'S';
}

/* A waiter counts as queued when it slept at five looks, 2 ms apart: while it starts, it sleeps for moments only. */
static void
wait_until_queued(const pid_t *jobs, unsigned count)
{
	const struct timespec moment = {.tv_nsec = 2000000};
	for (unsigned i = 0; i < count; i++)
		for (unsigned asleep = 0; asleep < 5; nanosleep(&moment, NULL))
			asleep = is_asleep(jobs[i]) ? asleep + 1 : 0;
}

/* The first job reads a fifo: it runs when the fifo can be opened for writing, and ends when the fifo is closed. */
static void
drain_once(const struct command *command, unsigned count)
{
	char fifo[4096];
	pid_t jobs[JOBS_MAX];
	snprintf(fifo, sizeof(fifo), "%s", commands_path("fifo"));
	if (mkfifo(fifo, 0600) != 0)
		die(fifo);
	const char *const hold[] = {"cat", fifo, NULL};
	const pid_t holder = command_start(command, command->words, hold);
	const int fd = open(fifo, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		die(fifo);
	for (unsigned i = 0; i < count; i++)
		jobs[i] = command_start(command, command->words, do_nothing);
	wait_until_queued(jobs, count);

	const uint64_t began = now_ns();
	close(fd);
	command_wait(command, holder);
	for (unsigned i = 0; i < count; i++)
		command_wait(command, jobs[i]);
	say(command->name, count, "each queued job", "ms", (double)(now_ns() - began) / 1e6 / count);
	unlink(fifo);
}

void
run_drain(const struct options *options)
{
	const unsigned count = options->participants[0] < JOBS_MAX ? options->participants[0] : JOBS_MAX;
	bool there[PEERS_MAX];
	commands_begin(options);
	look_around(options, there);
	for (unsigned repetition = 0; repetition < options->repetitions; repetition++)
		for (size_t i = 0; all_commands[i].name != NULL; i++)
			if (there[i] && (!all_commands[i].slow || repetition < SLOW_REPETITIONS))
				drain_once(&all_commands[i], count);
	commands_end();
}
