/* SPDX-License-Identifier: MIT */
/*
 * Loads the module that prints tables. libsmartcols and its like take longer to load than the whole of `tsem run` takes
 * otherwise, and only `show` and `list` need them.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "config.h"
#include "view.h"

#define MODULE "tsem-view.so"

/* Beside the command itself (in a build directory), or where it is installed. */
static void *
load_module(void)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - sizeof(MODULE));
	if (length > 0) {
		path[length] = '\0';
		strcpy(strrchr(path, '/') + 1, MODULE); /* fits: room was left for it */
		if (access(path, R_OK) == 0)
			return dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return dlopen(TSEM_MODULE_DIR "/" MODULE, RTLD_NOW | RTLD_LOCAL);
}

int
cmd_view(const struct verb *verb, int argc, char **argv)
{
	void *module = load_module();
	if (module == NULL)
		return complain(NULL, "cannot load the part that prints tables: %s (install tsem again)", dlerror());
	view_fn *view;
	*(void **)&view = dlsym(module, VIEW_SYMBOL);
	if (view == NULL)
		return complain(NULL, "%s is of another version (install tsem again)", MODULE);
	return view(verb, argc, argv);
}
