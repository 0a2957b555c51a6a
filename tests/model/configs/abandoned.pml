/* SPDX-License-Identifier: MIT */
/*
 * The notice that a holder has died: `abandoned` in lib/recovery/recover_record.c, hold.c and transfer.c by itself. One permit.
 * A holder has died. Two processes recover it, and two more hold the permit one after the other, the first of which may
 * hand its hold over. Of all these but one recoverer two may die at any step. Of the protocol only this is left: HELD
 * -> RELEASING by a CAS, and then G moves once.
 */
#define IDLE 0
#define HELD 1
#define RELEASING 2
#define LAST 3 /* holds: of the dead holder, of the first, of the second */

byte state[LAST]; /* of each hold's record */
bool dead[LAST];  /* its owner */
bool free;        /* G has moved: the permit is available */
bool abandoned;
byte crashes_left = 2;

/* The witness. */
bool unheard = true; /* a holder has died or handed over a hold with the notice, and no live one was told since */
bool knows[LAST];
hidden byte death_is_told;
#define PROMISE(name, condition) name = (condition); assert(name)

#define OR_DIE :: atomic { mortal && crashes_left > 0 -> crashes_left--; goto dies }
#define STEP(access) if OR_DIE :: d_step { access } fi

inline recover(h)
{
	if
	:: dead[h] ->
		STEP(seen = state[h]);
		if
		:: seen == HELD ->
#ifdef MUTANT_ABANDONED_AFTER_STATE
			if
			OR_DIE
			:: d_step { state[h] == HELD -> state[h] = RELEASING };
				STEP(abandoned = true)
			:: d_step { state[h] != HELD -> skip }
			fi
#elif defined(MUTANT_ABANDONED_AFTER_G)
			STEP(if :: state[h] == HELD -> state[h] = RELEASING :: else fi);
			STEP(if :: state[h] == RELEASING -> state[h] = IDLE; free = true :: else fi);
			STEP(abandoned = true)
#else
			STEP(abandoned = true);
			STEP(if :: state[h] == HELD -> state[h] = RELEASING :: else fi)
#endif
		:: else
		fi;
		/* The move of G and what follows it, exactly once. */
		STEP(if :: state[h] == RELEASING -> state[h] = IDLE; free = true :: else fi);
		seen = 0
	:: else
	fi
}

#define is_to_be_recovered(h) (dead[h] && state[h] != IDLE)

proctype recoverer(bool mortal)
{
	byte seen;
end:
	do
	:: is_to_be_recovered(0) -> recover(0)
	:: is_to_be_recovered(1) -> recover(1)
	:: is_to_be_recovered(2) -> recover(2)
	od;
dies:
	skip
}

/* consume_abandonment(): a look, and an exchange. */
inline fill_hold(h)
{
	if
	OR_DIE
	:: d_step { !abandoned -> skip }
	:: abandoned ->
		STEP(knows[h] = abandoned;
		     if
		     :: abandoned -> unheard = false
		     :: else
		     fi;
		     abandoned = false)
	fi
}

/* tsem_hand_over() to a live process that cannot be told. */
inline hand_over(h)
{
#ifdef MUTANT_HANDED_OVER_BEFORE_ABANDONED
	STEP(handed = true; unheard = unheard || knows[h]);
	if
	:: knows[h] -> STEP(abandoned = true)
	:: else
	fi
#else
	if
	:: knows[h] -> STEP(abandoned = true)
	:: else
	fi;
	STEP(handed = true; unheard = unheard || knows[h])
#endif
}

proctype holder(byte h)
{
	bool mortal = true;
	bool handed;
end:
	if
	OR_DIE
	:: d_step { free -> free = false; state[h] = HELD }
	fi;
	fill_hold(h);
	if
	:: h == 1 ->
		if
		:: hand_over(h)
		:: true
		fi
	:: else
	fi;
	/* Released by this process or by the new owner. */
	STEP(state[h] = RELEASING);
	STEP(state[h] = IDLE; free = true);
	goto gone;
dies:
	if
	:: handed && state[h] == HELD -> /* the new owner lives, and releases it */
		 d_step { state[h] = IDLE; free = true }
	:: else -> d_step { dead[h] = true; unheard = unheard || state[h] == HELD }
	fi;
gone:
	skip
}

/* When no process can move any more: a holder was told, or `abandoned` is still set. */
proctype rest()
{
	timeout -> PROMISE(death_is_told, !unheard || abandoned)
}

init
{
	atomic {
		state[0] = HELD;
		dead[0] = true;
		run recoverer(true);
		run recoverer(false);
		run holder(1);
		run holder(2);
		run rest()
	}
}
