/* SPDX-License-Identifier: MIT */
/*
 * The store: the keys that cli/etcd/semaphore.h describes. A transaction is one step.
 *
 * There are no revisions. A comparison of a transaction asks whether a key is as it was in a view, and a watch asks
 * whether it has changed since; so each view remembers what has changed since it was made. A key that is created again
 * has changed. A comparison of a range sees only the keys that are there. Tickets are places in the line.
 */
typedef semaphore {
	byte capacity;
	byte taken;
	byte waiter[CLIENTS]; /* the place in the line, from 1; 0: no such key */
	bool holder[CLIENTS];
	byte slots[CLIENTS];  /* of the holder, as bits */
	byte held             /* the clients that have a key in held/, as bits */
}
semaphore S[NAMES];
bool lease_lives[CLIENTS];

#define BIT(c) (1 << (c))
#define NOBODY CLIENTS

/* What a view shows, and what has changed since. */
typedef sight {
	byte capacity;
	byte taken;
	byte held;  /* permits that are not free */
	byte slots; /* in use */
	byte dead;  /* clients with a key in held/ and none in holders/, as bits */
	byte first; /* waiter */
	byte ahead; /* the waiter in front; the client itself: not known */
	bool waits; /* the client does */
	bool holds;
	bool config_changed;
	bool taken_changed;
	byte holders_came;    /* and are holders now, as bits */
	byte told;            /* of the dead */
	byte waiters_changed; /* as bits */
	byte holders_changed
}
typedef view {
	bool used;
	bool lease_ended; /* the request that it is for was made under a lease that has ended */
	sight name[NAMES]
}
view V[CLIENTS + 1]; /* the last one is that of a late request */

#define LATE CLIENTS
#define SEEN(v, n) V[v].name[n]

/* ---- the promises ---- */

#define PROMISE(name, condition) name = (condition); assert(name)
hidden byte within_capacity;
hidden byte first_come_first_served;
hidden byte slot_of_its_own;
hidden byte death_is_told;
hidden byte waits_or_holds;
hidden byte all_or_nothing;
hidden byte place_kept;
hidden byte leaves_nothing;
hidden byte books_balance;

byte are_taken; /* permits of S[0], by takes and posts */
byte died[NAMES]; /* the holders that ended without a release, and of whose end no holder was told, as bits */

hidden byte i_;
hidden byte j_;
hidden byte v_;
hidden byte sum_;
hidden byte bits_;
hidden byte oldest_;

/* Computes sum_, the permits that are not free, and bits_, the slots in use. */
inline count_permits(n)
{
	sum_ = S[n].taken;
	bits_ = 0;
	i_ = 0;
	do
	:: i_ < CLIENTS ->
		if
		:: S[n].holder[i_] ->
			sum_ = sum_ + COUNT(i_);
			bits_ = bits_ | S[n].slots[i_]
		:: else
		fi;
		i_++
	:: else -> break
	od
}

/* Computes oldest_, the client that is the first waiter. */
inline find_oldest(n)
{
	oldest_ = 0;
	do
	:: oldest_ < CLIENTS && S[n].waiter[oldest_] != 1 -> oldest_++
	:: else -> break
	od
}

/* ---- changes ---- */

#define FOR_EACH_VIEW(change) \
	v_ = 0; \
	do \
	:: v_ <= CLIENTS -> \
		if \
		:: V[v_].used -> change \
		:: else \
		fi; \
		v_++ \
	:: else -> break \
	od

inline change_config(n)
{
	FOR_EACH_VIEW(SEEN(v_, n).config_changed = true)
}

bool taken_since; /* the poster has looked */

inline change_taken(n, count)
{
	S[n].taken = count;
	taken_since = true;
	FOR_EACH_VIEW(SEEN(v_, n).taken_changed = true)
}

inline change_waiter(n, c)
{
	FOR_EACH_VIEW(SEEN(v_, n).waiters_changed = SEEN(v_, n).waiters_changed | BIT(c))
}

inline put_waiter(n, c)
{
	S[n].waiter[c] = 0;
	sum_ = 1;
	i_ = 0;
	do
	:: i_ < CLIENTS ->
		sum_ = (S[n].waiter[i_] != 0 -> sum_ + 1 : sum_);
		i_++
	:: else -> break
	od;
	S[n].waiter[c] = sum_;
	change_waiter(n, c)
}

/* All behind it move up. */
inline delete_waiter(n, c)
{
	if
	:: S[n].waiter[c] != 0 ->
		i_ = 0;
		do
		:: i_ < CLIENTS ->
			S[n].waiter[i_] = (S[n].waiter[i_] > S[n].waiter[c] -> S[n].waiter[i_] - 1 : S[n].waiter[i_]);
			i_++
		:: else -> break
		od;
		S[n].waiter[c] = 0;
		change_waiter(n, c)
	:: else
	fi
}

inline put_holder(n, c)
{
	S[n].holder[c] = true;
	FOR_EACH_VIEW(
		SEEN(v_, n).holders_came = SEEN(v_, n).holders_came | BIT(c);
		SEEN(v_, n).holders_changed = SEEN(v_, n).holders_changed | BIT(c))
}

inline delete_holder(n, c)
{
	S[n].holder[c] = false;
	S[n].slots[c] = 0;
	FOR_EACH_VIEW(
		SEEN(v_, n).holders_came = SEEN(v_, n).holders_came & ~BIT(c);
		SEEN(v_, n).holders_changed = SEEN(v_, n).holders_changed | BIT(c))
}

/* Of the dead in bits_. */
inline note_told(n)
{
	FOR_EACH_VIEW(SEEN(v_, n).told = SEEN(v_, n).told | bits_)
}

/* The keys of a lease that ends go in one transaction. */
inline end_lease(c)
{
	lease_lives[c] = false;
	V[c].lease_ended = V[c].used;
	V[LATE].lease_ended = V[LATE].lease_ended || (V[LATE].used && late_client == c);
	j_ = 0;
	do
	:: j_ < NAMES ->
		delete_waiter(j_, c);
		if
		:: S[j_].holder[c] ->
			died[j_] = died[j_] | BIT(c);
			delete_holder(j_, c)
		:: else
		fi;
		j_++
	:: else -> break
	od
}

/* ---- views ---- */

/* line_read_view(). A view shows the waiter in front only to a client that knew its ticket before. */
inline look_at(c, n)
{
	SEEN(c, n).ahead = c;
	if
	:: SEEN(c, n).waits ->
		SEEN(c, n).ahead = 0;
		do
		:: SEEN(c, n).ahead < CLIENTS && S[n].waiter[SEEN(c, n).ahead] + 1 != S[n].waiter[c] ->
			SEEN(c, n).ahead++
		:: else -> break
		od;
		SEEN(c, n).ahead = (S[n].waiter[c] <= 1 -> NOBODY : SEEN(c, n).ahead)
	:: else
	fi;
	find_oldest(n);
	SEEN(c, n).first = oldest_;
	count_permits(n);
	SEEN(c, n).held = sum_;
	SEEN(c, n).slots = bits_;
	SEEN(c, n).capacity = S[n].capacity;
	SEEN(c, n).taken = S[n].taken;
	SEEN(c, n).waits = S[n].waiter[c] != 0;
	SEEN(c, n).holds = S[n].holder[c];
	SEEN(c, n).dead = S[n].held;
	i_ = 0;
	do
	:: i_ < CLIENTS ->
		SEEN(c, n).dead = (S[n].holder[i_] -> SEEN(c, n).dead & ~BIT(i_) : SEEN(c, n).dead);
		i_++
	:: else -> break
	od;
	SEEN(c, n).config_changed = false;
	SEEN(c, n).taken_changed = false;
	SEEN(c, n).holders_came = 0;
	SEEN(c, n).told = 0;
	SEEN(c, n).waiters_changed = 0;
	SEEN(c, n).holders_changed = 0
}

inline look(c)
{
	V[c].used = true;
	V[c].lease_ended = !lease_lives[c];
	j_ = 0;
	do
	:: j_ < NAMES ->
		if
		:: WANTS(c, j_) -> look_at(c, j_)
		:: else
		fi;
		j_++
	:: else -> break
	od
}

#define COPY(field) SEEN(to, j_).field = SEEN(from, j_).field

inline copy_view(from, to)
{
	V[to].used = V[from].used;
	V[to].lease_ended = V[from].lease_ended;
	j_ = 0;
	do
	:: j_ < NAMES ->
		COPY(capacity); COPY(taken); COPY(held); COPY(slots); COPY(dead); COPY(first); COPY(ahead); COPY(waits); COPY(holds);
		COPY(config_changed); COPY(taken_changed); COPY(holders_came); COPY(told); COPY(waiters_changed); COPY(holders_changed);
		j_++
	:: else -> break
	od
}

/* A waiter needs no more than this, so that states differ in nothing else. */
inline rest(v)
{
	j_ = 0;
	do
	:: j_ < NAMES ->
		SEEN(v, j_).capacity = 0;
		SEEN(v, j_).taken = 0;
		SEEN(v, j_).held = 0;
		SEEN(v, j_).slots = 0;
		SEEN(v, j_).dead = 0;
		j_++
	:: else -> break
	od
}

inline forget(v)
{
	rest(v);
	V[v].used = false;
	V[v].lease_ended = false;
	j_ = 0;
	do
	:: j_ < NAMES ->
		SEEN(v, j_).first = 0;
		SEEN(v, j_).ahead = 0;
		SEEN(v, j_).waits = false;
		SEEN(v, j_).holds = false;
		SEEN(v, j_).config_changed = false;
		SEEN(v, j_).taken_changed = false;
		SEEN(v, j_).holders_came = 0;
		SEEN(v, j_).told = 0;
		SEEN(v, j_).waiters_changed = 0;
		SEEN(v, j_).holders_changed = 0;
		j_++
	:: else -> break
	od
}
