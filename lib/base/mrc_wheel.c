/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timing wheel. A timer's place follows from its tick and the wheel's alone: its level is the
 * highest base-64 digit in which the two differ, its slot is that digit of its own tick. So, with d
 * the wheel's own digit of a level:
 *  - above level 0 every occupied slot lies after d; at level 0 slot d holds what was due when it
 * was added;
 *  - all of a level is due before anything of the next, hence the earliest slot is the first of the
 * lowest occupied level;
 *  - timers of one tick are always in one slot, in order of adding, and moving a slot's list down
 * keeps the order. What is due is first gathered in a list of its own, then fired, so that fire may
 * arm and disarm at will.
 */
#include "mrc_wheel.h"

#define DIGIT_BITS 6
#define NO_TICK UINT64_MAX
#define TICK_MAX (UINT64_MAX >> MRC_WHEEL_TICK_SHIFT)
#define LEVEL_DUE MRC_WHEEL_LEVELS /* a timer's level while it waits in w->due */

static_assert(MRC_WHEEL_SLOTS == 1 << DIGIT_BITS, "a slot is a digit");
static_assert(MRC_WHEEL_LEVELS * DIGIT_BITS >= 64 - MRC_WHEEL_TICK_SHIFT + 1,
	"every deadline, rounded up, must have a level");

static uint64_t
tick_ceil(uint64_t ns)
{
	return (ns >> MRC_WHEEL_TICK_SHIFT) + ((ns & ((1u << MRC_WHEEL_TICK_SHIFT) - 1)) != 0);
}

static void
slot_clear(struct mrc_wheel_slot *s)
{
	s->first = NULL;
	s->last = &s->first;
}

static void
slot_append(struct mrc_wheel_slot *s, struct mrc_timer *t)
{
	t->next = NULL;
	t->pprev = s->last;
	*s->last = t;
	s->last = &t->next;
}

/* Puts t where its tick belongs, seen from now. */
static void
wheel_place(struct mrc_wheel *w, struct mrc_timer *t, uint64_t tick)
{
	uint64_t differ;
	unsigned level, slot;

	if (tick < w->now_tick)
		tick = w->now_tick;
	differ = tick ^ w->now_tick;
	level = (63 - (unsigned)__builtin_clzll(differ | 1)) / DIGIT_BITS;
	slot = tick >> (level * DIGIT_BITS) & (MRC_WHEEL_SLOTS - 1);
	t->level = (uint8_t)level;
	t->slot = (uint8_t)slot;
	w->occupied[level] |= UINT64_C(1) << slot;
	slot_append(&w->slots[level][slot], t);
}

/* @return the first tick of the earliest occupied slot (at level 0: its only tick), or NO_TICK */
static uint64_t
wheel_earliest(const struct mrc_wheel *w, unsigned *level, unsigned *slot)
{
	for (unsigned l = 0; l < MRC_WHEEL_LEVELS; l++) {
		unsigned shift = l * DIGIT_BITS;
		uint64_t above;

		if (w->occupied[l] == 0)
			continue;
		*level = l;
		*slot = (unsigned)__builtin_ctzll(w->occupied[l]);
		above = w->now_tick >> shift >> DIGIT_BITS << DIGIT_BITS;
		return (above | *slot) << shift;
	}
	return NO_TICK;
}

/* Empties a slot: to the list of what is due from level 0, one or more levels down from the others.
 */
static void
wheel_slot_open(struct mrc_wheel *w, unsigned level, unsigned slot)
{
	struct mrc_wheel_slot *s = &w->slots[level][slot];
	struct mrc_timer *t = s->first, *next;

	slot_clear(s);
	w->occupied[level] &= ~(UINT64_C(1) << slot);
	for (; t != NULL; t = next) {
		next = t->next;
		if (level == 0) {
			t->level = LEVEL_DUE;
			slot_append(&w->due, t);
		} else {
			wheel_place(w, t, tick_ceil(t->deadline_ns));
		}
	}
}

void
mrc_wheel_init(struct mrc_wheel *w, uint64_t now_ns)
{
	w->now_tick = now_ns >> MRC_WHEEL_TICK_SHIFT;
	slot_clear(&w->due);
	for (unsigned l = 0; l < MRC_WHEEL_LEVELS; l++) {
		w->occupied[l] = 0;
		for (unsigned s = 0; s < MRC_WHEEL_SLOTS; s++)
			slot_clear(&w->slots[l][s]);
	}
}

void
mrc_wheel_add(struct mrc_wheel *w, struct mrc_timer *t, uint64_t deadline_ns)
{
	mrc_wheel_del(w, t);
	t->deadline_ns = deadline_ns;
	wheel_place(w, t, tick_ceil(deadline_ns));
}

void
mrc_wheel_del(struct mrc_wheel *w, struct mrc_timer *t)
{
	struct mrc_wheel_slot *s;

	if (t->pprev == NULL)
		return;
	s = t->level == LEVEL_DUE ? &w->due : &w->slots[t->level][t->slot];
	*t->pprev = t->next;
	if (t->next != NULL)
		t->next->pprev = t->pprev;
	else
		s->last = t->pprev;
	if (s->first == NULL && t->level != LEVEL_DUE)
		w->occupied[t->level] &= ~(UINT64_C(1) << t->slot);
	t->next = NULL;
	t->pprev = NULL;
}

uint64_t
mrc_wheel_next_ns(const struct mrc_wheel *w)
{
	unsigned level, slot;
	uint64_t tick = wheel_earliest(w, &level, &slot);

	if (tick == NO_TICK)
		return UINT64_MAX;
	if (tick <= w->now_tick)
		tick = w->now_tick + 1;
	return tick > TICK_MAX ? UINT64_MAX : tick << MRC_WHEEL_TICK_SHIFT;
}

unsigned
mrc_wheel_run(struct mrc_wheel *w, uint64_t now_ns, void (*fire)(struct mrc_timer *t, void *arg),
	void *arg)
{
	uint64_t until = now_ns >> MRC_WHEEL_TICK_SHIFT, tick;
	unsigned level, slot, fired = 0;
	struct mrc_timer *t;

	if (until < w->now_tick)
		until = w->now_tick; /* a clock that stepped back moves nothing */
	while ((tick = wheel_earliest(w, &level, &slot)) <= until && tick != NO_TICK) {
		w->now_tick = tick; /* nothing lies before it */
		wheel_slot_open(w, level, slot);
	}
	w->now_tick = until;
	while ((t = w->due.first) != NULL) {
		mrc_wheel_del(w, t);
		fire(t, arg);
		fired++;
	}
	return fired;
}
