/* SPDX-License-Identifier: MIT */
/*
 * The jobs that were handed in by `run --bg`, for `wait --status`: a file beside the semaphores for each user, PID
 * namespace, session and name. It has a line for each job, "PID STATUS", in the order in which they were handed in.
 * Each job keeps a shared flock() on the file while it lives, so an exclusive lock means that all jobs have ended,
 * however. `wait --status` removes the file; a file whose session has ended is removed by the user's next `run --bg`.
 */
#ifndef TSEM_CLI_JOBS_H
#define TSEM_CLI_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

/* `wait --status` waits for this process from now on, and counts it once it is handed in. Dies of an error. */
void jobs_enter(const char *name, pid_t session);
void jobs_hand_in(void);

/* The job that was handed in has ended. */
void jobs_end(int status);

/* Removes the files of the user's sessions that have ended, if their jobs have, too. */
void jobs_remove_leftovers(void);

/* For `wait --status`, in this order. False: no jobs of this session were handed in. Dies of an error. */
bool jobs_open(const char *name);

/*
 * Waits until all jobs have ended: 0, -ETIMEDOUT or another error of flock(2). `deadline`: a time of CLOCK_MONOTONIC,
 * or NULL. A deadline in the past only looks.
 */
int jobs_wait(const struct timespec *deadline);

/* After a time-out: how many have not ended. `first`: the process of the first one. */
size_t jobs_count_running(int *first);

/* When all have ended: the status of the first job that failed, or 0. Removes the file. */
int jobs_collect(void);

#endif
