/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures by rte_pcapng. See pcap.h.
 *
 * Time: DPDK 22.11's own conversion of cycles keeps a base that it moves without a lock, and that
 * wraps for a stamp older than it (the first one of a process, or one of a second thread). So it
 * always gets the same stamp; a worker writes the cycle counter over the result, and the writer
 * turns that into wall-clock time as it writes the frame.
 *
 * rte_pcapng_write_packets of 22.11 does not free the frames, whatever its header says: we do.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_pcapng.h>
#include <rte_ring.h>

#include "mrc_limits.h"
#include "pcap.h"
#include "pcap_file.h"

#define BURST 32
#define CACHE 64
#define IDLE_US 1000 /* a ring holds many times what one plane sends meanwhile */
/* In an enhanced packet block: type, length and interface come before, 4 bytes each. */
#define STAMP_OFFSET 12
#define CALIBRATE_CYCLES_MIN(hz) ((hz) / 10)

/* One moment on both clocks. */
struct moment {
	uint64_t cycles, wall_ns;
};

/* writer: the capture's thread, or control where there is none */
struct plane {
	struct rte_ring *ring;
	struct pcap_file file;
	uint16_t stats_port;		    /* writer: rw; an interface that was captured on */
	uint64_t last_ns;		    /* writer: rw */
	atomic_ulong written, write_errors; /* writer: rw, control: ro */
	atomic_ulong dropped; /* workers: rw; only where copies are lost, so sharing it costs
				 nothing else */
};

struct pcap {
	unsigned planes;
	uint32_t snaplen_bytes;
	uint64_t stamp;		  /* constant: what the library may convert */
	struct moment start, now; /* writer: rw */
	double ns_per_cycle;	  /* writer: rw */
	struct rte_mempool *pool;
	bool thread_runs; /* control: rw */
	pthread_t thread;
	atomic_bool stop; /* control: rw, writer: ro */
	struct plane plane[MRC_PLANES_MAX];
};

/* The copy's data room: headroom takes the block's header, which rte_pcapng_copy puts in front. */
static uint32_t
room_bytes(unsigned snaplen_bytes)
{
	return RTE_PKTMBUF_HEADROOM + rte_pcapng_mbuf_size(snaplen_bytes);
}

uint64_t
pcap_bytes(unsigned planes, unsigned snaplen_bytes, unsigned copies)
{
	uint64_t element =
		sizeof(struct rte_mbuf) + room_bytes(snaplen_bytes) + 2 * RTE_CACHE_LINE_SIZE;

	return planes * (uint64_t)copies * (element + sizeof(void *)) + (1 << 20);
}

/* Of a few tries the one with the shortest time between the two clocks: we may lose the CPU in
 * between. */
static struct moment
moment_get(void)
{
	uint64_t best = UINT64_MAX;
	struct moment m = {0};
	unsigned i;

	for (i = 0; i < 3; i++) {
		uint64_t before = rte_rdtsc(), took;
		struct timespec ts;

		clock_gettime(CLOCK_REALTIME, &ts);
		took = rte_rdtsc() - before;
		if (took >= best)
			continue;
		best = took;
		m.cycles = before + took / 2;
		m.wall_ns = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	}
	return m;
}

/* The library's idea of the frequency may be off by parts in a thousand: soon our own measure is
 * better. */
static void
clock_update(struct pcap *p)
{
	uint64_t hz = rte_get_tsc_hz();

	p->now = moment_get();
	if (p->start.cycles == 0)
		p->start = p->now;
	if (p->now.cycles - p->start.cycles < CALIBRATE_CYCLES_MIN(hz))
		p->ns_per_cycle = 1e9 / (double)hz;
	else
		p->ns_per_cycle = (double)(p->now.wall_ns - p->start.wall_ns) /
				  (double)(p->now.cycles - p->start.cycles);
}

/* The library fixes its base at the first copy: make one, with a stamp that is no older. */
static int
clock_open(struct pcap *p)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(p->pool), *copy = NULL;
	uint16_t port = (uint16_t)rte_eth_find_next(0);

	p->stamp = rte_rdtsc() + CALIBRATE_CYCLES_MIN(rte_get_tsc_hz());
	if (m != NULL && port < RTE_MAX_ETHPORTS &&
		rte_pktmbuf_append(m, RTE_ETHER_HDR_LEN) != NULL)
		copy = rte_pcapng_copy(
			port, 0, m, p->pool, RTE_ETHER_HDR_LEN, p->stamp, RTE_PCAPNG_DIRECTION_OUT);
	rte_pktmbuf_free(m);
	if (copy == NULL)
		return -ENODEV;
	rte_pktmbuf_free(copy);
	clock_update(p);
	return 0;
}

static void
stamp_cycles(struct rte_mbuf *copy, uint64_t cycles)
{
	memcpy(rte_pktmbuf_mtod_offset(copy, char *, STAMP_OFFSET), &cycles, sizeof(cycles));
}

/* In a file time never runs back, though each drain compares the clocks anew. */
static void
stamp_convert(const struct pcap *p, struct plane *pl, struct rte_mbuf *copy)
{
	char *at = rte_pktmbuf_mtod_offset(copy, char *, STAMP_OFFSET);
	uint32_t half[2];
	uint64_t cycles, ns;
	int64_t since;

	memcpy(&cycles, at, sizeof(cycles));
	since = (int64_t)(cycles - p->now.cycles);
	ns = p->now.wall_ns + (uint64_t)(int64_t)((double)since * p->ns_per_cycle);
	pl->last_ns = RTE_MAX(ns, pl->last_ns);
	half[0] = (uint32_t)(pl->last_ns >> 32);
	half[1] = (uint32_t)pl->last_ns;
	memcpy(at, half, sizeof(half));
}

static int
memory_open(struct pcap *p, unsigned copies, char *err, unsigned err_size)
{
	char name[RTE_RING_NAMESIZE];
	unsigned i;

	/* DPDK wants half as much again in a pool as a cache of it may hold. */
	p->pool = rte_pktmbuf_pool_create("pcap", p->planes * copies,
		p->planes * copies < 2 * CACHE ? 0 : CACHE, 0,
		(uint16_t)room_bytes(p->snaplen_bytes), SOCKET_ID_ANY);
	for (i = 0; p->pool != NULL && i < p->planes; i++) {
		snprintf(name, sizeof(name), "pcap%u", i + 1);
		p->plane[i].ring = rte_ring_create(name, copies, SOCKET_ID_ANY, RING_F_SC_DEQ);
		if (p->plane[i].ring == NULL)
			break;
	}
	if (p->pool != NULL && i == p->planes)
		return 0;
	snprintf(err, err_size, "capture: no memory for %u copies of %u bytes (%s)",
		p->planes * copies, p->snaplen_bytes, rte_strerror(rte_errno));
	return rte_errno != 0 ? -rte_errno : -ENOMEM;
}

/* @return frames written */
static unsigned
burst_write(struct pcap *p, struct plane *pl, struct rte_mbuf **m, unsigned n)
{
	bool there;
	unsigned i;

	for (i = 0; i < n; i++)
		stamp_convert(p, pl, m[i]);
	pl->stats_port = m[0]->port;
	there = pcap_file_write(&pl->file, m, n);
	rte_pktmbuf_free_bulk(m, n);
	atomic_fetch_add_explicit(
		there ? &pl->written : &pl->write_errors, n, memory_order_relaxed);
	return there ? n : 0;
}

static unsigned
plane_write(struct pcap *p, struct plane *pl)
{
	unsigned left = rte_ring_count(pl->ring), total = 0, n;
	struct rte_mbuf *m[BURST];

	while (left > 0 && (n = rte_ring_dequeue_burst(pl->ring, (void **)m, BURST, NULL)) > 0) {
		left = n < left ? left - n : 0;
		total += burst_write(p, pl, m, n);
	}
	return total;
}

unsigned
pcap_poll(struct pcap *p)
{
	unsigned i, total = 0;

	clock_update(p);
	for (i = 0; i < p->planes; i++)
		total += plane_write(p, &p->plane[i]);
	return total;
}

static void *
writer(void *arg)
{
	struct pcap *p = arg;

	while (!atomic_load_explicit(&p->stop, memory_order_relaxed))
		if (pcap_poll(p) == 0)
			usleep(IDLE_US);
	return NULL;
}

int
pcap_open(const struct pcap_params *params, struct pcap **out, char *err, unsigned err_size)
{
	struct pcap *p = calloc(1, sizeof(*p));
	unsigned i;
	int rc = 0;

	if (p == NULL || params->planes > MRC_PLANES_MAX) {
		free(p);
		snprintf(err, err_size, "capture: no memory");
		return -ENOMEM;
	}
	p->planes = params->planes;
	p->snaplen_bytes = params->snaplen_bytes;
	if (mkdir(params->dir, 0755) < 0 && errno != EEXIST) {
		rc = -errno;
		snprintf(err, err_size, "capture %s: %s", params->dir, strerror(errno));
	}
	if (rc == 0)
		rc = memory_open(p, params->copies, err, err_size);
	if (rc == 0) {
		rc = clock_open(p);
		if (rc < 0)
			snprintf(err, err_size, "capture: there is no port to capture on");
	}
	for (i = 0; rc == 0 && i < p->planes; i++) {
		p->plane[i].stats_port = RTE_MAX_ETHPORTS;
		rc = pcap_file_open(&p->plane[i].file, params->dir, i + 1, err, err_size);
	}
	if (rc == 0 && params->thread) {
		rc = rte_ctrl_thread_create(&p->thread, "pcap", NULL, writer, p);
		p->thread_runs = rc == 0;
		if (rc != 0)
			snprintf(err, err_size, "capture: no thread: %s", strerror(abs(rc)));
		rc = -abs(rc);
	}
	if (rc < 0) {
		pcap_close(p);
		return rc;
	}
	*out = p;
	return 0;
}

void
pcap_tap(struct pcap *p, unsigned plane, uint16_t eth_port, struct rte_mbuf **pkts, unsigned n)
{
	struct rte_mbuf *copy[BURST];
	unsigned i, got, put;
	struct plane *pl;
	uint64_t now;

	if (p == NULL)
		return;
	pl = &p->plane[plane];
	now = rte_rdtsc();
	while (n > 0) {
		unsigned burst = n < BURST ? n : BURST;

		got = 0;
		for (i = 0; i < burst; i++) {
			struct rte_mbuf *m = rte_pcapng_copy(eth_port, 0, pkts[i], p->pool,
				p->snaplen_bytes, p->stamp, RTE_PCAPNG_DIRECTION_OUT);

			if (m == NULL)
				continue;
			stamp_cycles(m, now);
			copy[got++] = m;
		}
		put = rte_ring_enqueue_burst(pl->ring, (void **)copy, got, NULL);
		if (put < burst)
			atomic_fetch_add_explicit(&pl->dropped, burst - put, memory_order_relaxed);
		if (put < got)
			rte_pktmbuf_free_bulk(&copy[put], got - put);
		pkts += burst;
		n -= burst;
	}
}

struct pcap_stats
pcap_stats_get(const struct pcap *p, unsigned plane)
{
	const struct plane *pl = &p->plane[plane];

	return (struct pcap_stats){
		.written = atomic_load_explicit(&pl->written, memory_order_relaxed),
		.dropped = atomic_load_explicit(&pl->dropped, memory_order_relaxed),
		.write_errors = atomic_load_explicit(&pl->write_errors, memory_order_relaxed),
	};
}

static void
plane_close(struct pcap *p, struct plane *pl)
{
	struct pcap_stats s;
	uint64_t lost, seen;

	if (pl->file.ng == NULL)
		return;
	while (!rte_ring_empty(pl->ring))
		plane_write(p, pl);
	s = pcap_stats_get(p, (unsigned)(pl - p->plane));
	lost = s.dropped + s.write_errors;
	seen = s.written + lost;
	pcap_file_close(&pl->file, pl->stats_port, seen, lost);
	if (lost > 0)
		fprintf(stderr,
			"dpdk-mrc: capture %s: %lu of %lu frames are missing: %lu came faster than "
			"they were written, %lu could not be written\n",
			pl->file.path, (unsigned long)lost, (unsigned long)seen,
			(unsigned long)s.dropped, (unsigned long)s.write_errors);
}

unsigned
pcap_close(struct pcap *p)
{
	unsigned i, lost = 0;

	if (p == NULL)
		return 0;
	atomic_store_explicit(&p->stop, true, memory_order_relaxed);
	if (p->thread_runs)
		pthread_join(p->thread, NULL);
	clock_update(p);
	for (i = 0; i < p->planes; i++) {
		plane_close(p, &p->plane[i]);
		rte_ring_free(p->plane[i].ring);
	}
	if (p->pool != NULL)
		lost = rte_mempool_in_use_count(p->pool);
	if (lost > 0)
		fprintf(stderr,
			"dpdk-mrc: capture: %u of %u copies did not come back to their pool\n",
			lost, p->pool->size);
	rte_mempool_free(p->pool);
	free(p);
	return lost;
}
