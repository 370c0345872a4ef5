/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of EV events between a worker and control, and which changes of state are events.
 * Called by path_state.c through mrc_ev_event_post, and by control.
 */
#include "mrc_ev_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
mrc_ev_queue_create(unsigned size, struct mrc_ev_queue **out)
{
	struct mrc_ev_queue *q;

	if (size == 0 || size > MRC_EV_QUEUE_MAX || (size & (size - 1)) != 0)
		return -EINVAL;
	q = aligned_alloc(_Alignof(struct mrc_ev_queue), sizeof(*q));
	if (q == NULL)
		return -ENOMEM;
	memset(q, 0, sizeof(*q));
	q->slots = aligned_alloc(sizeof(*q->slots), size * sizeof(*q->slots));
	if (q->slots == NULL) {
		free(q);
		return -ENOMEM;
	}
	q->mask = size - 1;
	atomic_init(&q->tail, 0);
	atomic_init(&q->head, 0);
	atomic_init(&q->dropped, 0);
	*out = q;
	return 0;
}

void
mrc_ev_queue_destroy(struct mrc_ev_queue *q)
{
	if (q == NULL)
		return;
	free(q->slots);
	free(q);
}

static void
queue_push(struct mrc_ev_queue *q, const struct mrc_ev_event *event)
{
	uint32_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
	struct mrc_ev_event *slot = &q->slots[tail & q->mask];

	if (tail - q->head_seen > q->mask) {
		/* acquire: the consumer has copied what it frees */
		q->head_seen = atomic_load_explicit(&q->head, memory_order_acquire);
		if (tail - q->head_seen > q->mask) {
			uint64_t d = atomic_load_explicit(&q->dropped, memory_order_relaxed);

			q->dropped_since++;
			atomic_store_explicit(&q->dropped, d + 1, memory_order_relaxed);
			return;
		}
	}
	*slot = *event;
	slot->dropped = q->dropped_since;
	q->dropped_since = 0;
	atomic_store_explicit(&q->tail, tail + 1, memory_order_release);
}

unsigned
mrc_ev_queue_poll(struct mrc_ev_queue *q, struct mrc_ev_event *out, unsigned n)
{
	uint32_t head = atomic_load_explicit(&q->head, memory_order_relaxed);
	uint32_t ready = atomic_load_explicit(&q->tail, memory_order_acquire) - head;

	if (n > ready)
		n = ready;
	for (unsigned i = 0; i < n; i++)
		out[i] = q->slots[(head + i) & q->mask];
	atomic_store_explicit(&q->head, head + n, memory_order_release);
	return n;
}

int
mrc_ev_watch_create(uint64_t profile_id, unsigned evs_n, uint32_t mask, struct mrc_ev_watch **out)
{
	struct mrc_ev_watch *w;

	if (evs_n == 0 || evs_n > MRC_EVS_MAX || (mask & ~MRC_EV_EVENT_ALL) != 0)
		return -EINVAL;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return -ENOMEM;
	w->bad_sets = calloc(evs_n, sizeof(*w->bad_sets));
	if (w->bad_sets == NULL) {
		free(w);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < evs_n; i++)
		atomic_init(&w->bad_sets[i], 0);
	w->profile_id = profile_id;
	w->evs_n = evs_n;
	atomic_init(&w->mask, mask);
	*out = w;
	return 0;
}

void
mrc_ev_watch_destroy(struct mrc_ev_watch *w)
{
	if (w == NULL)
		return;
	free(w->bad_sets);
	free(w);
}

int
mrc_ev_watch_mask(struct mrc_ev_watch *w, uint32_t mask)
{
	if ((mask & ~MRC_EV_EVENT_ALL) != 0)
		return -EINVAL;
	atomic_store_explicit(&w->mask, mask, memory_order_relaxed);
	return 0;
}

static enum mrc_ev_state
seen(enum mrc_ev_state state)
{
	return state == MRC_EV_SKIP ? MRC_EV_GOOD : state;
}

/* Keeps the count of sets. @return true: the worst state over all sets changed to `to`, as far as
 * GOOD and ASSUMED_BAD go */
static bool
watch_change(struct mrc_ev_watch *w, unsigned ev, enum mrc_ev_state from, enum mrc_ev_state to)
{
	uint16_t left;

	if (to == MRC_EV_ASSUMED_BAD)
		return atomic_fetch_add_explicit(&w->bad_sets[ev], 1, memory_order_relaxed) == 0;
	if (from == MRC_EV_ASSUMED_BAD)
		left = (uint16_t)(atomic_fetch_sub_explicit(
					  &w->bad_sets[ev], 1, memory_order_relaxed) -
				  1);
	else /* from DENIED: good only if no other set has reason to doubt it */
		left = atomic_load_explicit(&w->bad_sets[ev], memory_order_relaxed);
	return to == MRC_EV_GOOD && left == 0;
}

void
mrc_ev_event_raise(struct mrc_ev_source *source, unsigned ev, const struct mrc_path_ev *e,
	enum mrc_ev_state from, uint64_t now_ns)
{
	struct mrc_ev_watch *w = source->watch;
	struct mrc_ev_event event;
	enum mrc_ev_state to = seen(e->state);
	uint32_t bit = to == MRC_EV_GOOD ? MRC_EV_EVENT_GOOD : MRC_EV_EVENT_ASSUMED_BAD;

	from = seen(from);
	if (from == to || ev >= w->evs_n || !watch_change(w, ev, from, to))
		return;
	if (!(atomic_load_explicit(&w->mask, memory_order_relaxed) & bit))
		return;
	event = (struct mrc_ev_event){
		.time_ns = now_ns,
		.profile_id = w->profile_id,
		.ev32 = e->ev32,
		.port = (uint8_t)(e->plane + 1),
		.old_state = (uint8_t)from,
		.new_state = (uint8_t)to,
	};
	memcpy(event.value, e->value, sizeof(event.value));
	queue_push(source->queue, &event);
}
