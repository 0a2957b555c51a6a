/* SPDX-License-Identifier: MIT */
#include "jobserver/request.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "waiting.h"

static void
interrupt(int number)
{
	(void)number; /* the wait ends because a handler ran */
}

int
request_open(struct queued_request *request, tsem *sem)
{
	const struct sigaction action = {.sa_handler = interrupt};
	*request = (struct queued_request){.sem = sem, .ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	if (request->ready < 0)
		return -errno;
	sigaction(SIGRTMIN, &action, NULL);
	return 0;
}

void
request_close(struct queued_request *request)
{
	request_cancel(request);
	if (request->ready >= 0)
		close(request->ready);
}

static void *
wait_in_queue(void *arg)
{
	static const struct tsem_wait wait = {.size = sizeof(wait), .flags = TSEM_INTERRUPTIBLE};
	struct queued_request *request = arg;
	sigset_t interrupting;
	sigemptyset(&interrupting);
	sigaddset(&interrupting, SIGRTMIN);
	pthread_sigmask(SIG_UNBLOCK, &interrupting, NULL);
	request->result = tsem_acquire_wait(request->sem, 1, &wait, &request->hold);
	const uint64_t one = 1;
	ssize_t written = write(request->ready, &one, sizeof(one));
	(void)written; /* cannot fail: the counter is 0 */
	return NULL;
}

int
request_start(struct queued_request *request)
{
	const int error = pthread_create(&request->thread, NULL, wait_in_queue, request);
	request->pending = error == 0;
	return -error;
}

static int
settle(struct queued_request *request)
{
	uint64_t ones;
	ssize_t n = read(request->ready, &ones, sizeof(ones));
	(void)n;
	request->pending = false;
	return request->result;
}

int
request_finish(struct queued_request *request, tsem_hold *hold)
{
	pthread_join(request->thread, NULL);
	const int rc = settle(request);
	if (rc == 0)
		*hold = request->hold;
	return rc;
}

/* Repeats the signal, because one that arrives just before the thread goes to sleep has no effect. */
void
request_cancel(struct queued_request *request)
{
	static const struct timespec soon = {.tv_nsec = 500000};
	if (!request->pending)
		return;
	while (pthread_tryjoin_np(request->thread, NULL) == EBUSY) {
		pthread_kill(request->thread, SIGRTMIN);
		nanosleep(&soon, NULL);
	}
	if (settle(request) == 0)
		give_back_unused(&request->hold);
}
