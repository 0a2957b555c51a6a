/* SPDX-License-Identifier: MIT */
#define NCURSES_WIDECHAR 1
#include "top/prompt.h"

#include <ncurses.h>
#include <string.h>

bool
prompt_is_enter(int key)
{
	return key == '\r' || key == '\n' || key == KEY_ENTER;
}

bool
prompt_is_escape(int key)
{
	return key == '\x1b';
}

bool
prompt_is_backspace(int key)
{
	return key == KEY_BACKSPACE || key == '\x7f' || key == '\b';
}

/* The keyboard sends a character of UTF-8 byte by byte, but one key removes all of it. */
static size_t
without_last_character(const char *text, size_t length)
{
	while (length > 0 && ((unsigned char)text[length - 1] & 0xc0) == 0x80)
		length--;
	return length > 0 ? length - 1 : 0;
}

void
prompt_edit(char *text, size_t size, int key)
{
	const size_t length = strlen(text);
	if (prompt_is_backspace(key)) {
		text[without_last_character(text, length)] = '\0';
	} else if (key >= ' ' && key <= 0xff && length + 1 < size) {
		text[length] = (char)key;
		text[length + 1] = '\0';
	}
}
