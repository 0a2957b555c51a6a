/* SPDX-License-Identifier: MIT */
/*
 * Declared owners. A user may declare an owner dead if no process can judge it. The owner may be alive all the same.
 * Then it writes its record by plain stores (fast.h), at any time: it may compare HELD, stop for hours, and then store
 * RELEASING. These rules keep the counts right. t is the ticket of the hold, r its record, and b its release phase; the
 * owner is the one that was declared dead.
 *
 *   1. The record is never freed for an owner that may live. Only the owner itself, or a process that knows its death,
 *      uses it again.
 *   2. A declaration makes the state RELEASING(t), DECLARED by a compare-and-swap, and moves G with the tag (r, b), as
 *      for a dead owner.
 *   3. Before a process makes this state IDLE, or overwrites the tag (r, b) in G, it notes in `until` that G has moved
 *      for t (mark_returned()). No process claims the record until the note has been cleared.
 *   4. A process that moves G for RELEASING(t) looks for the note: after it has read G, and before it compares the
 *      state (move_grants()). G has moved if the note is there.
 *   5. The fast path moves G only if G's tag is (r, !b), the one before this release. That tag shows that no process
 *      has moved G for t.
 *
 * The late stores of an owner that lives, over any of these states:
 *
 *   RELEASING(t), of a release. If G has moved, G has the tag (r, b) or the note is there (3), so neither the owner
 *       (5, 4) nor a process that helps it (4) moves G again. A process that finishes the tag may also have made the
 *       record IDLE without a note; then the state is no longer RELEASING(t), which ends a release, too. The owner
 *       makes the record IDLE or CLAIMED, as after any release. It computes that state from the one that it had
 *       compared, so both phases flip exactly once. If G has not moved, the owner's compare-and-swap of G and that of
 *       the declaring process exclude each other, as in any release that two processes finish.
 *   HELD(t), of an acquire whose ticket was declared dead between its move of T and this store. A HELD state with the
 *       phase b while G has the tag (r, b) can come only from such a late store. A finisher of the tag notes then that
 *       G has moved (3). The release that follows is the case above. If G has not moved yet, the hold is as good as
 *       any, and the declaration is in vain, or begins anew.
 *   CLAIMED or IDLE, after a release that the owner has finished itself: the declaration came too late, and its
 *       compare-and-swaps fail, because no state with the ticket t comes again.
 *   The slow path of an acquire reads the state before it stores HELD, and gives up if the ticket is lost
 *       (state_is_lost()): HELD would have the phases of the next use. A take changes the state by compare-and-swap,
 *       because its permit is anonymous.
 *   The owner word, when the hold is handed over or adopted, or the ticket is given up. An adopted hold has another
 *       state, so the declaration fails. The owner of a HANDED or ORPHAN record never writes to its state. A process to
 *       which the owner hands the hold over between the judgement and the declaration loses the hold.
 *
 * What remains, and is promised so: an owner that lives goes on using what it held until it notices. Until then, the
 * holders may exceed the capacity by the permits that it held. All others stay within the capacity and in order. The
 * model checks this (tests/model/configs/declared*.pml).
 *
 * A declared waiter is QUEUED, DECLARED: it is skipped when E comes to it, as an orphan is, and gives up if it lives.
 */
#ifndef TSEM_LIB_DECLARE_H
#define TSEM_LIB_DECLARE_H

#include "handle.h"

/* Declares the owner of record `index` dead for its ticket. Adds the permits that came back to *permits. */
void declare_dead(struct tsem *sem, uint32_t index, uint64_t owner, uint64_t ticket, uint32_t *permits);

/* Cancels the waiter that has this ticket. False: it does not wait any more. */
bool declare_cancelled(struct tsem *sem, uint32_t index, uint64_t ticket);

#endif
