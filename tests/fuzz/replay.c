/* SPDX-License-Identifier: MIT */
/*
 * replay FILE...: runs the target over inputs that are files, for the tests and for a look at a fault that was found. A
 * directory stands for all files in it. Without arguments: over standard input, which is what AFL++ wants.
 *
 * A child does it, so that a fault leaves nothing behind in shared memory. With --apart, one for each processor, which
 * stays there and takes its share of the inputs: what the thread sanitizer keeps for two threads that touch the same memory
 * all the time costs many times more if they do it at the same time, and it finds the same.
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

/* Longer than any image that makes sense. */
enum { INPUT_BYTES_MAX = 1 << 17, SECONDS_MAX = 60, CHILDREN_MAX = 8 };

static uint8_t input[INPUT_BYTES_MAX];
static unsigned replayed;
static unsigned share;      /* of this child */
static unsigned shares = 1; /* how many there are */
static unsigned seen;

static void
replay_stream(FILE *stream, const char *path)
{
	const size_t size = fread(input, 1, sizeof(input), stream);
	/* A copy of just that size, so that a sanitizer sees a read behind its end. */
	uint8_t *copy = malloc(size == 0 ? 1 : size);
	if (copy == NULL || ferror(stream) != 0)
		broken(path, errno);
	memcpy(copy, input, size);
	alarm(SECONDS_MAX); /* hanging is a fault, too: SIGALRM ends the program */
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
	fprintf(stderr, "replay: %s\n", path); /* the last line tells which one was at fault */
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
