/* SPDX-License-Identifier: MIT */
/*
 * The steps of one `tsem run` through the line of a semaphore on etcd. Each step is one transaction whose guards make a
 * repeated or late request harmless. A QUEUE that arrives after the RELEASE is the exception: the final revocation of the
 * lease deletes its key.
 */
#ifndef TSEM_CLI_ETCD_LINE_H
#define TSEM_CLI_ETCD_LINE_H

#include "etcd/semaphore.h"

enum { ID_BYTES = 17 };

/* What a holder has been granted. */
struct granted {
	int64_t fence;
	bool recovered; /* an earlier holder died with its permits */
	size_t slots_n;
	uint32_t slots[TSEM_SLOTS_MAX];
};

struct line {
	struct semaphore_on_etcd *sem;
	const struct options *o;
	int64_t lease;
	char id[ID_BYTES]; /* the lease, in keys */
	pid_t pid;         /* of the holder or waiter that `tsem show` prints */
	pid_t command;     /* of the process that becomes the command */
	double since;      /* when it came, CLOCK_REALTIME */
	int64_t ticket;    /* the create revision of its key in waiters/; 0: it has none */

	/* The last view. */
	bool shows_only_us; /* as the only holder */
	json_t *answer;
	int64_t revision;
	int config_error; /* 0, or that of config_read() */
	struct config config;
	uint64_t held; /* also by no recorded holder */
	struct taken taken;
	bool has_waiters;
	struct kv first;                     /* of the waiters; its key is NULL if that is not text */
	char predecessor_key[KEY_BYTES_MAX]; /* of the waiter in front; "": not known */
};

/* What a view shows. */
enum place {
	PLACE_UNKNOWN, /* the store has not answered */
	PLACE_NONE,    /* neither holder nor waiter; line->config_error may say why */
	PLACE_WAITER,
	PLACE_FIRST,
	PLACE_HOLDER, /* `*grant` is set */
};

void line_begin(struct line *line, struct semaphore_on_etcd *sem, const struct options *o, int64_t lease, pid_t pid,
                pid_t command);
void line_end(struct line *line);

enum place line_look(struct line *line, struct granted *grant);

/* Whether the first waiter, or a process that comes while none waits, could have its permits. By the last view. */
bool line_has_room(const struct line *line);

/* Becomes a holder at once, if there is room and no waiter. False: it may have, or the view was too old. */
bool line_enter(struct line *line, struct granted *grant);

/* Becomes the last waiter. If that is certain, it has a ticket; otherwise the next view shows whether it has succeeded. */
void line_queue(struct line *line);

/* The first waiter grants itself its permits. As line_enter(). */
bool line_grant(struct line *line, struct granted *grant);

/*
 * A holder's permits become ones without a recorded holder. False: it is not known, or the number of these has changed
 * since the view.
 */
bool line_take(struct line *line, const struct granted *grant);

/* Stops waiting. False: it has become a holder, or it is not known. */
bool line_leave(struct line *line);

/* A holder reads a view in advance. If it shows no other holder, the release needs no read. */
void line_foresee(struct line *line);

/*
 * A holder gives its permits back. If the first waiter can have them, grants them to it in the same transaction, so that a
 * hand-over is one commit and one event. False: not known.
 */
bool line_release(struct line *line, const struct granted *grant);

/* The keys of the process itself. */
void line_key(const struct line *line, const char *folder, char key[KEY_BYTES_MAX]);

/* Reads a grant from the value of a key in holders/. */
bool grant_read(const struct kv *kv, struct granted *grant);

#endif
