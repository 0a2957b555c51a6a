/* SPDX-License-Identifier: MIT */
/* The texts say what happened, and in parentheses what to do. In "'tsem remove -f NAME'" the command puts the name. */
#include <errno.h>
#include <string.h>

#include "cancellation.h"
#include "tsem.h"

struct text {
	int error;
	const char *text;
};

static const struct text texts[] = {
	{0, "success"},
	{EAGAIN, "no permit is available"},
	{ETIMEDOUT, "no permit became available in time"},
	{EINTR, "a signal ended the wait"},
	{ECANCELED, "the wait was cancelled"},
	{EIDRM, "it was removed meanwhile (create it again with 'tsem create')"},
	{ENOENT, "no such semaphore (see 'tsem list'), or no such hold"},
	{EEXIST, "it already exists, or has another number of permits (see 'tsem show NAME')"},
	{EINVAL,
     "a name, a number or a flag is not valid (a name has 1 to 200 letters, digits, '.', '_' or '-', and does not "
     "start with '.' or '-')"},
	{ENAMETOOLONG, "the name is too long (use at most 200 characters)"},
	{EACCES, "permission denied (see 'ls -ld /dev/shm')"},
	{EPERM, "it belongs to another user or process, or is open for reading only"},
	{EBUSY, "it is in use, or another process is removing it or has a lease on its file (try again)"},
	{EOVERFLOW, "there would be more permits than its maximum, its bound or its counters allow"},
	{EBADMSG, "not a semaphore, or damaged (remove it with 'tsem remove -f NAME')"},
	{EPROTONOSUPPORT, "made by another version of tsem (use that version, or remove it with 'tsem remove -f NAME')"},
	{EMLINK, "the file has another name, a hard link (see 'find -samefile', and remove the wrong name)"},
	{EUSERS, "all 32,766 records are in use (wait until some jobs end)"},
	{ESRCH, "no such process, or it has ended"},
	{EXDEV, "it is in another PID namespace, where its number or its death cannot be told"},
	{ENOTUNIQ, "owners in several PID namespaces have this number (name the namespace, too)"},
	{EBADF, "it has no file, or the program has closed its descriptor"},
	{ENOSPC, "shared memory is full (free some space in /dev/shm)"},
	{EROFS, "shared memory is read-only (mount /dev/shm writable)"},
	{EOPNOTSUPP, "the kernel or the file system of /dev/shm lacks what tsem needs (mount a tmpfs there)"},
	{EFBIG, "the file size limit is too low (raise 'ulimit -f' to 2100 KiB or more)"},
	{ENOMEM, "not enough memory (raise 'ulimit -v', or close some programs)"},
	{EMFILE, "too many open files (raise 'ulimit -n')"},
	{ENFILE, "too many open files in the whole system (close some programs)"},
};

const char *
tsem_strerror(int error)
{
	enum { ERRORS_MAX = 4095 }; /* of Linux */
	const int positive = error < 0 && error >= -ERRORS_MAX ? -error : error;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i].error == positive)
			return texts[i].text;
	}
	NO_CANCELLATION; /* it may read the messages of the user's language */
	return strerror(positive);
}
