/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <locale.h>

__attribute__((visibility("default"))) view_fn VIEW_ENTRY;

int
VIEW_ENTRY(const struct verb *verb, int argc, char **argv)
{
	struct options o;
	setlocale(LC_CTYPE, ""); /* the width of what is printed depends on it */
	int status = options_parse(verb, argc, argv, &o);
	if (status < 0)
		status = check_stdout(o.name) == EXIT_DONE ? -1 : EXIT_TSEM_FAILED;
	if (status >= 0)
		return status;
	return view_run(verb, &o);
}
