/* SPDX-License-Identifier: MIT */
/* bench WORKLOAD [OPTION]...: runs one workload and prints JSON lines; tests/bench/run calls it and makes the tables. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

const struct workload all_workloads[] = {
	{"pair", run_pair},
	{"contend", run_contend},
	{"ping-pong", run_ping_pong},
	{"ping-pong-one-cpu", run_ping_pong_one_cpu},
	{"semabench", run_semabench},
	{"fairness", run_fairness},
	{"hand-over", run_hand_over},
	{"post", run_post},
	{"idle", run_idle},
	{"memory", run_memory},
	{"recovery", run_recovery},
	{"mixes", run_mixes},
	{"wrapper", run_wrapper},
	{"drain", run_drain},
	{NULL, NULL},
};

void
say(const char *peer, unsigned participants, const char *metric, const char *unit, double value)
{
	printf("{\"peer\": \"%s\", \"participants\": %u, \"metric\": \"%s\", \"unit\": \"%s\", \"value\": %.9g}\n", peer,
	       participants, metric, unit, value);
	fflush(stdout);
}

void
say_missing(const char *peer, unsigned participants, const char *why)
{
	printf("{\"missing\": \"%s\", \"participants\": %u, \"why\": \"%s\"}\n", peer, participants, why);
	fflush(stdout);
}

bool
fits(const struct peer *peer, unsigned refused, unsigned participants, const struct options *options)
{
	const unsigned traits = peer->traits & refused;
	if ((peer->traits & THREADS_ONLY) != 0 && !options->threads) {
		say_missing(peer->name, participants, "for threads only");
		return false;
	}
	if ((peer->traits & SPINS) != 0 && participants > cpus()) {
		say_missing(peer->name, participants, "spins only, and there are fewer CPUs");
		return false;
	}
	if (traits == 0)
		return true;
	say_missing(peer->name, participants,
	            (traits & LOCK) != 0   ? "only the taker may give back"
	            : (traits & HERD) != 0 ? "wakes all waiters at each hand-over: would take minutes"
	                                   : "not for this workload");
	return false;
}

static void
parse_peers(char *text, struct options *options)
{
	size_t n = 0;
	for (char *name = strtok(text, ","); name != NULL && n < PEERS_MAX; name = strtok(NULL, ",")) {
		const struct peer *peer = peer_find(name);
		if (peer != NULL)
			options->peers[n++] = peer;
	}
	options->peers[n] = NULL;
}

static void
parse_numbers(char *text, unsigned *numbers)
{
	size_t n = 0;
	for (char *number = strtok(text, ","); number != NULL && n < NUMBERS_MAX; number = strtok(NULL, ","))
		numbers[n++] = (unsigned)strtoul(number, NULL, 10);
	numbers[n] = 0;
}

static void
parse(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{"peers", required_argument, NULL, 'p'},   {"participants", required_argument, NULL, 'n'},
		{"seconds", required_argument, NULL, 's'}, {"repetitions", required_argument, NULL, 'r'},
		{"threads", no_argument, NULL, 't'},       {"realtime", no_argument, NULL, 'f'},
		{"tsem", required_argument, NULL, 'c'},    {NULL, 0, NULL, 0},
	};
	for (size_t i = 0; all_peers[i] != NULL; i++)
		options->peers[i] = all_peers[i];
	for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
		switch (option) {
		case 'p': {
			const char *only = strdup(optarg);
			parse_peers(optarg, options);
			options->only = only;
			break;
		}
		case 'n':
			parse_numbers(optarg, options->participants);
			break;
		case 's':
			options->seconds = strtod(optarg, NULL);
			break;
		case 'r':
			options->repetitions = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 't':
			options->threads = true;
			break;
		case 'f':
			options->realtime = true;
			break;
		case 'c':
			options->tsem = optarg;
			break;
		default:
			exit(2);
		}
	}
}

int
main(int argc, char **argv)
{
	struct options options = {.participants = {2}, .seconds = 0.1, .repetitions = 7, .tsem = "tsem"};
	if (argc < 2) {
		fprintf(stderr, "usage: bench WORKLOAD [--peers A,B] [--participants N,N] [--seconds S] [--repetitions N] "
		                "[--threads] [--tsem PATH]\n");
		return 2;
	}
	parse(argc - 1, argv + 1, &options);
	for (const struct workload *workload = all_workloads; workload->name != NULL; workload++)
		if (strcmp(workload->name, argv[1]) == 0) {
			workload->run(&options);
			return 0;
		}
	fprintf(stderr, "bench: there is no workload '%s'\n", argv[1]);
	return 2;
}
