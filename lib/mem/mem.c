/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of memory regions. */
#include "mrc_mem.h"

#include <errno.h>
#include <stdlib.h>

#include "mrc_limits.h"
#include "mrc_prng.h"

int
mrc_mem_create(uint32_t max, uint64_t seed, struct mrc_mem **mem)
{
	struct mrc_mem *m;

	if (max == 0 || max >= MRC_MRS_MAX)
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (m == NULL)
		return -ENOMEM;
	m->mrs = calloc(max, sizeof(*m->mrs));
	if (m->mrs == NULL) {
		free(m);
		return -ENOMEM;
	}
	m->max = max;
	m->tag_state = seed;
	*mem = m;
	return 0;
}

void
mrc_mem_destroy(struct mrc_mem *mem)
{
	if (mem == NULL)
		return;
	free(mem->mrs);
	free(mem);
}

uint32_t
mrc_mem_pd(struct mrc_mem *mem)
{
	return ++mem->pds;
}

int
mrc_mem_reg(struct mrc_mem *mem, uint32_t pd, void *base, uint64_t va, uint64_t len,
	uint32_t access, uint32_t *key)
{
	struct mrc_prng prng;

	if (len == 0 || va + len < va || (uintptr_t)base + len < (uintptr_t)base)
		return -EINVAL;
	for (uint32_t n = 0; n < mem->max; n++) {
		uint32_t i = mem->next++ % mem->max;
		struct mrc_mr *mr = &mem->mrs[i];
		uint32_t k;

		if (atomic_load_explicit(&mr->key, memory_order_relaxed) != 0)
			continue;
		mrc_prng_seed(&prng, mem->tag_state++);
		/* never the key that this slot had last: whoever still holds it is refused for sure
		 */
		do
			k = (uint32_t)(mrc_prng_u64(&prng) << 16) | (i + 1);
		while (k == mr->key_last);
		mr->key_last = k;
		mr->pd = pd;
		mr->access = access;
		mr->va = va;
		mr->len = len;
		mr->base = base;
		atomic_store_explicit(&mr->key, k, memory_order_release);
		*key = k;
		return 0;
	}
	return -ENOSPC;
}

int
mrc_mem_dereg(struct mrc_mem *mem, uint32_t key)
{
	uint32_t i = key & 0xffff;

	if (i == 0 || i > mem->max)
		return -ENOENT;
	if (atomic_load_explicit(&mem->mrs[i - 1].key, memory_order_relaxed) != key)
		return -ENOENT;
	atomic_store_explicit(&mem->mrs[i - 1].key, 0, memory_order_release);
	return 0;
}
