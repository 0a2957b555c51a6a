/* SPDX-License-Identifier: MIT */
/*
 * Loads the module that prints tables, or the one that draws on the screen. libsmartcols and its like take longer to load
 * than the whole of `tsem run` takes otherwise; only `show` and `list` need them, and only `top` needs curses, too.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "config.h"
#include "view.h"

#define TABLES "tsem-view.so"
#define SCREEN "tsem-top.so"

/* Beside the command itself (in a build directory), or where it is installed. */
static void *
load_module(const char *module)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - sizeof(TABLES));
	if (length > 0) {
		path[length] = '\0';
		strcpy(strrchr(path, '/') + 1, module); /* fits: room was left for it */
		if (access(path, R_OK) == 0)
			return dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	snprintf(path, sizeof(path), "%s/%s", TSEM_MODULE_DIR, module);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

int
cmd_view(const struct verb *verb, int argc, char **argv)
{
	const char *name = strcmp(verb->name, "top") == 0 ? SCREEN : TABLES;
	void *module = load_module(name);
	if (module == NULL)
		return complain(NULL, "cannot load the part that prints tables: %s (install tsem again)", dlerror());
	view_fn *view;
	*(void **)&view = dlsym(module, VIEW_SYMBOL);
	if (view == NULL)
		return complain(NULL, "%s is of another version (install tsem again)", name);
	return view(verb, argc, argv);
}
