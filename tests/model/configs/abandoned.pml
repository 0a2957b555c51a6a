/* SPDX-License-Identifier: MIT */
/*
 * Whether somebody is told that a holder died: `abandoned` in lib/recover.c, hold.c and transfer.c by itself. One permit. A holder
 * has died; two recover it, and one after the other two more hold the permit, one of whom may hand its hold over. Of all these but
 * one recoverer two may die at any step. Of the protocol only this is left: HELD -> RELEASING by a CAS, then G moves once.
 */
#define IDLE 0
#define HELD 1
#define RELEASING 2
#define LAST 3 /* holds: the dead one's, the first's, the second's */

byte state[LAST]; /* of each hold's record */
bool dead[LAST];  /* its owner */
bool free;        /* G has moved: the permit can be had */
bool abandoned;
byte crashes_left = 2;

/* The witness. */
bool unheard = true; /* a holder has died, or has passed on what it was told, and no live holder was told since */
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
		/* The move of G and what follows it: exactly once, whoever does it. */
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

/* is_told_of_abandonment(): a look, and an exchange. */
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

/* tsem_hand_over(), to a process that lives and cannot be told: its owner from then on. */
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
	/* By itself or by its new owner. */
	STEP(state[h] = RELEASING);
	STEP(state[h] = IDLE; free = true);
	goto gone;
dies:
	if
	:: handed && state[h] == HELD -> d_step { state[h] = IDLE; free = true } /* the new owner lives, and releases it */
	:: else -> d_step { dead[h] = true; unheard = unheard || state[h] == HELD }
	fi;
gone:
	skip
}

/* Nothing can move any more: it was told, or the flag says that it is still to be told. */
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
