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

const char *
names_in(const char *operand)
{
	const char *slash = strrchr(operand, '/');
	const char *colon = strchr(operand, ':');
	return slash != NULL ? slash + 1 : colon != NULL ? colon + 1 : operand;
}

void
name_at(const char *operand, size_t i, char *name, size_t size)
{
	const char *begin = names_in(operand);
	const char *names = begin;
	for (; i > 0; i--)
		names += strcspn(names, ",") + 1;
	snprintf(name, size, "%.*s%.*s", (int)(begin - operand), operand, (int)strcspn(names, ","), names);
}
