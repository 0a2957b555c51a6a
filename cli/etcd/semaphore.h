/* SPDX-License-Identifier: MIT */
/*
 * A semaphore on etcd. All keys lie below PREFIX/NAME/; ID is the lease of a `tsem run`, as 16 hexadecimal digits:
 *
 *   config       permits, capacity, uuid; its create revision distinguishes semaphores of the same name
 *   waiters/ID   leased; its create revision is the ticket
 *   holders/ID   leased; its create revision is the fence
 *   held/ID      not leased; without holders/ID, that holder died with its permits
 *   anonymous    the number of permits that `tsem take` took
 */
#ifndef TSEM_CLI_ETCD_SEMAPHORE_H
#define TSEM_CLI_ETCD_SEMAPHORE_H

#include "etcd/taken.h"
#include "etcd/txn.h"
#include "etcd/wire.h"
#include "options.h"
#include "view/snapshot.h"

struct semaphore_on_etcd {
	struct store store;
	const char *name; /* the first one; of a store, each one in turn */
	struct wire *wire;
	int64_t revision;     /* of the store, at the last answer */
	struct taken taken;   /* at the last snapshot, or with the last config */
	size_t silent;        /* the number of requests in a row that no member answered */
	bool lost;            /* the answer to a change did not come: it may be done */
	uint64_t deadline_ns; /* until when the store has to answer, CLOCK_MONOTONIC */
	uint64_t patience_ns; /* no answer is no reason to die; each request has so much time. 0: not so */
	bool goes_on;         /* a refusal is no reason either */
	bool complained;      /* of silence, or is not to */
	bool lease_missing;   /* a transaction was refused because a lease that it names has ended */
};

/* All its keys. Others below PREFIX/NAME/ may be those of semaphores whose PREFIX that is. */
enum { ETCD_PARTS = 5 };
extern const char *const etcd_parts[ETCD_PARTS];

/* For the semaphore that o->name names, or for those of the store. Dies of a mistake in the name. */
void etcd_open(struct semaphore_on_etcd *sem, const struct options *o);
void etcd_open_store(struct semaphore_on_etcd *sem, const struct options *o, const struct store *store);

void etcd_close(struct semaphore_on_etcd *sem);

/* The key of the semaphore that ends with `rest`. */
void etcd_key(const struct semaphore_on_etcd *sem, const char *rest, char key[KEY_BYTES_MAX]);
void etcd_key_of(const struct store *store, const char *name, const char *rest, char key[KEY_BYTES_MAX]);

/* A transaction that reads these `n` keys or folders. */
json_t *etcd_ranges(const struct semaphore_on_etcd *sem, const char *const rests[], size_t n);

/*
 * Commits `txn`, which it frees. Dies if the store refuses it, or cannot be reached until the deadline. False: it is not
 * known whether the store has done it, so the caller looks and tries again. If a lease is missing, the answer is empty.
 */
bool etcd_commit(struct semaphore_on_etcd *sem, enum effect effect, json_t *txn, json_t **answer);

/* Says that no member answers. */
_Noreturn void etcd_die_of_silence(const struct semaphore_on_etcd *sem);

/* ---- config ---- */

struct config {
	uint32_t permits;
	uint32_t capacity;
	char uuid[37];
	int64_t created; /* seconds since the Epoch */
	uid_t uid;       /* of the creator, on its machine */
	int64_t create_revision;
	int64_t mod_revision;
};

/* A negative errno if the value is not that of a semaphore, or of another version of tsem. */
int config_read(const struct kv *kv, struct config *config);

json_t *config_to_json(const struct config *config);

/* Say what is wrong, for an error of config_read() or -ENOENT. */
void complain_of_config(const struct semaphore_on_etcd *sem, int error);
_Noreturn void die_of_config(const struct semaphore_on_etcd *sem, int error);

/* Dies if `permits` are neither those that the semaphore was created with nor its capacity. */
void config_check_permits(const struct semaphore_on_etcd *sem, const struct config *config, uint32_t permits);

/*
 * Creates the semaphore, with `taken` of its permits taken. False: there is one, which `config` then describes. Dies if
 * keys of another program are in its place.
 */
bool etcd_create(struct semaphore_on_etcd *sem, uint32_t permits, uint32_t taken, struct config *config);

/* Reads the present one. False: there is no such semaphore. Dies if it cannot be read. */
bool etcd_read_config(struct semaphore_on_etcd *sem, struct config *config);

/* ---- state ---- */

/* The semaphore at one revision. 0, or a negative errno: -ENOENT if there is none, and those of config_read(). */
int etcd_snapshot(struct semaphore_on_etcd *sem, struct snapshot *snapshot);

#endif
