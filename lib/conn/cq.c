/* SPDX-License-Identifier: BSD-3-Clause */
/* The completion ring. */
#include "mrc_cq.h"

#include <errno.h>
#include <stdlib.h>

int
mrc_cq_create(uint32_t depth, struct mrc_cq **out)
{
	struct mrc_cq *cq;
	uint32_t size = 1;

	if (depth == 0 || depth > 1u << 20)
		return -EINVAL;
	while (size < depth)
		size *= 2;
	cq = aligned_alloc(64, sizeof(*cq));
	if (cq == NULL)
		return -ENOMEM;
	*cq = (struct mrc_cq){.mask = size - 1};
	cq->cqes = calloc(size, sizeof(*cq->cqes));
	if (cq->cqes == NULL) {
		free(cq);
		return -ENOMEM;
	}
	*out = cq;
	return 0;
}

void
mrc_cq_destroy(struct mrc_cq *cq)
{
	if (cq == NULL)
		return;
	free(cq->cqes);
	free(cq);
}

unsigned
mrc_cq_poll(struct mrc_cq *cq, struct mrc_cqe *cqes, unsigned n)
{
	uint64_t h = atomic_load_explicit(&cq->head, memory_order_relaxed);
	uint64_t t = atomic_load_explicit(&cq->tail, memory_order_acquire);
	unsigned i;

	for (i = 0; i < n && h != t; i++)
		cqes[i] = cq->cqes[h++ & cq->mask];
	atomic_store_explicit(&cq->head, h, memory_order_release);
	return i;
}

bool
mrc_cq_push(struct mrc_cq *cq, const struct mrc_cqe *cqe)
{
	uint64_t t = atomic_load_explicit(&cq->tail, memory_order_relaxed);

	if (t - atomic_load_explicit(&cq->head, memory_order_acquire) > cq->mask)
		return false;
	cq->cqes[t & cq->mask] = *cqe;
	atomic_store_explicit(&cq->tail, t + 1, memory_order_release);
	return true;
}
