# SPDX-License-Identifier: MIT
"""What tests/model/run runs: the configurations, and each mutant with the cheapest configuration that catches it."""

# Optimising a verifier takes gcc longer than it saves, but for the largest.
LARGE = ["setters", "kept-lowered", "drain", "tries", "setter-dies", "quit", "quit-and-release", "setters-any"]

CONFIGURATIONS = [
    "setters", "drain", "tries", "setter-dies", "quit",
    "wake", "counts", "shared", "quitters", "orphans",
    "crash", "deaths", "claims", "recoverers", "reuse", "anonymous", "deadline",
    "lower", "raise", "down-up",
    "hand-over", "lend", "adopt",
    "kept", "kept-turns", "kept-finished", "kept-set", "kept-closed", "kept-wanted", "kept-idle", "kept-quit",
    "kept-threads", "kept-lowered", "kept-handed",
    "idle", "idle-holders", "idle-drained", "idle-crash", "idle-both", "idle-quit",
    "slots", "abandoned",
]

# These need up to 7 GiB and some minutes each.
FULL = ["quit-and-release", "setters-any"]

# The name of the assertion in the model -> what it says.
PROPERTIES = {
    "within_capacity": "over-admission",
    "first_come_first_served": "overtaken",
    "nobody_robbed": "the living robbed",
    "claimed_was_idle": "claimed while in use",
    "there_was_room": "no room on the short cut",
    "no_wakeup_lost": "lost wake-up",
    "idle_indeed": "called idle in error",
    "slot_of_its_own": "two holds with one slot",
    "slot_stays": "another slot than before",
    "slot_below_capacity": "slot beyond the capacity",
    "somebody_is_told": "nobody told of a death",
    "records_of_the_dead_freed": "record of a dead owner left",
    "books_balance": "permits lost or doubled",
    "nobody_stuck": "somebody stuck",
}

MUTANTS = {
    # Section 4: the reasons for the orders.
    "WHAT_READ_BEFORE_DEATH_KNOWN": "claims",
    "WHO_NOT_CHECKED_AGAIN": "claims",
    "ORPHAN_WITHOUT_TICKET": "orphans",
    "NO_FACES": "reuse",
    "NO_GENERATION": "reuse",
    "ARRIVAL_WITHOUT_SECOND_LOOK": "reuse",
    "RELEASE_WITHOUT_SECOND_LOOK": "reuse",
    "ARRIVAL_NOT_FINISHED": "crash",
    "RELEASE_NOT_FINISHED": "crash",
    "ARRIVAL_FINISHED_BY_STORE": "reuse",
    "RELEASE_FINISHED_BY_STORE": "reuse",
    "TAG_OF_G_IGNORED": "crash",
    "WHAT_READ_BEFORE_G": "recoverers",
    "TICKET_TAKEN_BACK": "deadline",
    "HELD_IS_A_COMPARISON": "setter-dies",
    "FOREIGN_RELEASE_BY_STORE": "lend",
    "KEPT_IF_CLAIMED": "kept-handed",
    "KEPT_COUNT_NOT_COMPARED": "kept",
    "SAME_TURN_AGAIN": "kept-turns",
    "FACES_NOT_FLIPPED": "kept-turns",
    "GEN_NOT_WRITTEN": "kept-turns",
    "ALONE_WITHOUT_C": "kept-set",
    "RELEASED_WITHOUT_C": "kept-lowered",
    "ALONE_ALTHOUGH_T_MOVED": "kept",
    "STALE_ENTRY": "kept-threads",
    "LAST_ARRIVAL_IGNORED": "kept-idle",
    "ADOPT_WITHOUT_TURN": "adopt",
    "ADOPT_LEAVES_IT": "adopt",
    "SETTER_DOES_NOT_ARRIVE": "down-up",
    "SETTER_DOES_NOT_PROMOTE": "lower",
    "SETTERS_NOT_COUNTED": "setters",
    "C_BEFORE_G": "lower",
    "E_READ_BEFORE_T": "drain",
    # Section 5: the barriers.
    "LOOKS_BEFORE_SLEEPERS_BIT": "wake",
    "T_READ_BEFORE_G_MOVED": "wake",
    "C_READ_BEFORE_G_MOVED": "raise",
    "RAISE_WITHOUT_SWEEP": "raise",
    "PROMOTED_NOT_WOKEN": "lower",
    "SLEEPS_ON_FIRST_TICKET": "shared",
    "SLEEPERS_BIT_ALWAYS_CLEARED": "shared",
    "ORPHANS_NOT_SKIPPED": "quit",
    "ORPHAN_NOTED_TOO_LATE": "quit",
    "HINT_WITHOUT_VERSION": "quitters",
    "CONCERN_SET_AFTER_LOOK": "idle-both",
    "CONCERN_READ_BEFORE_G_MOVED": "idle-both",
    "CONCERN_CLEARED_AFTER_WAKING": "idle",
    "OTHER_IDLERS_NOT_WOKEN": "idle-quit",
    "T_NOT_COMPARED_AFTER_SCAN": "idle-both",
    "G_NOT_COMPARED_AFTER_SCAN": "idle-holders",
    "LOOK_NOT_REPEATED": "idle-drained",
    "SLOT_WITHOUT_TICKET": "slots",
    "STALE_BY_RECORD_ALONE": "slots",
    "SLOT_TAKEN_BY_STORE": "slots",
    "ABANDONED_AFTER_STATE": "abandoned",
    "ABANDONED_AFTER_G": "abandoned",
    "HANDED_OVER_BEFORE_ABANDONED": "abandoned",
}
