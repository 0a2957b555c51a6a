/* SPDX-License-Identifier: MIT */
/* The list on either screen of `tsem top`. Its selection stays with a semaphore or a process when rows come and go. */
#ifndef TSEM_CLI_TOP_TOP_LIST_H
#define TSEM_CLI_TOP_TOP_LIST_H

#include "top/top.h"

enum { LIST_TEXT_MAX = 160 };

/* The filter of the list, which may be empty. */
char *list_filter(struct top *top);

/*
 * What is listed of `total` things, such as "5 of 40 semaphores, filter 'gpu'". `thing`: the singular.
 */
void list_to_text(struct top *top, size_t total, const char *thing, char text[LIST_TEXT_MAX]);

/* Arranges the rows after anything has changed, and finds the selected one again. rows_reserve() has made room. */
void list_arrange(struct top *top);

/* Selects what is in the row. */
void list_select(struct top *top);

/* NULL: none is selected, or the screen shows all semaphores. */
const struct tsem_owner *list_selected_process(const struct top *top);

/* Scrolls by as little as the selection needs. `room`: the number of lines. */
void list_scroll(struct top *top, size_t room);

#endif
