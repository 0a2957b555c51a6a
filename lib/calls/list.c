/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "cancellation.h"
#include "name.h"
#include "tsem.h"

static int
is_semaphore(const struct dirent *entry)
{
	return name_from_file(entry->d_name) != NULL;
}

int
tsem_list(tsem_name_fn *each, void *arg)
{
	NO_CANCELLATION;
	struct dirent **entries;
	/* versionsort() sorts sem.2 before sem.10. alphasort() depends on the locale. */
	const int n = scandir(SHM_DIRECTORY, &entries, is_semaphore, versionsort);
	if (n < 0)
		return -errno;
	int rc = 0;
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = each(name_from_file(entries[i]->d_name), arg);
		free(entries[i]);
	}
	free(entries);
	return rc;
}
