/* SPDX-License-Identifier: MIT */
/*
 * lib/records/presence.c, in configurations that define LOCKS: there, no judge knows the number of a process, and every judge
 * sees only the locks. In all others, a judge sees the death itself.
 */
#ifndef LOCKS
#define is_found_dead(w) (owner_is_orphan(w) || dead[owner_pid(w)])
#define JUDGE(index) STEP(rc_dead = is_found_dead(rc_owner))
#define LOCK_BEFORE_CLAIM
#define LOCK_AFTER_CLAIM
#define LOCK_BEFORE_ADOPTION
#else

byte locked; /* bit mask of the processes whose bytes are locked */

#define is_locked(p) ((locked >> (p)) & 1)

/* ---- the processes that get no lock ---- */

#ifndef LOCKLESS
#define LOCKLESS 0 /* bit mask. No process but a parent can find that they are dead, so MORTAL excludes them */
#endif
#define has_bit(p) (!((LOCKLESS >> (p)) & 1))

/* ---- taking the lock ---- */

inline presence_owner()
{
	STEP(locked = locked | (has_bit(me) -> 1 << me : 0))
}

#ifdef MUTANT_LOCKED_AFTER_CLAIM
#define LOCK_BEFORE_CLAIM
#define LOCK_AFTER_CLAIM ; presence_owner()
#else
#define LOCK_BEFORE_CLAIM presence_owner();
#define LOCK_AFTER_CLAIM
#endif

/* presence_of_child(): the byte of the child, locked by its copy of the parent's descriptor. */
#ifdef MUTANT_ADOPTED_WITHOUT_LOCK
#define LOCK_BEFORE_ADOPTION
#else
#define LOCK_BEFORE_ADOPTION presence_owner();
#endif

/* ---- judging by it ---- */

#ifdef MUTANT_UNKNOWN_IS_DEAD
#define has_locked(w) (!owner_is_handed(w))
#else
#define has_locked(w) (((w) & OWNER_LOCKED) != 0)
#endif
#define is_found_dead(w) (owner_is_orphan(w) || (has_locked(w) && !is_locked(owner_pid(w))))

/* In the other configurations that define LOCKS, no live process releases its lock. */
#ifdef CLOSES
byte unlocks;
#define JUDGE(index) presence_judge(index)
#else
#define JUDGE(index) STEP(rc_dead = is_found_dead(rc_owner))
#endif

/* rc_tickets is the first value of `unlocks`. It is tried once. */
inline presence_judge(index)
{
	STEP(rc_tickets = unlocks);
	STEP(rc_dead = (owner[index] == rc_owner));
	STEP(rc_dead = (rc_dead && is_found_dead(rc_owner)));
#ifndef MUTANT_UNLOCKS_IGNORED
	STEP(rc_dead = (rc_dead && unlocks == rc_tickets));
#endif
	rc_tickets = 0
}

/* ---- closing the handle ---- */

#ifdef MUTANT_CLOSE_FORGETS_HOLD
#define owns_a_record false
#elif RECORDS == 1
#define owns_a_record (owner[0] == owner_process(me))
#else
#define owns_a_record (owner[0] == owner_process(me) || owner[1] == owner_process(me))
#endif

inline presence_close()
{
	if
	OR_DIE
	:: d_step { owns_a_record -> skip }
	:: d_step { !owns_a_record -> skip };
#if defined(CLOSES) && !defined(MUTANT_UNLOCKED_BEFORE_COUNTED)
		STEP(unlocks++);
#endif
		STEP(locked = locked & ~(1 << me))
#ifdef MUTANT_UNLOCKED_BEFORE_COUNTED
		;
		STEP(unlocks++)
#endif
	fi
}
#endif

/* A parent can tell without a judge that its child has ended. */
#define is_ended_child(w, child) (owner_pid(w) == (child) && dead[child])
