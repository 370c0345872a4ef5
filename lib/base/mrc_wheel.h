/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hierarchical timing wheel (Varghese and Lauck, scheme 6): 10 levels of 64 slots, one tick is
 * 128 ns. Adding and removing are O(1); the earliest deadline is found by bit scans, without
 * walking slots.
 *
 * Invariants: a timer is in at most one slot; it fires at the first run whose now is at or past its
 * deadline rounded up to a tick, never before the deadline; timers due in one run fire in order of
 * deadline tick, equal ticks in order of adding. A deadline that was past when it was added counts
 * as the tick of that moment (the last run's), so adding stays O(1). The levels cover every 64-bit
 * deadline. A clock that steps back moves nothing. Nothing is allocated after init. Thread
 * contract: one lcore. Who calls it: lib/engine (one timer a connection), lib/path's users.
 */
#ifndef MRC_WHEEL_H
#define MRC_WHEEL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MRC_WHEEL_TICK_SHIFT 7
#define MRC_WHEEL_LEVELS 10
#define MRC_WHEEL_SLOTS 64

/* Embedded in its owner. Zeroed means not armed. */
struct mrc_timer {
	struct mrc_timer *next, **pprev; /* pprev NULL: not armed */
	uint64_t deadline_ns;		 /* as armed */
	uint8_t level, slot;
};

struct mrc_wheel {
	uint64_t now_tick;
	uint64_t occupied[MRC_WHEEL_LEVELS];
	struct mrc_wheel_slot {
		struct mrc_timer *first, **last;
	} slots[MRC_WHEEL_LEVELS][MRC_WHEEL_SLOTS];
	struct mrc_wheel_slot due; /* gathered by a run, not yet fired */
};

void mrc_wheel_init(struct mrc_wheel *w, uint64_t now_ns);
/** Arms or re-arms. A deadline in the past fires at the next run. */
void mrc_wheel_add(struct mrc_wheel *w, struct mrc_timer *t, uint64_t deadline_ns);
/** Disarms; nothing happens if not armed. */
void mrc_wheel_del(struct mrc_wheel *w, struct mrc_timer *t);
static inline bool
mrc_timer_armed(const struct mrc_timer *t)
{
	return t->pprev != NULL;
}
/**
 * @return a time at which mrc_wheel_run must be called at the latest: at or before the earliest
 * deadline rounded up to a tick, and always after the time of the last run, so that whoever jumps
 * from one to the next makes progress; UINT64_MAX if nothing is armed
 */
uint64_t mrc_wheel_next_ns(const struct mrc_wheel *w);
/**
 * Moves time to now and fires what is due, each disarmed before fire is called; fire may add and
 * delete any timer (one added with a deadline at or before now fires in the next run).
 * @return number fired
 */
unsigned mrc_wheel_run(struct mrc_wheel *w, uint64_t now_ns,
	void (*fire)(struct mrc_timer *t, void *arg), void *arg);

#endif /* MRC_WHEEL_H */
