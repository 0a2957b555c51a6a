/* SPDX-License-Identifier: MIT */
/*
 * The sweep over whole commands: `tsem` runs each verb. At each system call of it and of its child, a process is
 * killed, gets a signal, or is stopped while other commands run, or the call fails. Then the invariants must hold.
 * tests/README.md says what that proves.
 */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "command_namespaces.h"
#include "command_points.h"
#include "worker.h"

enum { REPORTS_MAX = 3 };

struct tally {
	_Atomic unsigned long points[SITUATIONS_MAX][ACTIONS];
	_Atomic unsigned long diverged[SITUATIONS_MAX][ACTIONS];
	_Atomic unsigned long faults[SITUATIONS_MAX][ACTIONS];
	_Atomic unsigned long known; /* all points of all workers */
};

struct sweep {
	const char *program;
	struct tools tools;
	struct tally *tally;
	unsigned worker;
	unsigned workers;
	double seconds; /* 0: all points */
	unsigned long seed;
	const char *only;
	const struct point *replayed; /* the only point, with a log */
	struct points points;
};

static void
report(struct sweep *sweep, const struct point *point, const struct result *result)
{
	char text[POINT_TEXT];
	char where[64] = "";
	const size_t index = (size_t)(point->situation - situations);
	const unsigned long before = atomic_fetch_add(&sweep->tally->faults[index][point->action], 1);
	if (before >= REPORTS_MAX && sweep->replayed == NULL)
		return;
	point_to_text(point, text);
	if (result->reached)
		snprintf(where, sizeof(where), ", %s %s", result->at.call.is_exit ? "after" : "before",
		         call_name(result->at.call.number));
	printf("FAULT: %s%s: %s%s    replay: %s --tsem %s --work %s --replay %s\n", text, where, result->fault,
	       strchr(result->fault, '\n') != NULL ? "" : "\n", sweep->program, sweep->tools.tsem, sweep->tools.work, text);
	fflush(stdout);
}

static void
try_point(struct sweep *sweep, const struct point *point, FILE *log, struct result *result)
{
	const size_t index = (size_t)(point->situation - situations);
	run_point(&sweep->tools, point, log, result);
	atomic_fetch_add(&sweep->tally->points[index][point->action], 1);
	if (point->action != ACTION_NONE && !result->reached)
		atomic_fetch_add(&sweep->tally->diverged[index][point->action], 1);
	if (result->fault[0] != '\0')
		report(sweep, point, result);
}

static bool
is_wanted(const struct sweep *sweep, const struct situation *situation)
{
	const size_t length = sweep->only == NULL ? 0 : strlen(sweep->only);
	if ((situation->flags & CONTAINED) != 0 && !sweep->tools.alone)
		return false; /* namespaces are refused */
	return sweep->only == NULL || strcmp(situation->name, sweep->only) == 0
	       || (strncmp(situation->name, sweep->only, length) == 0 && situation->name[length] == '-');
}

/* Runs each situation once without an action. That must succeed, and yields the boundaries. */
static void
learn(struct sweep *sweep)
{
	static struct starts starts;
	struct result result = {.boundaries = calloc(BOUNDARIES_MAX, sizeof(struct boundary))};
	if (result.boundaries == NULL)
		abort();
	points_learn_starts(&sweep->tools, &starts);
	for (size_t i = 0; i < situation_count; i++) {
		const struct situation *situation = &situations[i];
		if (!is_wanted(sweep, situation))
			continue;
		try_point(sweep, &(struct point){.situation = situation}, NULL, &result);
		points_add(&sweep->points, situation, &result, &starts);
	}
	free(result.boundaries);
}

static void
try_all(struct sweep *sweep, double began)
{
	struct result result = {.boundaries = NULL};
	const struct points *points = &sweep->points;
	atomic_fetch_add(&sweep->tally->known, points->n);
	for (size_t i = 0; i < points->n; i++) {
		if (sweep->seconds > 0 && seconds_now() - began > sweep->seconds)
			return;
		try_point(sweep, &points->all[i], NULL, &result);
	}
}

/* ---- a worker ---- */

static int
open_text(const char *name)
{
	const int fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0 || fcntl(fd, F_SETFL, O_APPEND) != 0)
		abort();
	return fd;
}

static void
open_tools(struct sweep *sweep, bool alone)
{
	struct tools *tools = &sweep->tools;
	for (int i = 0; i < 2; i++)
		snprintf(tools->names[i], sizeof(tools->names[i]), "commands-%d-%u-%c", (int)getpid(), sweep->worker, 'a' + i);
	tools->alone = alone;
	tools->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	tools->out = open_text("out");
	tools->err = open_text("err");
	tools->other_out = open_text("other out");
	tools->other_err = open_text("other err");
}

/* Gives every command the same environment. */
static void
set_environment(void)
{
	sigset_t child;
	clearenv();
	setenv("PATH", "/usr/bin:/bin", 1);
	setenv("LC_ALL", "C", 1);
	setenv("TERM", "dumb", 1);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	for (int fd = 3; fd < 64; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static int
work(bool alone, void *arg)
{
	struct sweep *sweep = arg;
	struct result result = {.boundaries = NULL};
	const double began = seconds_now();
	set_environment();
	stay_on_processor(sweep->worker);
	open_tools(sweep, alone);
	if (sweep->replayed != NULL) {
		try_point(sweep, sweep->replayed, stdout, &result);
		printf("%s\n", result.fault[0] != '\0'                                    ? "fault"
		               : result.reached || sweep->replayed->action == ACTION_NONE ? "fine"
		                                                                          : "took another path");
	} else {
		sweep->points = (struct points){.worker = sweep->worker, .workers = sweep->workers};
		learn(sweep);
		points_put_in_order(&sweep->points, sweep->seed);
		try_all(sweep, began);
	}
	fflush(stdout);
	return EXIT_SUCCESS;
}

static int
work_in_namespaces(unsigned worker, void *arg)
{
	((struct sweep *)arg)->worker = worker;
	return namespaces_run(work, arg);
}

/* ---- the results ---- */

/* Prints a line for a verb and an action. */
static void
print_verb(const struct tally *tally, const char *verb, unsigned action)
{
	unsigned long points = 0;
	unsigned long diverged = 0;
	unsigned long faults = 0;
	for (size_t i = 0; i < situation_count; i++) {
		if (strcmp(situations[i].words[0], verb) != 0)
			continue;
		points += tally->points[i][action];
		diverged += tally->diverged[i][action];
		faults += tally->faults[i][action];
	}
	if (points > 0)
		printf("%-8s %-12s %6lu points %4lu on another path %4lu faults\n", verb, action_names[action], points,
		       diverged, faults);
}

static unsigned long
print_tally(const struct tally *tally, unsigned long *faults)
{
	unsigned long points = 0;
	*faults = 0;
	for (size_t i = 0; i < situation_count; i++) {
		const char *verb = situations[i].words[0];
		const bool is_first = i == 0 || strcmp(situations[i - 1].words[0], verb) != 0;
		for (unsigned action = 0; action < ACTIONS; action++) {
			if (is_first)
				print_verb(tally, verb, action);
			points += tally->points[i][action];
			*faults += tally->faults[i][action];
		}
	}
	return points;
}

/* ---- main ---- */

static int
usage(const char *program)
{
	fprintf(
		stderr,
		"usage: %s --tsem PATH --work PATH [--seconds N | --full] [--jobs N] [--seed N] [--only VERB-OR-SITUATION]\n"
		"       %s --tsem PATH --work PATH --replay SITUATION ACTION K\n"
		"K: the number of the boundary, or child:K; ACTION: one of those that are printed, or error:ENAME\n",
		program, program);
	return EXIT_FAILURE;
}

static bool
read_options(int argc, char **argv, struct sweep *sweep, bool *replays)
{
	static const struct option options[] = {{"tsem", required_argument, NULL, 't'},
	                                        {"work", required_argument, NULL, 'w'},
	                                        {"seconds", required_argument, NULL, 's'},
	                                        {"full", no_argument, NULL, 'f'},
	                                        {"jobs", required_argument, NULL, 'j'},
	                                        {"seed", required_argument, NULL, 'r'},
	                                        {"only", required_argument, NULL, 'o'},
	                                        {"replay", no_argument, NULL, 'p'},
	                                        {0}};
	int option;
	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == 't')
			sweep->tools.tsem = optarg;
		else if (option == 'w')
			sweep->tools.work = optarg;
		else if (option == 's')
			sweep->seconds = strtod(optarg, NULL);
		else if (option == 'f')
			sweep->seconds = 0;
		else if (option == 'j')
			sweep->workers = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'r')
			sweep->seed = strtoul(optarg, NULL, 10);
		else if (option == 'o')
			sweep->only = optarg;
		else if (option == 'p')
			*replays = true;
		else
			return false;
	}
	return sweep->tools.tsem != NULL && sweep->tools.work != NULL && sweep->workers > 0
	       && sweep->workers <= RUN_WORKERS_MAX && argc - optind == (*replays ? 3 : 0);
}

int
main(int argc, char **argv)
{
	struct sweep sweep = {.program = argv[0],
	                      .seconds = 60,
	                      .workers = count_processors(RUN_WORKERS_MAX),
	                      .seed = (unsigned long)time(NULL)};
	struct point replayed;
	bool replays = false;
	if (!read_options(argc, argv, &sweep, &replays)
	    || (replays && !point_from_words((const char *const *)&argv[optind], &replayed)))
		return usage(argv[0]);
#if defined(UNDER_SANITIZER)
	return skip_sweep("command", "most system calls here are the sanitizer's");
#endif
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!may_trace())
		return skip_sweep("command", "ptrace is refused here");
	sweep.tally = share_memory(sizeof(*sweep.tally));
	if (replays) {
		sweep.replayed = &replayed;
		sweep.workers = 1;
	} else {
		printf("seed %lu\n", sweep.seed);
	}
	const double began = seconds_now();
	unsigned long faults;
	const bool well = run_workers(sweep.workers, work_in_namespaces, &sweep, NULL);
	const unsigned long points = print_tally(sweep.tally, &faults);
	if (points == 0)
		fprintf(stderr, "command sweep: no point was tried: there is no such situation or verb\n");
	printf("command sweep: %lu of %lu points, %lu faults in %.0f s\n", points, replays ? 1 : sweep.tally->known, faults,
	       seconds_now() - began);
	return well && points > 0 && faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
