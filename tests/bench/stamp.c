/* SPDX-License-Identifier: MIT */
/* A command that appends to the file when it has begun and when it is about to end. Usage: stamp FILE */
#include <stdio.h>
#include <time.h>

static void
stamp(FILE *file, const char *what)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	fprintf(file, "%s %lld\n", what, (long long)now.tv_sec * 1000000000 + now.tv_nsec);
	fflush(file);
}

int
main(int argc, char *argv[])
{
	const struct timespec work = {.tv_nsec = 20000000};
	FILE *file = argc == 2 ? fopen(argv[1], "ae") : NULL;
	if (file == NULL)
		return 1;
	stamp(file, "begins");
	nanosleep(&work, NULL);
	stamp(file, "ends");
	return fclose(file) == 0 ? 0 : 1;
}
