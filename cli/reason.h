/* SPDX-License-Identifier: MIT */
/* Why a request has to wait: one judgement for the waiting line, `show`, `list` and `top`. */
#ifndef TSEM_CLI_REASON_H
#define TSEM_CLI_REASON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process.h"
#include "tsem.h"

/* Of several that apply, the first of this list is the reason. */
enum reason_kind {
	REASON_NONE,      /* no process waits, and a permit is available */
	REASON_DRAINED,   /* the capacity was set to 0 */
	REASON_CAPACITY,  /* the first waiter wants more than exist since the capacity was lowered */
	REASON_UNPOSTED,  /* the first waiter wants more than have ever been posted or created */
	REASON_TAKEN,     /* permits were taken anonymously and not posted back */
	REASON_DEAD,      /* a holder is dead, and no process has recovered its permits yet */
	REASON_STOPPED,   /* a holder is stopped */
	REASON_UNKNOWN,   /* whether a holder is dead cannot be told from here */
	REASON_FIRST,     /* permits are kept for the first waiter, which wants more */
	REASON_CONTAINER, /* a holder is in another container */
	REASON_HELD,
	REASON_KINDS
};

/* Of several holders, the worst is named. */
enum holder_state { HOLDER_RUNS, HOLDER_ELSEWHERE, HOLDER_UNKNOWN, HOLDER_STOPPED, HOLDER_DEAD };

struct reason {
	enum reason_kind kind;
	bool queued;                 /* a process waits */
	uint64_t wanted;             /* permits that the first waiter requests; without waiters, that the caller asks for */
	uint64_t free;               /* permits that this request could have now */
	uint64_t held;               /* permits of recorded holders, dead ones included */
	uint64_t dead;               /* permits of dead holders */
	uint64_t anonymous;          /* permits that were taken without a recorded holder */
	uint32_t holders;            /* recorded ones */
	struct tsem_owner holder;    /* the oldest of those in the worst state */
	enum holder_state state;     /* of that one */
	const struct remote *remote; /* of that one; NULL: /proc tells of it */
};

/*
 * Notes each owner in the order of tsem_owners(), then concludes. `reason` is zeroed before the first call. True: the
 * remaining owners make no difference. `wanted`: how many permits the reader asks about if no process waits.
 */
bool reason_note(struct reason *reason, const struct tsem_owner *owner);
void reason_conclude(struct reason *reason, const struct tsem_stat *stat, uint32_t wanted);

/* The same for a process that requests nothing, but waits until no process holds or waits. */
void reason_conclude_use(struct reason *reason, const struct tsem_stat *stat);

/* A snapshot of `sem` and the reason in one call. `wanted` 0: every holder is noted. 0, or a negative errno. */
int reason_of(tsem *sem, uint32_t wanted, struct tsem_stat *stat, struct reason *reason);

/* With reason_conclude_use(). */
int reason_of_use(tsem *sem, struct tsem_stat *stat, struct reason *reason);

/* A stable word for scripts. */
const char *reason_word(enum reason_kind kind);

enum { REASON_BYTES_MAX = 640, REASON_COMMAND_MAX = 64 };

/* The command that would help: not told, told as " (tsem post x)", or as " (give it back with 'tsem post x')". */
enum hints { HINTS_NONE, HINTS_SHORT, HINTS_FULL };

/* How much a text tells. */
struct reason_form {
	bool brief;   /* for a table of the holders: names a holder only if something is wrong with it */
	bool compact; /* the reason itself, in few words, and nothing beside it */
	enum hints hints;
	size_t command_max; /* bytes of the holder's command, which comes with how long it has held; 0: neither */
};

extern const struct reason_form reason_brief;
extern const struct reason_form reason_full;

/* From the longest to the shortest, for what is only as wide as a terminal. The first is reason_full. */
enum { REASON_FORMS = 4 };
extern const struct reason_form *const reason_forms[REASON_FORMS];

/* A part of a sentence for people; empty if there is nothing to tell. `name`: of the semaphore, for the hints. */
void reason_to_text(const struct reason *reason, const struct tsem_stat *stat, const char *name,
                    const struct reason_form *form, char text[REASON_BYTES_MAX]);

/* The same in the longest form that has at most `columns` bytes, or the shortest form. */
void reason_to_fit(const struct reason *reason, const struct tsem_stat *stat, const char *name, size_t columns,
                   char text[REASON_BYTES_MAX]);

/* The same of the holders that cannot be judged from here; empty if there are none, or if the owners cannot be read. */
void reason_of_unknown(tsem *sem, const char *name, char text[REASON_BYTES_MAX]);

#endif
