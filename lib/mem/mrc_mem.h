/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protection domains, memory regions, and the check that stands between a packet and memory.
 *
 * A key is a table index (low 16 bits, from 1) and a random tag (high 16 bits), so that a stale or
 * guessed key is refused. Access bits have the values of ibv_access_flags.
 *
 * Thread contract: registration belongs to control. Workers check concurrently: a region is
 * published by storing its key last (release) and read key first (acquire). After mrc_mem_dereg the
 * memory may be unmapped only when every worker has made a turn. Who calls it: app (registration),
 * lib/conn (checks).
 */
#ifndef MRC_MEM_H
#define MRC_MEM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mrc_drop.h"

enum mrc_access { MRC_ACCESS_LOCAL_WRITE = 1, MRC_ACCESS_REMOTE_WRITE = 2 };

struct mrc_mr {
	_Atomic uint32_t key; /* control: rw, worker: ro; 0: free */
	uint32_t pd;
	uint32_t access;   /* enum mrc_access */
	uint32_t key_last; /* control: the newest key this slot ever had */
	uint64_t va;	   /* first address as peers name it */
	uint64_t len;	   /* bytes */
	uint8_t *base;	   /* where it lies in this process */
};

struct mrc_mem {
	struct mrc_mr *mrs;
	uint32_t max;
	uint32_t pds;
	uint32_t next;
	uint64_t tag_state;
};

/** @return 0, -EINVAL (max 0 or above MRC_MRS_MAX - 1), -ENOMEM */
int mrc_mem_create(uint32_t max, uint64_t seed, struct mrc_mem **mem);
void mrc_mem_destroy(struct mrc_mem *mem);

/** @return a new protection domain, never 0 */
uint32_t mrc_mem_pd(struct mrc_mem *mem);

/**
 * Registers len bytes at base, known to peers as va ..
 * @param[out] key both lkey and rkey; set on success
 * @return 0, -EINVAL (no length, wrap-around), -ENOSPC (table full)
 */
int mrc_mem_reg(struct mrc_mem *mem, uint32_t pd, void *base, uint64_t va, uint64_t len,
	uint32_t access, uint32_t *key);
/** @return 0, or -ENOENT */
int mrc_mem_dereg(struct mrc_mem *mem, uint32_t key);

/**
 * May a QP of domain pd touch [va, va + len)?
 * @param access bits that all must be granted
 * @return where it lies, or NULL
 */
static inline uint8_t *
mrc_mem_check(const struct mrc_mem *mem, uint32_t key, uint32_t pd, uint64_t va, uint64_t len,
	uint32_t access)
{
	uint32_t i = key & 0xffff;
	const struct mrc_mr *mr;

	if (i == 0 || i > mem->max)
		return NULL;
	mr = &mem->mrs[i - 1];
	if (atomic_load_explicit(&mr->key, memory_order_acquire) != key)
		return NULL;
	if (mr->pd != pd || (mr->access & access) != access)
		return NULL;
	/* written so that nothing overflows */
	if (va < mr->va || len > mr->len || va - mr->va > mr->len - len)
		return NULL;
	return mr->base + (va - mr->va);
}

/* Memory between two guard pages: a stray store faults. */
struct mrc_region {
	uint8_t *base;
	size_t len;
	bool huge; /* lies in 2 MiB pages */
	void *map; /* guard pages included */
	size_t map_len;
};

/**
 * Reserves len bytes, zeroed, with an inaccessible page before and behind. The region ends where
 * the guard behind begins, to the byte; base is 64-byte aligned where len is.
 * @param want_huge take 2 MiB pages if enough are free, else ordinary ones
 * @return 0, -EINVAL (len 0), -ENOMEM
 */
int mrc_region_alloc(struct mrc_region *r, size_t len, bool want_huge);
void mrc_region_free(struct mrc_region *r);

#endif /* MRC_MEM_H */
