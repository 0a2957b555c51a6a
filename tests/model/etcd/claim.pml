/* SPDX-License-Identifier: MIT */
/* The transactions of cli/etcd/claim.c and cli/etcd/line.c, by the view `v` of the client `c`. ok_: whether it succeeded. */
hidden byte ok_;
hidden byte n_;
hidden byte k_;
hidden byte which_; /* the name that --any got; NAMES: all */

#ifdef SEVERAL
#define NAMES_OF(c) (ANY(c) || (WANTS(c, 0) && WANTS(c, 1)) -> 2 : 1)
#else
#define NAMES_OF(c) 1
#endif

/* guard() */
inline guard(v, n)
{
#ifndef MUTANT_GRANT_WITHOUT_CAPACITY_GUARD
	ok_ = ok_ && !SEEN(v, n).config_changed;
#endif
#ifndef MUTANT_GRANT_WITHOUT_TAKEN_GUARD
	ok_ = ok_ && !SEEN(v, n).taken_changed;
#endif
#ifndef MUTANT_GRANT_WITHOUT_HOLDERS_GUARD
	ok_ = ok_ && SEEN(v, n).holders_came == 0;
#endif
#ifndef MUTANT_TELLS_BY_OLD_VIEW
	ok_ = ok_ && (SEEN(v, n).dead & SEEN(v, n).told) == 0;
#endif
	skip
}

inline expect_no_waiter(n)
{
	i_ = 0;
	do
	:: i_ < CLIENTS ->
		ok_ = ok_ && S[n].waiter[i_] == 0;
		i_++
	:: else -> break
	od
}

/* choose_slots(): the lowest ones. */
inline choose_slots(n, c, used)
{
	bits_ = used;
	k_ = 0;
	i_ = 0;
	do
	:: k_ < COUNT(c) ->
		if
		:: (bits_ & BIT(i_)) == 0 ->
			S[n].slots[c] = S[n].slots[c] | BIT(i_);
			k_++
		:: else
		fi;
		i_++
	:: else -> break
	od
}

/* admit(): the client `c` becomes a holder, by the view `v`. `used`: the slots of those that stay. */
inline admit(v, n, c, used)
{
	find_oldest(n);
	PROMISE(first_come_first_served, oldest_ == NOBODY || oldest_ == c);
	delete_waiter(n, c);
	put_holder(n, c);
	count_permits(n);
	PROMISE(within_capacity, sum_ <= S[n].capacity);
	oldest_ = bits_;
	choose_slots(n, c, used);
	PROMISE(slot_of_its_own, (S[n].slots[c] & oldest_) == 0);
#ifndef MUTANT_DEAD_STAY
	S[n].held = S[n].held & ~SEEN(v, n).dead;
#endif
	PROMISE(death_is_told, (SEEN(v, n).dead & ~died[n]) == 0);
	died[n] = died[n] & ~SEEN(v, n).dead;
	bits_ = SEEN(v, n).dead;
	note_told(n);
	S[n].held = S[n].held | BIT(c)
}

/* line_has_turn() */
#define HAS_ROOM(v, n, c) (SEEN(v, n).held + COUNT(c) <= SEEN(v, n).capacity)
#define HAS_TURN_IN(v, n, c) (SEEN(v, n).first == (SEEN(v, n).waits -> c : NOBODY) && HAS_ROOM(v, n, c))

/* claim_has_turn() */
#if !defined(SEVERAL) || defined(MUTANT_FIRST_NAME_DECIDES)
#define HAS_TURN(c) HAS_TURN_IN(c, 0, c)
#else
#define HAS_TURN(c) \
	(ANY(c) -> HAS_TURN_IN(c, 0, c) || HAS_TURN_IN(c, 1, c) \
		: (!WANTS(c, 0) || HAS_TURN_IN(c, 0, c)) && (!WANTS(c, 1) || HAS_TURN_IN(c, 1, c)))
#endif

/* Whether the request is for this name. */
#define CONCERNS(n, c) (WANTS(c, n) && (which_ == NAMES || which_ == n))

/* claim_grant() */
inline grant(v, c)
{
	which_ = NAMES;
#ifdef SEVERAL
	if
	:: ANY(c) -> which_ = (HAS_TURN_IN(v, 0, c) -> 0 : 1)
	:: else
	fi;
#endif
	ok_ = lease_lives[c] && !V[v].lease_ended;
	n_ = 0;
	do
	:: n_ < NAMES ->
		if
		:: CONCERNS(n_, c) ->
			guard(v, n_);
			if
			:: !SEEN(v, n_).waits ->
#ifndef MUTANT_ENTERS_BESIDE_WAITERS
				expect_no_waiter(n_)
#endif
			:: else ->
#ifndef MUTANT_GRANT_WITHOUT_PLACE
				ok_ = ok_ && !(SEEN(v, n_).waiters_changed & BIT(c))
#endif
			fi
		:: else
		fi;
		n_++
	:: else -> break
	od;
	n_ = 0;
	do
	:: ok_ && n_ < NAMES ->
		if
		:: CONCERNS(n_, c) ->
			PROMISE(place_kept, !SEEN(v, n_).waits || S[n_].waiter[c] != 0);
			admit(v, n_, c, SEEN(v, n_).slots)
#ifndef MUTANT_ANY_STAYS_IN_LINE
		:: WANTS(c, n_) && !CONCERNS(n_, c) -> delete_waiter(n_, c)
#endif
		:: else
		fi;
		n_++
	:: else -> break
	od;
	if
	:: ok_ && v == c -> look(c) /* nothing else has changed, says the guard */
	:: else
	fi
}

/* claim_queue(). `mask`: the names, as bits. */
inline queue_in(v, c, mask)
{
	ok_ = lease_lives[c] && !V[v].lease_ended;
	n_ = 0;
	do
	:: n_ < NAMES ->
		if
		:: WANTS(c, n_) && (mask & BIT(n_)) ->
#ifndef MUTANT_QUEUES_ALTHOUGH_IT_HOLDS
			ok_ = ok_ && !S[n_].holder[c];
#endif
			ok_ = ok_ && S[n_].waiter[c] == 0
		:: else
		fi;
		n_++
	:: else -> break
	od;
	n_ = 0;
	do
	:: ok_ && n_ < NAMES ->
		if
		:: WANTS(c, n_) && (mask & BIT(n_)) ->
			PROMISE(waits_or_holds, !S[n_].holder[c]);
			put_waiter(n_, c)
		:: else
		fi;
		n_++
	:: else -> break
	od
}

#define queue(v, c) queue_in(v, c, 3)

/* claim_leave() */
inline leave(v, c)
{
	ok_ = true;
	n_ = 0;
	do
	:: n_ < NAMES ->
#ifndef MUTANT_LEAVES_ALTHOUGH_IT_HOLDS
		ok_ = ok_ && !S[n_].holder[c];
#endif
		n_++
	:: else -> break
	od;
	n_ = 0;
	do
	:: ok_ && n_ < NAMES ->
		PROMISE(leaves_nothing, !S[n_].holder[c]);
		delete_waiter(n_, c);
		n_++
	:: else -> break
	od
}

inline give_back(n, c)
{
	delete_holder(n, c);
	S[n].held = S[n].held & ~BIT(c)
}

/* release(): without a successor. */
inline release(v, c)
{
	ok_ = true;
	n_ = 0;
	do
	:: n_ < NAMES ->
		ok_ = ok_ && !(SEEN(v, n_).holds && (SEEN(v, n_).holders_changed & BIT(c)));
		n_++
	:: else -> break
	od;
	n_ = 0;
	do
	:: ok_ && n_ < NAMES ->
		if
		:: SEEN(v, n_).holds -> give_back(n_, c)
		:: else
		fi;
		n_++
	:: else -> break
	od
}

hidden byte next_;

/* line_has_successor() */
#ifdef MUTANT_HANDS_OVER_TO_SEVERAL
#define IS_ALONE(c) true
#else
#define IS_ALONE(c) (NAMES_OF(c) == 1)
#endif

/* release_by_view(): of one semaphore. */
inline hand_over(v, c)
{
#ifdef SEVERAL
	n_ = (SEEN(v, 0).holds -> 0 : 1);
#else
	n_ = 0;
#endif
	next_ = SEEN(v, n_).first;
	if
	:: next_ == NOBODY
	:: next_ != NOBODY && (!IS_ALONE(next_) || SEEN(v, n_).held - COUNT(c) + COUNT(next_) > SEEN(v, n_).capacity) ->
		next_ = NOBODY
	:: else
	fi;
	ok_ = !(SEEN(v, n_).holders_changed & BIT(c));
	if
	:: next_ != NOBODY ->
		guard(v, n_);
#ifndef MUTANT_HANDS_OVER_WITHOUT_PLACE
		ok_ = ok_ && !(SEEN(v, n_).waiters_changed & BIT(next_));
#endif
		ok_ = ok_ && lease_lives[next_]
	:: next_ == NOBODY && SEEN(v, n_).first == NOBODY -> expect_no_waiter(n_)
	:: else
	fi;
	if
	:: ok_ ->
		which_ = S[n_].slots[c];
		give_back(n_, c);
		if
		:: next_ != NOBODY ->
			PROMISE(place_kept, S[n_].waiter[next_] != 0);
			admit(v, n_, next_, SEEN(v, n_).slots & ~which_)
		:: else
		fi
	:: else
	fi
}

/* claim_take() */
inline take(v, c)
{
	ok_ = true;
#ifndef MUTANT_TAKES_BY_OLD_COUNT
	ok_ = ok_ && !SEEN(v, 0).taken_changed;
#endif
#ifndef MUTANT_TAKES_WITHOUT_FENCE
	ok_ = ok_ && !(SEEN(v, 0).holders_changed & BIT(c));
#endif
	if
	:: ok_ ->
		give_back(0, c);
		change_taken(0, SEEN(v, 0).taken + COUNT(c));
		are_taken = are_taken + COUNT(c);
		PROMISE(books_balance, S[0].taken == are_taken);
		count_permits(0);
		PROMISE(within_capacity, sum_ <= S[0].capacity)
	:: else
	fi
}
