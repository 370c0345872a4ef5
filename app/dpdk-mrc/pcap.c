/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures by rte_pcapng. See pcap.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

struct plane {
	struct rte_ring *ring;
	rte_pcapng_t *file;
	uint16_t stats_port;		/* control: an interface that was captured on */
	uint64_t written, write_errors; /* control: rw */
	atomic_ulong dropped; /* workers: rw; only where copies are lost, so sharing it costs
				 nothing else */
};

struct pcap {
	unsigned planes;
	uint32_t snaplen_bytes;
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
				p->snaplen_bytes, now, RTE_PCAPNG_DIRECTION_OUT);

			if (m != NULL)
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
plane_write(struct plane *pl)
{
	unsigned left = rte_ring_count(pl->ring), total = 0, n;
	struct rte_mbuf *m[BURST];

	while (left > 0 && (n = rte_ring_dequeue_burst(pl->ring, (void **)m, BURST, NULL)) > 0) {
		left = n < left ? left - n : 0;
		pl->stats_port = m[0]->port;
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

	for (i = 0; i < p->planes; i++)
		total += plane_write(&p->plane[i]);
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
plane_close(struct plane *pl)
{
	if (pl->ring != NULL && pl->file != NULL)
		while (!rte_ring_empty(pl->ring))
			plane_write(pl);
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
	for (i = 0; i < p->planes; i++)
		plane_close(&p->plane[i]);
	rte_mempool_free(p->pool);
	free(p);
}
