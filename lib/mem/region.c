/* SPDX-License-Identifier: BSD-3-Clause */
/* Guarded regions: an inaccessible page on either side, 2 MiB pages inside where there are enough.
 */
#include "mrc_mem.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_BYTES ((size_t)2 << 20)

static size_t
round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* One reservation: guard, pages of page_bytes, guard. Everything starts inaccessible. */
static int
map_guarded(struct mrc_region *r, size_t len, size_t page_bytes, int flags)
{
	size_t body = round_up(len, page_bytes);
	size_t total = body + 2 * page_bytes +
		       (page_bytes > (size_t)sysconf(_SC_PAGESIZE) ? page_bytes : 0);
	uint8_t *map, *p;

	map = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return -ENOMEM;
	p = (uint8_t *)round_up((uintptr_t)map + page_bytes, page_bytes);
	if (mmap(p, body, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | flags,
		    -1, 0) == MAP_FAILED) {
		munmap(map, total);
		return -ENOMEM;
	}
	r->base = p + (body - len);
	r->len = len;
	r->map = map;
	r->map_len = total;
	return 0;
}

int
mrc_region_alloc(struct mrc_region *r, size_t len, bool want_huge)
{
	if (len == 0 || len > SIZE_MAX / 4)
		return -EINVAL;
	if (want_huge && map_guarded(r, len, HUGE_BYTES, MAP_HUGETLB | MAP_POPULATE) == 0) {
		r->huge = true;
		return 0;
	}
	r->huge = false;
	return map_guarded(r, len, (size_t)sysconf(_SC_PAGESIZE), MAP_POPULATE);
}

void
mrc_region_free(struct mrc_region *r)
{
	if (r->map != NULL)
		munmap(r->map, r->map_len);
	r->map = NULL;
	r->base = NULL;
	r->len = 0;
}
