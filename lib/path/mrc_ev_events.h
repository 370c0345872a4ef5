/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EV events: what a controller is told about EVs that go bad and come back. doc/protocol.md,
 * "Paths".
 *
 *   queue   of one worker, read by control. Bounded: when it is full the event is dropped and
 *           counted, never waited for. Each event delivered says how many were dropped between the
 *           one before it and itself; mrc_ev_queue_dropped counts all, the latest too. At any time
 *           when the worker rests: posted = delivered + still queued + dropped.
 *   watch   of one EV profile, shared by all workers: the event mask, and for each EV how many path
 *           sets hold it ASSUMED_BAD. The first set to mark it raises an event, and the last to
 *           clear it, as the controller sees the worst state over all sets. SKIP is GOOD here.
 *   source  of one profile on one worker: the two together. A path set points to it, or to nothing.
 *
 * The mask chooses at the moment of the change; what it does not choose is neither queued nor
 * counted as dropped. The count of sets is kept whatever the mask is. A set that is destroyed posts
 * GOOD for the EVs it holds bad.
 *
 * Thread contract: beside each field. A queue has one producer and one consumer; a watch is shared.
 * Cost of a post: nothing without a source; else one or two atomic operations and a copy of 64
 * bytes. No lock, no allocation, no wait.
 * Who calls it: lib/path (post), the daemon's control thread (make, mask, poll).
 */
#ifndef MRC_EV_EVENTS_H
#define MRC_EV_EVENTS_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mrc_limits.h"
#include "mrc_path.h"

/* Bits of an event mask: the values of these states in the control API. */
enum mrc_ev_event_bit { MRC_EV_EVENT_GOOD = 1 << 0, MRC_EV_EVENT_ASSUMED_BAD = 1 << 1 };
#define MRC_EV_EVENT_ALL ((uint32_t)(MRC_EV_EVENT_GOOD | MRC_EV_EVENT_ASSUMED_BAD))

#define MRC_EV_QUEUE_MAX 65536 /* events; a power of two */

struct mrc_ev_event {
	uint64_t time_ns;	      /* the worker's clock */
	uint64_t profile_id;	      /* as the controller named it */
	uint64_t dropped;	      /* between the event delivered before this one and this one */
	uint8_t value[MRC_EV_BYTES];  /* the EV, expanded */
	uint32_t ev32;		      /* as feedback echoes it */
	uint8_t port;		      /* 1-based */
	uint8_t old_state, new_state; /* enum mrc_ev_state, never SKIP; new: GOOD or ASSUMED_BAD */
};
static_assert(sizeof(struct mrc_ev_event) == 64, "one cache line");

struct mrc_ev_queue {
	struct mrc_ev_event *slots;	    /* producer writes those between tail and head + size */
	uint32_t mask;			    /* size - 1 */
	_Alignas(64) _Atomic uint32_t tail; /* producer: rw, consumer: ro */
	uint32_t head_seen;		    /* producer only */
	uint64_t dropped_since;		    /* producer only: since the last event queued */
	_Atomic uint64_t dropped;	    /* producer: rw, anybody: ro */
	_Alignas(64) _Atomic uint32_t head; /* consumer: rw, producer: ro */
};

struct mrc_ev_watch {
	uint64_t profile_id;	    /* constant */
	unsigned evs_n;		    /* constant */
	_Atomic uint32_t mask;	    /* control: rw, workers: ro */
	_Atomic uint16_t *bad_sets; /* per EV; workers: rw */
};
static_assert(MRC_PATH_SETS_MAX <= UINT16_MAX, "bad_sets counts sets");

struct mrc_ev_source {
	struct mrc_ev_queue *queue; /* of this worker */
	struct mrc_ev_watch *watch;
};

/** @param size events, a power of two, at most MRC_EV_QUEUE_MAX @return 0, -EINVAL, -ENOMEM */
int mrc_ev_queue_create(unsigned size, struct mrc_ev_queue **queue);
/** Neither side uses it any more. NULL is no error. */
void mrc_ev_queue_destroy(struct mrc_ev_queue *queue);

/**
 * Consumer: takes events, oldest first.
 * @return how many were written to out, at most n
 */
unsigned mrc_ev_queue_poll(struct mrc_ev_queue *queue, struct mrc_ev_event *out, unsigned n);

/** @return events dropped since the queue was made, those not yet told by an event included */
static inline uint64_t
mrc_ev_queue_dropped(const struct mrc_ev_queue *queue)
{
	return atomic_load_explicit(&queue->dropped, memory_order_relaxed);
}

/** @param evs_n EVs of the profile, 1 .. MRC_EVS_MAX @return 0, -EINVAL (evs_n, mask), -ENOMEM */
int mrc_ev_watch_create(
	uint64_t profile_id, unsigned evs_n, uint32_t mask, struct mrc_ev_watch **watch);
void mrc_ev_watch_destroy(struct mrc_ev_watch *watch);
/** Holds for changes from now on. @return 0, or -EINVAL: other bits than MRC_EV_EVENT_ALL */
int mrc_ev_watch_mask(struct mrc_ev_watch *watch, uint32_t mask);

/** The body of mrc_ev_event_post. */
void mrc_ev_event_raise(struct mrc_ev_source *source, unsigned ev, const struct mrc_path_ev *e,
	enum mrc_ev_state from, uint64_t now_ns);

/**
 * Producer: EV number ev of a set has changed from `from` to e->state. Call it once per change, and
 * for each change, or the count of sets goes wrong.
 * @param source NULL: nobody listens
 */
static inline void
mrc_ev_event_post(struct mrc_ev_source *source, unsigned ev, const struct mrc_path_ev *e,
	enum mrc_ev_state from, uint64_t now_ns)
{
	if (source != NULL)
		mrc_ev_event_raise(source, ev, e, from, now_ns);
}

#endif /* MRC_EV_EVENTS_H */
