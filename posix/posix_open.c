/* SPDX-License-Identifier: MIT */
/* sem_open(), sem_close(), sem_unlink(). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "named.h"
#include "posix_name.h"

/* Those that are open or have holds, and those that are neither: their memory stays, so that a later use is noticed. */
static struct named *all;
static struct named *unused;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int
named_fail(int rc)
{
	static const struct {
		int tsem, posix;
	} errors[] = {
		{EBADMSG, EINVAL}, {EPROTONOSUPPORT, EINVAL}, {EMLINK, EINVAL}, {EOPNOTSUPP, ENOSYS}, {EUSERS, ENOSPC},
	};
	errno = -rc;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (-rc == errors[i].tsem)
			errno = errors[i].posix;
	}
	return -1;
}

/* The same for what concerns the file. EPERM: it is that of another user, in a directory with the sticky bit. */
static int
fail_for_file(int rc)
{
	return named_fail(rc == -EPERM ? -EACCES : rc);
}

/* ---- fork ---- */

static void
lock(void)
{
	pthread_mutex_lock(&mutex);
}

static void
unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

static void
begin_child(void)
{
	for (struct named *named = all; named != NULL; named = named->next) {
		if (named->holds != NULL)
			holds_forget(named->holds);
	}
	unlock();
}

static void
watch_forks(void)
{
	pthread_atfork(lock, unlock, begin_child);
}

/* As soon as possible: handlers of the program that are registered later may call these functions, also in the child. */
static __attribute__((constructor)) void
watch_forks_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, watch_forks);
}

/* ---- the list, under the mutex; libtsem, which has a mutex of its own, is not called under it ---- */

static struct named *
find(const unsigned char uuid[16])
{
	struct named *named = all;
	while (named != NULL && memcmp(named->uuid, uuid, sizeof(named->uuid)) != 0)
		named = named->next;
	return named;
}

/* SEM_FAILED and NULL, too, may be closed: that fails. */
static struct named *
find_opened(const sem_t *sem)
{
	struct named *named = all;
	while (named != NULL && (const void *)named != (const void *)sem)
		named = named->next;
	return named != NULL && named->opened > 0 ? named : NULL;
}

/* NULL: no memory. */
static struct named *
add(tsem *handle, const unsigned char uuid[16], bool with_holds)
{
	struct holds *holds = with_holds ? holds_new() : NULL;
	struct named *named = unused != NULL ? unused : malloc(sizeof(struct named));
	if (named == NULL || (with_holds && holds == NULL)) {
		if (named != unused)
			free(named);
		holds_free(holds);
		return NULL;
	}
	if (named == unused)
		unused = named->next;
	*named = (struct named){.handle = handle, .holds = holds, .next = all};
	memcpy(named->uuid, uuid, sizeof(named->uuid));
	all = named;
	return named;
}

/* ---- open ---- */

struct request {
	char name[POSIX_NAME_BYTES];
	int flags;
	bool with_holds;
	struct tsem_config config;
};

/* Another process may create or unlink it at each moment. -EIDRM: `tsem remove -f` was killed before it could. */
static int
open_or_create(const struct request *request, tsem **handle)
{
	enum { TRIES = 100 };
	const bool creates = (request->flags & O_CREAT) != 0;
	const bool opens = !creates || (request->flags & O_EXCL) == 0;
	int rc = -ENOENT;
	for (int i = 0; i < TRIES; i++) {
		if (opens) {
			rc = tsem_open(request->name, request->config.flags & (TSEM_FOREIGN | TSEM_NO_DESCRIPTOR), handle);
			if (rc == -EIDRM)
				tsem_unlink(request->name, TSEM_FOREIGN);
			else if (rc != -ENOENT || !creates)
				break;
		}
		if (creates) {
			rc = tsem_create(request->name, &request->config, handle);
			if (rc != -EEXIST || !opens)
				break;
		}
	}
	return rc;
}

/* The semaphore of the handle, which may be open already; otherwise it takes the handle. NULL: no memory. */
static struct named *
open_named(tsem **handle, const unsigned char uuid[16], bool with_holds)
{
	struct named *named = find(uuid);
	if (named == NULL) {
		named = add(*handle, uuid, with_holds);
		if (named == NULL)
			return NULL;
		*handle = NULL;
	}
	named->opened++;
	atomic_store_explicit(&named->mark, NAMED_OPEN, memory_order_relaxed);
	return named;
}

static int
open_request(const struct request *request, struct named **named)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	tsem *handle = NULL;
	int rc = open_or_create(request, &handle);
	if (rc < 0)
		return rc;
	rc = tsem_stat(handle, &stat);
	if (rc == 0) {
		lock();
		*named = open_named(&handle, stat.uuid, request->with_holds);
		unlock();
		rc = *named == NULL ? -ENOMEM : 0;
	}
	tsem_close(handle);
	return rc;
}

static int
read_request(struct request *request, const char *posix, mode_t mode, unsigned value)
{
	int rc = posix_name(posix, request->name);
	if (rc < 0)
		return rc;
	request->with_holds = holds_are_wanted(posix);
	request->config = (struct tsem_config){
		.size = sizeof(request->config),
		.permits = value,
		.max = SEM_VALUE_MAX,
		.mode = mode & 0777,
		.flags = TSEM_FOREIGN | TSEM_UMASK | (request->with_holds ? 0 : TSEM_NO_DESCRIPTOR),
	};
	return value > SEM_VALUE_MAX ? -EINVAL : 0;
}

sem_t *
sem_open(const char *name, int flags, ...)
{
	struct request request = {.flags = flags};
	struct named *named = NULL;
	mode_t mode = 0;
	unsigned value = 0;
	int state;
	if ((flags & O_CREAT) != 0) {
		va_list arguments;
		va_start(arguments, flags);
		mode = va_arg(arguments, mode_t);
		value = va_arg(arguments, unsigned);
		va_end(arguments);
	}
	watch_forks_once();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	int rc = read_request(&request, name, mode, value);
	if (rc == 0)
		rc = open_request(&request, &named);
	pthread_setcancelstate(state, &state);
	if (rc == 0)
		return (sem_t *)(void *)named;
	fail_for_file(rc);
	return SEM_FAILED;
}

/* ---- close, unlink ---- */

/*
 * One that is closed stays behind the scenes while it has holds, which only its handle can release, or a sem_post() is still
 * under way: the thread that got its permit may close the semaphore. Copies another one to `*idle`, for its end.
 */
static bool
take_out_idle(struct named *idle)
{
	struct named *named;
	for (struct named **at = &all; (named = *at) != NULL; at = &named->next) {
		if (named->opened > 0 || (named->holds != NULL && !holds_are_idle(named->holds)))
			continue;
		*idle = (struct named){.handle = named->handle, .holds = named->holds};
		*at = named->next;
		named->next = unused;
		unused = named;
		return true;
	}
	return false;
}

static void
close_idle(void)
{
	struct named idle;
	bool found;
	do {
		lock();
		found = take_out_idle(&idle);
		unlock();
		if (found) {
			tsem_close(idle.handle);
			holds_free(idle.holds);
		}
	} while (found);
}

int
sem_close(sem_t *sem)
{
	lock();
	struct named *named = find_opened(sem);
	if (named != NULL && --named->opened == 0)
		atomic_store_explicit(&named->mark, NAMED_CLOSED, memory_order_relaxed);
	unlock();
	close_idle();
	return named != NULL ? 0 : named_fail(-EINVAL);
}

int
sem_unlink(const char *posix)
{
	char name[POSIX_NAME_BYTES];
	int rc = posix_name(posix, name);
	if (rc == 0)
		rc = tsem_unlink(name, TSEM_FORCE | TSEM_FOREIGN);
	else if (rc == -EINVAL)
		rc = -ENOENT; /* no semaphore has such a name, and POSIX knows no EINVAL here */
	return rc == 0 ? 0 : fail_for_file(rc);
}
