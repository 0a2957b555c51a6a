/* SPDX-License-Identifier: MIT */
/*
 * A program that was linked with an old glibc: it asks for other versions of the functions than a new one. With the library
 * preloaded, it gets those of the library all the same, which refuse a semaphore that is closed; glibc's would crash.
 */
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>

__asm__(".symver sem_open, sem_open@GLIBC_2.2.5");
__asm__(".symver sem_unlink, sem_unlink@GLIBC_2.2.5");
__asm__(".symver sem_close, sem_close@GLIBC_2.2.5");
__asm__(".symver sem_wait, sem_wait@GLIBC_2.2.5");

int
main(void)
{
	sem_t *sem = sem_open("/tsem-old-version", O_CREAT, 0600, 1);
	if (sem == SEM_FAILED || sem_unlink("/tsem-old-version") != 0 || sem_wait(sem) != 0 || sem_close(sem) != 0)
		return 1;
	return sem_wait(sem) == -1 && errno == EINVAL && sem_close(sem) == -1 && errno == EINVAL ? 0 : 1;
}
