/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures by rte_pcapng. See pcap.h.
 *
 * Time: DPDK 22.11's own conversion of cycles keeps a base that it moves without a lock, and that
 * wraps for a stamp older than it (the first one of a process, or one of a second thread). So it
 * always gets the same stamp; a worker writes the cycle counter over the result, and control turns
 * that into wall-clock time as it writes the frame.
 */
#include <errno.h>
#include <fcntl.h>
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

#define BURST 32
#define CACHE 64
/* In an enhanced packet block: type, length and interface come before, 4 bytes each. */
#define STAMP_OFFSET 12
#define CALIBRATE_CYCLES_MIN(hz) ((hz) / 10)

/* One moment on both clocks. */
struct moment {
	uint64_t cycles, wall_ns;
};

struct plane {
	struct rte_ring *ring;
	rte_pcapng_t *file;
	uint16_t stats_port;		/* control: an interface that was captured on */
	uint64_t written, write_errors; /* control: rw */
	uint64_t last_ns;		/* control: rw */
	atomic_ulong dropped; /* workers: rw; only where copies are lost, so sharing it costs
				 nothing else */
};

struct pcap {
	unsigned planes;
	uint32_t snaplen_bytes;
	uint64_t stamp;		  /* constant: what the library may convert */
	struct moment start, now; /* control: rw */
	double ns_per_cycle;	  /* control: rw */
	struct rte_mempool *pool;
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
file_open(struct pcap *p, const char *dir, unsigned i, char *err, unsigned err_size)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/plane%u.pcapng", dir, i + 1);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0) {
		int error = errno;

		snprintf(err, err_size, "capture %s: %s", path, strerror(error));
		return -error;
	}
	/* Names every port that exists now as an interface; frames of later ports cannot be
	 * written. */
	p->plane[i].file = rte_pcapng_fdopen(fd, NULL, NULL, "dpdk-mrc " MRC_VERSION, NULL);
	if (p->plane[i].file == NULL) {
		int error = rte_errno != 0 ? rte_errno : EIO;

		close(fd);
		snprintf(err, err_size, "capture %s: %s", path, strerror(error));
		return -error;
	}
	return 0;
}

static int
memory_open(struct pcap *p, unsigned copies, char *err, unsigned err_size)
{
	char name[RTE_RING_NAMESIZE];
	unsigned i;

	p->pool = rte_pktmbuf_pool_create("pcap", p->planes * copies, CACHE, 0,
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
		rc = file_open(p, params->dir, i, err, err_size);
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

static unsigned
plane_write(struct pcap *p, struct plane *pl)
{
	unsigned left = rte_ring_count(pl->ring), total = 0, n, i;
	struct rte_mbuf *m[BURST];

	while (left > 0 && (n = rte_ring_dequeue_burst(pl->ring, (void **)m, BURST, NULL)) > 0) {
		left = n < left ? left - n : 0;
		pl->stats_port = m[0]->port;
		for (i = 0; i < n; i++)
			stamp_convert(p, pl, m[i]);
		/* Frees the copies, written or not. */
		if (rte_pcapng_write_packets(pl->file, m, (uint16_t)n) < 0) {
			if (pl->write_errors == 0)
				fprintf(stderr,
					"dpdk-mrc: capture: cannot write (%s), frames are lost\n",
					rte_strerror(rte_errno));
			pl->write_errors += n;
			continue;
		}
		pl->written += n;
		total += n;
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

struct pcap_stats
pcap_stats_get(const struct pcap *p, unsigned plane)
{
	const struct plane *pl = &p->plane[plane];

	return (struct pcap_stats){
		.written = pl->written,
		.dropped = atomic_load_explicit(&pl->dropped, memory_order_relaxed),
		.write_errors = pl->write_errors,
	};
}

static void
plane_close(struct pcap *p, struct plane *pl)
{
	if (pl->ring != NULL && pl->file != NULL)
		while (!rte_ring_empty(pl->ring))
			plane_write(p, pl);
	/* The file's own record of what it lacks, for readers of the capture. */
	if (pl->file != NULL && pl->stats_port != RTE_MAX_ETHPORTS)
		rte_pcapng_write_stats(pl->file, pl->stats_port, NULL, 0, 0,
			pl->written + pl->dropped, pl->dropped);
	if (pl->file != NULL)
		rte_pcapng_close(pl->file);
	rte_ring_free(pl->ring);
}

void
pcap_close(struct pcap *p)
{
	unsigned i;

	if (p == NULL)
		return;
	clock_update(p);
	for (i = 0; i < p->planes; i++)
		plane_close(p, &p->plane[i]);
	rte_mempool_free(p->pool);
	free(p);
}
