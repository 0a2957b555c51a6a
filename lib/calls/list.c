/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cancellation.h"
#include "name.h"
#include "tsem.h"

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct names {
	char **items;
	size_t n;
	size_t room;
};

static int
add_name(struct names *names, const char *name)
{
	if (names->n == names->room) {
		const size_t room = names->room == 0 ? 64 : names->room * 2;
		char **items = realloc(names->items, room * sizeof(*items));
		if (items == NULL)
			return -ENOMEM;
		names->items = items;
		names->room = room;
	}
	char *copy = strdup(name);
	if (copy == NULL)
		return -ENOMEM;
	names->items[names->n++] = copy;
	return 0;
}

static int
collect_names(struct names *names)
{
	DIR *directory = opendir(SHM_DIRECTORY);
	if (directory == NULL)
		return -errno;
	int rc = 0;
	const struct dirent *entry;
	while (rc == 0 && (entry = readdir(directory)) != NULL) {
		const char *name = name_from_file(entry->d_name);
		if (name != NULL)
			rc = add_name(names, name);
	}
	closedir(directory);
	return rc;
}

int
tsem_list(tsem_name_fn *each, void *arg)
{
	NO_CANCELLATION;
	struct names names = {0};
	int rc = collect_names(&names);
	if (rc == 0 && names.n > 0)
		qsort(names.items, names.n, sizeof(*names.items), by_name);
	for (size_t i = 0; i < names.n; i++) {
		if (rc == 0)
			rc = each(names.items[i], arg);
		free(names.items[i]);
	}
	free(names.items);
	return rc;
}
