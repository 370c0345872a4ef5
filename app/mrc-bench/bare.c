/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two loops of bare.h. Sender and receiver are the same functions in both; only what lies
 * between differs. Who calls it: main.c.
 */
#include "bare.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_pause.h>
#include <rte_ring.h>

#include "clock.h"

#define POOL_CACHE 64u
#define CRC_BYTES 4u
#define BURSTS_PER_LOOK 64u /* between two looks at the clock: 8 MiB */

static_assert(BARE_REGION_BYTES % (BARE_PAYLOAD_BYTES * BARE_BURST) == 0,
	"bursts must not straddle the region's end");

struct bare {
	crc_fn crc;
	struct rte_mempool *pool;
	struct rte_ring *ring;
	uint8_t *src;
	uint8_t *dst;
	/* sender */
	uint32_t tx_offset;
	/* receiver */
	uint32_t rx_offset;
	uint64_t rx_frames;
	uint64_t rx_bad;
	uint64_t rx_ns;
	atomic_bool stop;
};

static void
pattern_fill(uint8_t *p, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		p[i] = (uint8_t)(seed >> 24);
	}
}

struct bare *
bare_create(const struct bare_params *p)
{
	/* The ring, a burst in each hand, and what the two lcore caches may keep back. A larger
	 * pool is turned through from end to end and so leaves the L2 caches.
	 */
	unsigned least = p->ring_size + 2 * BARE_BURST + 4 * POOL_CACHE;
	unsigned frames = RTE_MAX(least, p->frames);
	struct bare *b = rte_zmalloc("bare", sizeof(*b), RTE_CACHE_LINE_SIZE);

	if (b == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	b->crc = p->crc;
	b->src = rte_malloc("bare_src", BARE_REGION_BYTES, 4096);
	b->dst = rte_zmalloc("bare_dst", BARE_REGION_BYTES, 4096);
	b->pool = rte_pktmbuf_pool_create("bare_frames", frames, POOL_CACHE, 0,
		RTE_PKTMBUF_HEADROOM + BARE_PAYLOAD_BYTES + CRC_BYTES, (int)SOCKET_ID_ANY);
	b->ring = rte_ring_create(
		"bare_ring", p->ring_size, (int)SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (b->src == NULL || b->dst == NULL || b->pool == NULL || b->ring == NULL) {
		bare_destroy(b);
		return NULL;
	}
	pattern_fill(b->src, BARE_REGION_BYTES, 1);
	return b;
}

void
bare_destroy(struct bare *b)
{
	if (b == NULL)
		return;
	rte_ring_free(b->ring);
	rte_mempool_free(b->pool);
	rte_free(b->dst);
	rte_free(b->src);
	rte_free(b);
}

/* The sender's end of one burst. @return frames filled: all or none */
static unsigned
burst_fill(struct bare *b, struct rte_mbuf **m)
{
	if (rte_pktmbuf_alloc_bulk(b->pool, m, BARE_BURST) != 0)
		return 0;
	for (unsigned i = 0; i < BARE_BURST; i++) {
		uint8_t *frame = rte_pktmbuf_mtod(m[i], uint8_t *);
		uint32_t crc;

		memcpy(frame, b->src + b->tx_offset, BARE_PAYLOAD_BYTES);
		crc = b->crc(frame, BARE_PAYLOAD_BYTES);
		memcpy(frame + BARE_PAYLOAD_BYTES, &crc, CRC_BYTES);
		m[i]->data_len = BARE_PAYLOAD_BYTES + CRC_BYTES;
		m[i]->pkt_len = BARE_PAYLOAD_BYTES + CRC_BYTES;
		b->tx_offset = (b->tx_offset + BARE_PAYLOAD_BYTES) & (BARE_REGION_BYTES - 1);
	}
	return BARE_BURST;
}

/* The receiver's end: the verdict comes before the first byte is placed. */
static void
burst_place(struct bare *b, struct rte_mbuf **m, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(m[i], const uint8_t *);
		uint32_t crc;

		memcpy(&crc, frame + BARE_PAYLOAD_BYTES, CRC_BYTES);
		if (b->crc(frame, BARE_PAYLOAD_BYTES) != crc)
			b->rx_bad++;
		else
			memcpy(b->dst + b->rx_offset, frame, BARE_PAYLOAD_BYTES);
		b->rx_offset = (b->rx_offset + BARE_PAYLOAD_BYTES) & (BARE_REGION_BYTES - 1);
	}
	rte_pktmbuf_free_bulk(m, n);
	b->rx_frames += n;
}

static void
run_reset(struct bare *b)
{
	b->tx_offset = 0;
	b->rx_offset = 0;
	b->rx_frames = 0;
	b->rx_bad = 0;
	b->rx_ns = 0;
	memset(b->dst, 0, BARE_REGION_BYTES);
	atomic_store(&b->stop, false);
}

/* A run counts only when each byte is where it belongs and each frame is back. */
static double
run_result(struct bare *b)
{
	uint64_t whole = BARE_REGION_BYTES / BARE_PAYLOAD_BYTES;

	if (b->rx_bad != 0 || b->rx_frames < whole ||
		memcmp(b->src, b->dst, BARE_REGION_BYTES) != 0 ||
		rte_mempool_in_use_count(b->pool) != 0)
		return -1;
	return (double)(b->rx_frames * BARE_PAYLOAD_BYTES * 8) / (double)b->rx_ns;
}

double
bare_one_core(struct bare *b, uint64_t duration_ns)
{
	struct rte_mbuf *m[BARE_BURST];
	uint64_t start_ns;

	run_reset(b);
	start_ns = clock_ns();
	do {
		for (unsigned i = 0; i < BURSTS_PER_LOOK; i++)
			burst_place(b, m, burst_fill(b, m));
		b->rx_ns = clock_ns() - start_ns;
	} while (b->rx_ns < duration_ns);
	return run_result(b);
}

static unsigned
ring_take(struct bare *b)
{
	struct rte_mbuf *m[BARE_BURST];
	unsigned n = rte_ring_sc_dequeue_burst(b->ring, (void **)m, BARE_BURST, NULL);

	if (n != 0)
		burst_place(b, m, n);
	return n;
}

/* The receiving core: its clock starts with the first frame and stops before the ring is drained.
 */
static int
receiver_main(void *arg)
{
	struct bare *b = arg;
	uint64_t start_ns;

	while (ring_take(b) == 0)
		if (atomic_load_explicit(&b->stop, memory_order_relaxed))
			return 0;
	start_ns = clock_ns();
	b->rx_frames = 0;
	while (!atomic_load_explicit(&b->stop, memory_order_relaxed))
		if (ring_take(b) == 0)
			rte_pause();
	b->rx_ns = clock_ns() - start_ns;
	return 0;
}

double
bare_two_cores(struct bare *b, unsigned rx_lcore, uint64_t duration_ns)
{
	struct rte_mbuf *m[BARE_BURST];
	uint64_t start_ns, counted;
	unsigned turns = 0;

	run_reset(b);
	if (rte_eal_remote_launch(receiver_main, b, rx_lcore) != 0)
		return -1;
	start_ns = clock_ns();
	do {
		unsigned n = burst_fill(b, m), sent = 0;

		/* Single producer: room only grows, so a burst is either enqueued at once or waited
		 * for. */
		while (sent < n) {
			sent += rte_ring_sp_enqueue_burst(
				b->ring, (void **)(m + sent), n - sent, NULL);
			if (sent < n)
				rte_pause();
		}
	} while (++turns % BURSTS_PER_LOOK != 0 || clock_ns() - start_ns < duration_ns);
	atomic_store(&b->stop, true);
	rte_eal_wait_lcore(rx_lcore);
	counted = b->rx_frames;
	while (ring_take(b) != 0)
		;
	b->rx_frames = counted;
	return run_result(b);
}
