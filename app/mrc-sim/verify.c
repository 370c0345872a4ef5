/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Payload of a flow. Without --verify all flows name one reserved range of addresses; with it each
 * has memory of its own between guard pages, filled from the seed, and compared at the end. Who
 * calls it: host.c, loop.c.
 */
#include <string.h>

#include "sim.h"

static void
fill(struct mrc_region *r, uint64_t seed)
{
	struct mrc_prng prng;

	mrc_prng_seed(&prng, seed);
	for (size_t i = 0; i < r->len; i += 8) {
		uint64_t v = mrc_prng_u64(&prng);
		size_t n = r->len - i < 8 ? r->len - i : 8;

		memcpy(r->base + i, &v, n);
	}
}

int
sim_payload_make(struct sim *s, struct sim_flow *f)
{
	struct sim_host *a = &s->hosts[f->src], *b = &s->hosts[f->dst];
	int rc;

	if (!s->o->verify) {
		f->lkey = a->key;
		f->rkey = b->key;
		f->send.base = f->recv.base = s->payload.base;
		return 0;
	}
	rc = mrc_region_alloc(&f->send, f->bytes, false);
	if (rc == 0)
		rc = mrc_region_alloc(&f->recv, f->bytes, false);
	if (rc == 0)
		rc = mrc_mem_reg(a->mem, a->pd, f->send.base, (uintptr_t)f->send.base, f->bytes,
			MRC_ACCESS_LOCAL_WRITE, &f->lkey);
	if (rc == 0)
		rc = mrc_mem_reg(b->mem, b->pd, f->recv.base, (uintptr_t)f->recv.base, f->bytes,
			MRC_ACCESS_LOCAL_WRITE | MRC_ACCESS_REMOTE_WRITE, &f->rkey);
	if (rc == 0)
		fill(&f->send, (uint64_t)s->o->seed << 32 ^ (uint64_t)(f - s->flows));
	return rc;
}

void
sim_payload_free(struct sim_flow *f)
{
	if (f->send.map != NULL)
		mrc_region_free(&f->send);
	if (f->recv.map != NULL)
		mrc_region_free(&f->recv);
}

bool
sim_payload_ok(const struct sim_flow *f)
{
	return f->send.map == NULL || memcmp(f->send.base, f->recv.base, f->bytes) == 0;
}
