/* SPDX-License-Identifier: MIT */
/*
 * The kill sweep steps real processes through the operations of libtsem, instruction by instruction, kills them at each
 * instruction, and checks the invariants. tests/README.md says what that proves.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "pid_namespace.h"
#include "sweep.h"
#include "worker.h"

static void
on_tick(int number)
{
	(void)number;
}

/* A tick interrupts waitpid(), so that a sleeping tracee is noticed: see tracee.c. */
static void
start_ticking(void)
{
	const struct sigaction action = {.sa_handler = on_tick};
	const struct itimerval every = {.it_interval = {.tv_usec = 10000}, .it_value = {.tv_usec = 10000}};
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void
close_fixtures(struct sweep *sweep)
{
	for (size_t i = 0; i < sizeof(sweep->fixtures) / sizeof(sweep->fixtures[0]); i++)
		fixture_close(&sweep->fixtures[i]);
}

static int
work(unsigned worker, void *arg)
{
	struct sweep *sweep = arg;
	sweep->worker = worker;
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	stay_on_processor(worker);
	start_ticking();
	if (!sweep->pairs_only)
		sweep_singles(sweep);
	sweep->deadline = sweep->seconds == 0 ? 0 : seconds_now() + sweep->seconds;
	if (atomic_load(&sweep->tally->faults) < FAULTS_MAX && sweep->seconds >= 0)
		sweep_pairs(sweep);
	close_fixtures(sweep);
	return EXIT_SUCCESS;
}

static int
replay(struct sweep *sweep, const char *text)
{
	struct plan plan;
	struct trace first = {0};
	struct trace second = {0};
	struct result result;
	if (!plan_from_text(text, &plan) || plan.capacity == 0 || plan.capacity > 3) {
		fprintf(stderr, "not a plan: %s\n", text);
		return EXIT_FAILURE;
	}
	start_ticking();
	stay_on_processor(0);
	sweep->workers = 1;
	struct plan other = plan;
	other.first = plan.second;
	bool learned = sweep_learn(sweep, &plan, &first) && (plan.second == NULL || sweep_learn(sweep, &other, &second));
	if (learned) {
		printf("%zu steps, to be stopped after step %zu at %#lx\n", first.steps, plan.k,
		       plan.k <= first.steps ? (unsigned long)first.pc[plan.k] : 0UL);
		sweep_run_plan(sweep, &plan, &first, &second, &result);
		if (!result.reached)
			printf("it took another path than the trace\n");
		printf("%s\n", result.verdict == VERDICT_FAULT  ? "fault"
		               : result.verdict == VERDICT_FINE ? "fine"
		                                                : "does not apply");
	}
	close_fixtures(sweep);
	return atomic_load(&sweep->tally->faults) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Returns the number of points tried. */
static unsigned long
print_tally(const struct tally *tally)
{
	unsigned long singles = 0;
	unsigned long pairs = 0;
	unsigned long grid = 0;
	printf("%-16s %12s %12s %12s %12s\n", "operation", "instructions", "killed at", "with another", "grid");
	for (unsigned i = 0; i < operation_count; i++) {
		const unsigned long sum = tally->singles[i] + tally->pairs[i] + tally->grid[i];
		if (sum == 0)
			continue;
		printf("%-16s %12lu %12lu %12lu %12lu\n", operations[i].name, tally->steps[i], tally->singles[i],
		       tally->pairs[i], tally->grid[i]);
		singles += tally->singles[i];
		pairs += tally->pairs[i];
		grid += tally->grid[i];
	}
	printf("%lu points by itself, %lu with a whole operation in between, %lu with part of one; %lu took another path\n"
	       "left to --full: %lu points that leave the same state as the one before, in long loops, with counts above 1 "
	       "and with "
	       "several semaphores\n",
	       singles, pairs, grid, tally->diverged, tally->skipped);
	return singles + pairs + grid;
}

static void
on_termination(int number)
{
	(void)number;
}

/* A signal interrupts the wait for the workers; then this process kills them and removes their files. */
static void
catch_termination(void)
{
	const struct sigaction action = {.sa_handler = on_termination};
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {{"seconds", required_argument, NULL, 's'},
	                                        {"full", no_argument, NULL, 'f'},
	                                        {"sample", required_argument, NULL, 'n'},
	                                        {"part", required_argument, NULL, 't'},
	                                        {"singles", no_argument, NULL, '1'},
	                                        {"pairs", no_argument, NULL, '2'},
	                                        {"only", required_argument, NULL, 'o'},
	                                        {"replay", required_argument, NULL, 'p'},
	                                        {0}};
	double seconds = 40;
	bool pairs_only = false;
	unsigned long sample = 1;
	unsigned long part = 1;
	const char *only = NULL;
	const char *plan = NULL;
	int option;
	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 's':
			seconds = strtod(optarg, NULL);
			break;
		case 'f':
			seconds = 0;
			break;
		case 'n':
			sample = strtoul(optarg, NULL, 10);
			break;
		case 't':
			part = strtoul(optarg, NULL, 10);
			break;
		case '1':
			seconds = -1;
			break;
		case '2':
			pairs_only = true;
			break;
		case 'o':
			only = optarg;
			pairs_only = strchr(only, ',') != NULL;
			seconds = pairs_only ? seconds : -1;
			break;
		case 'p':
			plan = optarg;
			break;
		default:
			fprintf(stderr,
			        "usage: %s [--seconds N | --full] [--sample M] [--part P] [--singles | --pairs | "
			        "--only FIRST[,SECOND]] | --replay PLAN\n"
			        "N: how long to try pairs; --full: all of them, which takes days\n"
			        "M: of the points that leave the same state as the one before, one in M (default 1: each)\n"
			        "P: of the six settings of each operation, one in P (default 1: each)\n",
			        argv[0]);
			return EXIT_FAILURE;
		}
	}
#if !defined(__x86_64__)
	return skip_sweep("kill", "it knows the registers of x86-64 only");
#endif
#if defined(UNDER_SANITIZER)
	return skip_sweep("kill", "most instructions here are the sanitizer's");
#endif
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!may_trace())
		return skip_sweep("kill", "ptrace is refused here");

	struct sweep sweep = {
		.program = argv[0], .seconds = seconds, .full = seconds == 0, .pairs_only = pairs_only, .only = only};
	sweep.sample = sample > 0 ? sample : 1;
	sweep.part = part > 0 ? part : 1;
	sweep.may_contain = pid_namespace_is_permitted();
	if (!sweep.may_contain)
		printf("no executor is in another PID namespace: %s\n", strerror(errno));
	sweep.sample_at = (size_t)time(NULL); /* other points each time; a plan for --replay does not need it */
	sweep.tally = share_memory(sizeof(*sweep.tally));
	if (plan != NULL)
		return replay(&sweep, plan);
	catch_termination();
	sweep.workers = count_processors(RUN_WORKERS_MAX);
	const double began = seconds_now();
	const bool well = run_workers(sweep.workers, work, &sweep, fixture_clean_up_after);
	const unsigned long tried = print_tally(sweep.tally);
	if (tried == 0)
		fprintf(stderr, "kill sweep: no point was tried: there is no such operation, or the pair is not in the list\n");
	printf("kill sweep: %u faults in %.0f s\n", sweep.tally->faults, seconds_now() - began);
	return well && tried > 0 && sweep.tally->faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
