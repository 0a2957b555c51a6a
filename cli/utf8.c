/* SPDX-License-Identifier: MIT */
#include "utf8.h"

size_t
utf8_length(const unsigned char *s, size_t available)
{
	size_t length;
	unsigned char low = 0x80;
	unsigned char high = 0xbf;
	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf) {
		length = 2;
	} else if ((s[0] & 0xf0) == 0xe0) {
		length = 3;
		low = s[0] == 0xe0 ? 0xa0 : low;
		high = s[0] == 0xed ? 0x9f : high;
	} else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		length = 4;
		low = s[0] == 0xf0 ? 0x90 : low;
		high = s[0] == 0xf4 ? 0x8f : high;
	} else {
		return 0;
	}
	if (length > available || s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++) {
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	}
	return length;
}

/* U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069. */
static bool
is_layout(const unsigned char *s)
{
	if (s[0] != 0xe2)
		return false;
	if (s[1] == 0x80)
		return s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae);
	return s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9;
}

bool
utf8_is_control(const unsigned char *s)
{
	return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0) || is_layout(s);
}
