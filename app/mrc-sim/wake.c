/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts by the time of their next turn: a binary heap, the earliest on top, and the list of those
 * that something happened to now. Who calls it: loop.c, network.c.
 */
#include "sim.h"

static void
heap_put(struct sim *s, uint32_t i, uint32_t host)
{
	s->heap[i] = host;
	s->hosts[host].heap_at = i;
}

static void
heap_up(struct sim *s, uint32_t i)
{
	uint32_t host = s->heap[i];

	while (i > 0) {
		uint32_t up = (i - 1) / 2;

		if (s->hosts[s->heap[up]].wake_ns <= s->hosts[host].wake_ns)
			break;
		heap_put(s, i, s->heap[up]);
		i = up;
	}
	heap_put(s, i, host);
}

uint32_t
sim_heap_pop(struct sim *s)
{
	uint32_t top = s->heap[0], last = s->heap[--s->heap_n], i = 0, child;

	s->hosts[top].wake_ns = UINT64_MAX;
	if (s->heap_n == 0)
		return top;
	while ((child = 2 * i + 1) < s->heap_n) {
		if (child + 1 < s->heap_n &&
			s->hosts[s->heap[child + 1]].wake_ns < s->hosts[s->heap[child]].wake_ns)
			child++;
		if (s->hosts[last].wake_ns <= s->hosts[s->heap[child]].wake_ns)
			break;
		heap_put(s, i, s->heap[child]);
		i = child;
	}
	heap_put(s, i, last);
	return top;
}

/* A host that wants a later turn than it is in the heap for looks again when that comes. */
void
sim_wake_at(struct sim *s, uint32_t host, uint64_t at_ns)
{
	struct sim_host *h = &s->hosts[host];

	if (at_ns >= h->wake_ns)
		return;
	if (h->wake_ns == UINT64_MAX)
		heap_put(s, s->heap_n++, host);
	h->wake_ns = at_ns;
	heap_up(s, h->heap_at);
}

void
sim_touch(struct sim *s, uint32_t host)
{
	if (s->hosts[host].touched)
		return;
	s->hosts[host].touched = true;
	s->touched[s->touched_n++] = host;
}
