/* SPDX-License-Identifier: MIT */
#include "pairs.h"

#include <string.h>

const struct setting settings[SETTINGS] = {
	{1, 1, false, false}, {2, 1, false, false}, {1, 1, true, true}, {3, 2, false, false}, {1, 1, true, false}};

static const char *const firsts[] = {"take",         "post",    "acquire",   "acquire-late", "acquire-cancel",
                                     "release",      "recover", "hand-over", "release-for",  "adopt",
                                     "adopt-orphan", "reap",    "cycle",     "take-late"};
static const char *const seconds[] = {"take",         "post",         "acquire",      "acquire-late",
                                      "release",      "release-for",  "release-same", "recover-acquire",
                                      "recover-late", "adopt-orphan", "recover",      "reap",
                                      "try",          "remove"};

enum { FIRSTS = sizeof(firsts) / sizeof(firsts[0]), SECONDS = sizeof(seconds) / sizeof(seconds[0]) };

/* The other pairs whose operations affect each other. */
static const struct {
	const char *first;
	const char *seconds[12];
} related[] = {
	{"set-lower",
     {"acquire", "release", "post", "take", "set-raise", "set-drain", "acquire-late", "recover-acquire", "try",
      "cancel", "wait-idle"}},
	{"set-drain", {"acquire", "set-raise", "set-lower"}},
	{"acquire", {"set-lower", "set-raise", "cancel"}},
	{"take", {"set-lower", "cancel"}},
	{"acquire-late", {"set-raise"}},
	{"acquire-few", {"acquire", "acquire-late", "acquire-few", "release", "recover"}},
	{"acquire", {"acquire-few"}},
	{"acquire-late", {"acquire-few"}},
	{"release", {"set-lower", "set-raise", "wait-idle", "wait-holders", "slots"}},
	{"release-first", {"release", "acquire", "recover-acquire", "set-lower", "wait-idle"}},
	{"post", {"set-lower", "set-raise", "wait-idle"}},
	{"post-max", {"set-lower", "wait-idle", "release", "post-max"}},
	{"post-bounded", {"acquire", "release", "cycle", "set-lower", "recover-acquire"}},
	{"set-exact", {"acquire", "release", "cycle", "recover-acquire"}},
	{"post-refused", {"acquire", "release", "cycle", "recover-acquire", "post-refused"}},
	{"acquire", {"post-bounded", "post-refused"}},
	{"release", {"post-bounded", "post-refused"}},
	{"cycle", {"post-bounded", "post-refused"}},
	{"recover", {"set-lower", "set-raise", "wait-idle", "slots", "post-refused"}},
	{"wait-idle", {"release"}},
	{"wait-holders", {"release"}},
	{"all", {"all", "any", "acquire"}},
	{"any", {"any", "any-beside", "release", "cancel"}},
	{"any-beside", {"acquire"}},
	{"post-take", {"post-take", "acquire", "release"}},
	{"cycle", {"slots"}},
	{"slots", {"slots"}},
	{"lend", {"cycle", "recover-acquire"}},
	{"end-loan", {"release-same", "recover-acquire", "acquire"}},
	{"remove", {"remove", "acquire", "take", "post"}},
	{"unlink", {"acquire", "acquire-late", "recover"}},
	{"acquire", {"unlink"}},
	{"remove-force", {"remove", "acquire", "take", "post"}},
};

enum { RELATED = sizeof(related) / sizeof(related[0]) };

static bool
is_applicable(const struct operation *operation, const struct setting *setting)
{
	if (setting->full)
		return (operation->flags & (IS_CHILD | IS_PARENT | NEEDS_OTHER | REMOVES | TAKES_FIRST)) == 0;
	return (operation->flags & NEEDS_FULL) == 0;
}

/* `only` is FIRST,SECOND. */
static bool
is_named(const char *only, const struct operation *first, const struct operation *second)
{
	const size_t length = strlen(first->name);
	return strncmp(only, first->name, length) == 0 && only[length] == ','
	       && strcmp(only + length + 1, second->name) == 0;
}

static void
add_pair(const char *only, const char *first_name, const char *second_name, const struct setting *setting,
         struct pair *pairs, size_t *n)
{
	const struct operation *first = operation_by_name(first_name);
	const struct operation *second = operation_by_name(second_name);
	if ((only == NULL || is_named(only, first, second)) && is_applicable(first, setting)
	    && is_applicable(second, setting))
		pairs[(*n)++] = (struct pair){.first = first, .second = second, .setting = setting};
}

size_t
pairs_collect(const char *only, struct pair pairs[PAIRS_MAX])
{
	size_t n = 0;
	for (size_t s = 0; s < SETTINGS; s++) {
		for (size_t f = 0; f < FIRSTS; f++) {
			for (size_t g = 0; g < SECONDS; g++)
				add_pair(only, firsts[f], seconds[g], &settings[s], pairs, &n);
		}
		for (size_t t = 0; t < RELATED; t++) {
			for (const char *const *second = related[t].seconds; *second != NULL; second++)
				add_pair(only, related[t].first, *second, &settings[s], pairs, &n);
		}
	}
	return n;
}
