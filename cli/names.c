/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <stdio.h>
#include <string.h>

bool
is_name(const char *text, size_t length)
{
	/* isalnum() depends on the locale, and the library does not. */
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	return length > 0 && length < NAME_TEXT_MAX && text[0] != '.' && text[0] != '-' && strspn(text, allowed) >= length;
}

void
name_at(const char *names, size_t i, char name[NAME_TEXT_MAX])
{
	for (; i > 0; i--)
		names += strcspn(names, ",") + 1;
	snprintf(name, NAME_TEXT_MAX, "%.*s", (int)strcspn(names, ","), names);
}
