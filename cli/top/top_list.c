/* SPDX-License-Identifier: MIT */
#include "top/top_list.h"

#include <stdio.h>
#include <string.h>

char *
list_filter(struct top *top)
{
	return top->one[0] == '\0' ? top->rules.filter : top->filter;
}

void
list_to_text(struct top *top, size_t total, const char *thing, char text[LIST_TEXT_MAX])
{
	const char *filter = list_filter(top);
	size_t length = 0;
	if (top->rows.n != total)
		length = (size_t)sprintf(text, "%zu of ", top->rows.n);
	length += (size_t)sprintf(text + length, "%zu %s%s", total, thing, total == 1 ? "" : "s");
	if (filter[0] != '\0')
		length += (size_t)sprintf(text + length, ", filter '%.*s'", FILTER_SIZE, filter);
	if (top->one[0] == '\0' && top->rules.busy_only)
		strcpy(text + length, ", idle hidden");
}

void
list_select(struct top *top)
{
	const bool any = top->row < top->rows.n;
	const size_t item = any ? top->rows.order[top->row] : 0;
	if (top->one[0] != '\0')
		top->process = any ? top->snapshot.owners[item] : (struct tsem_owner){.pid = 0};
	else
		strcpy(top->selected, any ? top->model.lines[item].name : "");
}

/* 2: it is what was selected; 1: another hold or wait of the selected process; 0: neither. */
static int
likeness(const struct top *top, size_t item)
{
	if (top->one[0] == '\0')
		return strcmp(top->model.lines[item].name, top->selected) == 0 ? 2 : 0;
	const struct tsem_owner *owner = &top->snapshot.owners[item];
	if (owner->pid != top->process.pid || owner->pid_ns != top->process.pid_ns)
		return 0;
	return owner->ticket == top->process.ticket ? 2 : 1;
}

static void
find_selected(struct top *top)
{
	int best = 0;
	for (size_t i = 0; i < top->rows.n && best < 2; i++) {
		const int like = likeness(top, top->rows.order[i]);
		if (like > best) {
			best = like;
			top->row = i;
		}
	}
	if (top->row >= top->rows.n)
		top->row = top->rows.n > 0 ? top->rows.n - 1 : 0;
	list_select(top);
}

void
list_arrange(struct top *top)
{
	if (top->one[0] == '\0')
		rows_of_semaphores(&top->rows, &top->model, &top->rules);
	else
		rows_of_processes(&top->rows, &top->snapshot, top->filter);
	if (top->one[0] != '\0' && top->error != 0)
		top->rows.n = 0; /* the snapshot is that of an earlier look */
	find_selected(top);
}

const struct tsem_owner *
list_selected_process(const struct top *top)
{
	return top->one[0] != '\0' && top->process.pid != 0 ? &top->process : NULL;
}

void
list_scroll(struct top *top, size_t room)
{
	const size_t n = top->rows.n;
	if (top->row < top->first)
		top->first = top->row;
	if (room > 0 && top->row >= top->first + room)
		top->first = top->row - room + 1;
	if (top->first + room > n)
		top->first = n > room ? n - room : 0;
}
