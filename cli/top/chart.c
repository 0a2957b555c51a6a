/* SPDX-License-Identifier: MIT */
#include "top/chart.h"

#include <langinfo.h>
#include <stdbool.h>
#include <string.h>

void
history_push(struct history *history, uint32_t waiting)
{
	if (history->n == HISTORY_MAX) {
		memmove(history->waiting, history->waiting + 1, (HISTORY_MAX - 1) * sizeof(history->waiting[0]));
		history->n--;
	}
	history->waiting[history->n++] = waiting;
}

static bool
has_blocks(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static char *
append(char *text, const char *glyph)
{
	const size_t length = strlen(glyph);
	memcpy(text, glyph, length + 1);
	return text + length;
}

void
sparkline(const struct history *history, size_t width, char *text)
{
	enum { LEVELS = 8 };
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const letters[] = {".", ":", "-", "=", "+", "*", "%", "#"};
	const char *const *levels = has_blocks() ? blocks : letters;
	const size_t first = history->n > width ? history->n - width : 0;
	uint32_t most = 1;
	for (size_t i = first; i < history->n; i++)
		most = history->waiting[i] > most ? history->waiting[i] : most;
	*text = '\0';
	for (size_t i = first; i < history->n; i++) {
		/* A single waiter is visible, whatever the maximum. */
		const uint64_t waiting = history->waiting[i];
		text = append(text, waiting == 0 ? " " : levels[(waiting * LEVELS - 1) / most]);
	}
}

void
bar(double share, size_t width, char *text)
{
	const bool blocks = has_blocks();
	size_t filled = share > 1 ? width : (size_t)(share * (double)width + 0.5);
	if (share > 0 && filled == 0)
		filled = 1;
	*text = '\0';
	for (size_t i = 0; i < width; i++)
		text = append(text, i < filled ? (blocks ? "█" : "#") : (blocks ? "░" : "."));
}
