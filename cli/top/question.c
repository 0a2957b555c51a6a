/* SPDX-License-Identifier: MIT */
#include "top/question.h"

#include <stdio.h>
#include <string.h>

#include "top/top_list.h"
#include "top/prompt.h"

bool
question_begin(struct top *top, int key)
{
	const char *name = top->one[0] != '\0' ? top->one : top->selected;
	const struct tsem_owner *selected = list_selected_process(top);
	const struct action *action = find_action(key, selected);
	if (action == NULL)
		return false;
	if (name[0] == '\0' || (action->refuse != NULL && action->refuse(selected, top->message)))
		return true;
	top->action = action;
	target_note(&top->target, name, &top->snapshot.stat, action->scope == ON_SEMAPHORE ? NULL : selected);
	top->typed[0] = '\0';
	top->asking = action->argument != NULL ? ASK_ARGUMENT : ASK_CONFIRM;
	return true;
}

static void
answer_argument(struct top *top, int key)
{
	const struct argument *argument = top->action->argument;
	uint32_t number;
	if (prompt_is_escape(key)) {
		top->asking = ASK_NOTHING;
		return;
	}
	if (!prompt_is_enter(key)) {
		prompt_edit(top->typed, sizeof(top->typed), key);
		return;
	}
	if (top->typed[0] == '\0')
		strcpy(top->typed, argument->standard);
	top->asking = argument->parse(top->typed, &number) ? ASK_CONFIRM : ASK_NOTHING;
	if (top->asking == ASK_NOTHING)
		snprintf(top->message, sizeof(top->message), "'%s' %s", top->typed, argument->mistake);
}

static void
answer_confirm(struct top *top, int key)
{
	const struct argument *argument = top->action->argument;
	uint32_t number = 0;
	top->asking = ASK_NOTHING;
	if (key != 'y' && key != 'Y')
		snprintf(top->message, sizeof(top->message), "nothing was done");
	else if (argument == NULL || argument->parse(top->typed, &number))
		perform(top->action, top->o, &top->target, number, top->message);
}

void
question_key(struct top *top, int key)
{
	if (top->asking == ASK_ARGUMENT)
		answer_argument(top, key);
	else
		answer_confirm(top, key);
}

void
question_to_text(const struct top *top, char *text, size_t size)
{
	const struct argument *argument = top->action->argument;
	const char *target = top->target.text;
	if (top->asking == ASK_ARGUMENT)
		snprintf(text, size, "%s %s: %s_ (Enter, or Esc)", argument->name, target, top->typed);
	else if (argument != NULL)
		snprintf(text, size, "%s %s %s %s? (y/n)", top->action->question, target, argument->joint, top->typed);
	else
		snprintf(text, size, "%s %s? (y/n)", top->action->question, target);
}
