/* SPDX-License-Identifier: MIT */
/*
 * lib/calls/slot.c by itself. Two permits, and three processes that hold, ask for a slot and release, twice each. They use
 * each other's records again, and one may die. Of the protocol only this is left: a hold begins, under a ticket that no
 * hold had before, when there is a permit; it ends by a step; the permit of a dead holder comes back.
 */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 2
#define NUMBERS 3 /* one more than the holds that there can be at once */
#define ROUNDS 2
#ifndef CRASHES
#define CRASHES 1
#endif

byte held[RECORDS];  /* the ticket that the record is HELD under; 0: it is not */
byte owner[RECORDS]; /* process + 1 */
byte slots[NUMBERS]; /* ticket << 2 | record + 1 */
byte tickets = 1;
byte crashes_left = CRASHES;

/* The witness: the slot that the holder was told. */
byte told[PROCESSES] = 255;
hidden byte slot_of_its_own;
hidden byte slot_stays;
hidden byte slot_below_capacity;
#define PROMISE(name, condition) name = (condition); assert(name)

#ifdef MUTANT_SLOT_WITHOUT_TICKET
#define slot_make(ticket, record) ((record) + 1)
#define is_taken(s) ((s) != 0 && held[((s) & 3) - 1] != 0)
#elif defined(MUTANT_STALE_BY_RECORD_ALONE)
#define slot_make(ticket, record) ((ticket) << 2 | ((record) + 1))
#define is_taken(s) ((s) != 0 && held[((s) & 3) - 1] != 0)
#else
#define slot_make(ticket, record) ((ticket) << 2 | ((record) + 1))
#define is_taken(s) ((s) != 0 && held[((s) & 3) - 1] == (s) >> 2)
#endif

#define OR_DIE :: atomic { crashes_left > 0 -> crashes_left--; goto dies }
#define STEP(access) if OR_DIE :: d_step { access } fi

/* For one permit. NUMBERS: no slot. */
inline find_own()
{
	i = 0;
	do
	:: i < NUMBERS ->
		STEP(ok = (slots[i] == own));
		if
		:: ok -> ok = false; break
		:: else -> i++
		fi
	:: else -> break
	od
}

/* `ok`: this hold has the slot. */
inline take_slot()
{
	do
	:: STEP(seen = slots[i]);
		if
		OR_DIE
		:: d_step { is_taken(seen) -> ok = false; seen = 0 };
			break
#ifdef MUTANT_SLOT_TAKEN_BY_STORE
		:: !is_taken(seen) ->
			STEP(slots[i] = own; ok = true; seen = 0);
			break
#else
		:: !is_taken(seen) ->
			if
			OR_DIE
			:: d_step { slots[i] == seen -> slots[i] = own; ok = true; seen = 0 };
				break
			:: d_step { slots[i] != seen -> seen = 0 }
			fi
#endif
		fi
	od
}

/* tsem_hold_slot() */
inline hold_slot()
{
	find_own();
	if
	:: i < NUMBERS
	:: else ->
		i = 0;
		do
		:: i < NUMBERS ->
			take_slot();
			if
			:: ok -> ok = false; break
			:: else -> i++
			fi
		:: else -> break
		od;
		find_own()
	fi
}

inline check_slot()
{
	j = 0;
	do
	:: j < PROCESSES -> PROMISE(slot_of_its_own, j == me || told[j] != i); j++
	:: else -> break
	od;
	j = 0;
	PROMISE(slot_below_capacity, i < CAPACITY);
	PROMISE(slot_stays, told[me] == 255 || told[me] == i);
	told[me] = i;
	i = 0
}

#define A_PERMIT (held[0] == 0 || held[1] == 0)

proctype holder(byte me)
{
	byte round, r, own, i, j, seen;
	bool ok;
	do
	:: round < ROUNDS ->
		atomic {
			A_PERMIT;
			r = (held[0] == 0 -> 0 : 1);
			held[r] = tickets;
			owner[r] = me + 1;
			own = slot_make(tickets, r);
			tickets++
		};
		hold_slot();
		atomic { check_slot() };
		hold_slot();
		atomic { check_slot() };
		if
		OR_DIE
		:: d_step { true -> held[r] = 0; owner[r] = 0; told[me] = 255; own = 0; r = 0 }
		fi;
		round++
	:: else -> break
	od;
	goto gone;
dies:
	/* The hold stays until a process recovers it, at any time from now on. */
	atomic { told[me] = 255; i = 0; j = 0; seen = 0; ok = false; own = 0 };
	d_step {
		if
		:: owner[r] == me + 1 -> held[r] = 0; owner[r] = 0
		:: else
		fi
	};
gone:
	skip
}

init { atomic { run holder(0); run holder(1); run holder(2) } }
