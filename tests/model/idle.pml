/* SPDX-License-Identifier: MIT */
/* lib/calls/idle.c, in configurations that define IDLERS. */

#ifdef MUTANT_IDLER_DOES_NOT_BUMP
#define bump_before_look() skip
#else
#define bump_before_look() bump_grants()
#endif

/* `quits`: the deadline may pass at any moment; otherwise there is none. The look before the bit is set is left out. */
inline sleep_until_idle(kind, quits)
{
	do
	:: STEP(cs_seen = idle);
#ifdef MUTANT_PENDING_SET_AFTER_LOOK
		census_is_idle(kind);
		STEP(pending = pending | pending_bits(kind));
		bump_before_look();
#else
		STEP(pending = pending | pending_bits(kind));
		bump_before_look();
		census_is_idle(kind);
#endif
		if
		:: cs_idle || quits -> break
		:: !cs_idle
		fi;
		STEP(if
		     :: idle == cs_seen -> asleep[me] = idle_sleep_code(kind)
		     :: else
		     fi);
		cs_seen = 0;
		if
		OR_DIE
		:: d_step { !asleep[me] -> skip }
		:: d_step { quits && asleep[me] -> asleep[me] = 0 }
		:: d_step { over -> asleep[me] = 0 };
			goto gone
		fi
	od;
	cs_seen = 0;
	notify_forget(kind)
}

#define IDLER(name, kind) IDLER_OF(name, kind, false)
#define IDLE_QUITTER(name, kind) IDLER_OF(name, kind, true)

#define IDLER_OF(name, kind, quits) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		IDLER_LOCALS; \
		BEGINS(me); \
		sleep_until_idle(kind, quits); \
		goto gone; \
	dies: atomic { die(); FORGET; FORGET_IDLER }; \
	gone: atomic { FORGET; FORGET_IDLER } \
	}
