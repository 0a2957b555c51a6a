/* SPDX-License-Identifier: MIT */
/*
 * replay FILE...: runs the target on inputs in files, for the tests and to repeat a fault. A directory stands for all
 * its files. Without arguments it reads standard input, as AFL++ needs.
 *
 * A child does the work, so that a fault leaves nothing in shared memory. With --apart, each processor has a child of
 * its own, bound to it, with a share of the inputs: under the thread sanitizer, two threads that access the same memory
 * all the time take many times longer if they run at the same time, and the sanitizer finds the same faults.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target.h"
#include "worker.h"

#ifdef __AFL_FUZZ_TESTCASE_LEN
__AFL_FUZZ_INIT()
#endif

/* Longer than any useful image. */
enum { INPUT_BYTES_MAX = 1 << 17, SECONDS_MAX = 240, CHILDREN_MAX = 8 };

static uint8_t input[INPUT_BYTES_MAX];
static unsigned replayed;
static unsigned share;      /* of this child */
static unsigned shares = 1; /* the number of children */
static unsigned seen;

static void
replay_stream(FILE *stream, const char *path)
{
	const size_t size = fread(input, 1, sizeof(input), stream);
	/* A copy of exactly this size, so that a sanitizer finds a read beyond its end. */
	uint8_t *copy = malloc(size == 0 ? 1 : size);
	if (copy == NULL || ferror(stream) != 0)
		broken(path, errno);
	memcpy(copy, input, size);
	alarm(SECONDS_MAX); /* a hang is a fault, too: SIGALRM ends the program */
	LLVMFuzzerTestOneInput(copy, size);
	alarm(0);
	free(copy);
	replayed++;
}

static void
replay_path(const char *path)
{
	struct stat st;
	if (seen++ % shares != share)
		return;
	FILE *stream = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
	if (stream == NULL)
		broken(path, errno);
	fprintf(stderr, "replay: %s\n", path); /* the last line names the input with the fault */
	replay_stream(stream, path);
	fclose(stream);
}

static void
replay_directory(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	if (directory == NULL)
		broken(path, errno);
	while ((entry = readdir(directory)) != NULL) {
		char file[4096];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		replay_path(file);
	}
	closedir(directory);
}

#ifdef __AFL_FUZZ_TESTCASE_LEN
static int
replay_for_afl(void)
{
	__AFL_INIT();
	const uint8_t *buffer = __AFL_FUZZ_TESTCASE_BUF;
	while (__AFL_LOOP(1000))
		LLVMFuzzerTestOneInput(buffer, (size_t)__AFL_FUZZ_TESTCASE_LEN);
	return 0;
}
#endif

static int
replay_arguments(int argc, char **argv)
{
	if (argc == 1)
		replay_stream(stdin, "standard input");
	for (int i = 1; i < argc; i++) {
		struct stat st;
		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			replay_directory(argv[i]);
		else
			replay_path(argv[i]);
	}
	printf("%u inputs replayed\n", replayed);
	fflush(stdout);
	return replayed == 0;
}

static pid_t
start_child(unsigned i, bool apart, int argc, char **argv)
{
	const pid_t pid = fork();
	if (pid < 0)
		broken("cannot fork", errno);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	share = i;
	if (apart)
		stay_on_processor(i);
	exit(replay_arguments(argc, argv));
}

static int
end_of_child(pid_t pid)
{
	int status;
	char name[64];
	char path[96];
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	target_name(pid, name);
	snprintf(path, sizeof(path), "/dev/shm/tsem.%s", name);
	unlink(path);
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	fprintf(stderr, "replay: ended by signal %d\n", WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

int
main(int argc, char **argv)
{
#ifdef __AFL_FUZZ_TESTCASE_LEN
	if (argc == 1)
		return replay_for_afl();
#endif
	const bool apart = argc > 1 && strcmp(argv[1], "--apart") == 0;
	pid_t pids[CHILDREN_MAX];
	if (apart)
		shares = count_processors(CHILDREN_MAX);
	for (unsigned i = 0; i < shares; i++)
		pids[i] = start_child(i, apart, argc - apart, argv + apart);
	int worst = 0;
	for (unsigned i = 0; i < shares; i++) {
		const int status = end_of_child(pids[i]);
		worst = status > worst ? status : worst;
	}
	return worst;
}
