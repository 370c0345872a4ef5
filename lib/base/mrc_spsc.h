/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring between one producer and one consumer thread, for values of 32 bits: the doorbells of an
 * engine. C11 atomics; each side caches the other's index, so that a line crosses the cores only
 * when it must.
 */
#ifndef MRC_SPSC_H
#define MRC_SPSC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct mrc_spsc {
	uint32_t *slots;
	uint32_t mask;
	_Alignas(64) _Atomic uint32_t tail; /* producer: rw, consumer: ro */
	uint32_t head_seen;		    /* producer only */
	_Alignas(64) _Atomic uint32_t head; /* consumer: rw, producer: ro */
	uint32_t tail_seen;		    /* consumer only */
};

/** @param size a power of two @return false: out of memory */
static inline bool
mrc_spsc_init(struct mrc_spsc *r, uint32_t size)
{
	r->slots = calloc(size, sizeof(*r->slots));
	r->mask = size - 1;
	atomic_init(&r->tail, 0);
	atomic_init(&r->head, 0);
	r->head_seen = r->tail_seen = 0;
	return r->slots != NULL;
}

static inline void
mrc_spsc_fini(struct mrc_spsc *r)
{
	free(r->slots);
	r->slots = NULL;
}

/** @return false: full */
static inline bool
mrc_spsc_push(struct mrc_spsc *r, uint32_t v)
{
	uint32_t t = atomic_load_explicit(&r->tail, memory_order_relaxed);

	if (t - r->head_seen > r->mask) {
		r->head_seen = atomic_load_explicit(&r->head, memory_order_acquire);
		if (t - r->head_seen > r->mask)
			return false;
	}
	r->slots[t & r->mask] = v;
	atomic_store_explicit(&r->tail, t + 1, memory_order_release);
	return true;
}

/** @return false: empty */
static inline bool
mrc_spsc_pop(struct mrc_spsc *r, uint32_t *v)
{
	uint32_t h = atomic_load_explicit(&r->head, memory_order_relaxed);

	if (h == r->tail_seen) {
		r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
		if (h == r->tail_seen)
			return false;
	}
	*v = r->slots[h & r->mask];
	atomic_store_explicit(&r->head, h + 1, memory_order_release);
	return true;
}

#endif /* MRC_SPSC_H */
