/* SPDX-License-Identifier: BSD-3-Clause */
/* Building the daemon from its configuration, and taking it down so that every mbuf is counted. */
#include "daemon.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include "clock.h"
#include "eal.h"
#include "mrc_ethdev.h"

#define MBUFS_SLACK 4096
#define FABRIC_FRAMES_MAX 16384
#define CAPTURE_COPIES 4096

static int
fail(char *err, unsigned err_size, int rc, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(err, err_size, fmt, ap);
	va_end(ap);
	if (n >= 0 && (unsigned)n < err_size)
		snprintf(err + n, err_size - (unsigned)n, ": %s", strerror(-rc));
	return rc;
}

/* ---- sizes ---- */

static uint32_t
frame_bytes(const struct cfg *cfg)
{
	return MRC_HDR_BYTES_MAX + cfg->qp.mtu_bytes + MRC_ICRC_BYTES;
}

static unsigned
fabric_frames(const struct cfg *cfg)
{
	const struct cfg_fabric *f = &cfg->fabric;
	uint64_t egresses =
		(uint64_t)cfg->planes * 2 * (f->leaves * f->spines + f->leaves * f->hosts_per_leaf);
	uint64_t frames = egresses * (f->queue_packets + 64);

	return frames < FABRIC_FRAMES_MAX ? (unsigned)frames : FABRIC_FRAMES_MAX;
}

/* Enough for every ring and queue to be full at once, so that the pool is never what is short. */
static unsigned
mbufs(const struct cfg *cfg)
{
	unsigned ports = cfg->nodes_n * cfg->planes;

	if (cfg->mbufs != 0)
		return cfg->mbufs;
	if (cfg->link == CFG_LINK_FABRIC)
		return ports * 2 * (cfg->fabric.ring_size + MRC_BURST) + fabric_frames(cfg) +
		       MBUFS_SLACK;
	return ports * (cfg->ring_size + MRC_BURST) + MBUFS_SLACK;
}

static uint32_t
element_bytes(const struct cfg *cfg)
{
	return (uint32_t)RTE_ALIGN(RTE_PKTMBUF_HEADROOM + frame_bytes(cfg), 64);
}

#define PRIV_BYTES RTE_ALIGN(sizeof(struct mrc_mbuf_meta), RTE_MBUF_PRIV_ALIGN)

uint64_t
daemon_bytes(const struct cfg *cfg)
{
	uint64_t one = rte_mempool_calc_obj_size(
		sizeof(struct rte_mbuf) + PRIV_BYTES + element_bytes(cfg), 0, NULL);

	/* and two pointers: the pool's ring has a power of two of them */
	return mbufs(cfg) * (one + 2 * sizeof(void *)) + (32 << 20);
}

uint64_t
daemon_capture_bytes(const struct cfg *cfg, const char *pcap_dir, unsigned snaplen)
{
	return pcap_dir != NULL ? pcap_bytes(cfg->planes, snaplen, CAPTURE_COPIES) : 0;
}

/* ---- the network between the nodes ---- */

static int
fabric_make(struct daemon *d)
{
	const struct cfg *cfg = d->cfg;
	const struct cfg_fabric *f = &cfg->fabric;
	uint32_t frame = frame_bytes(cfg);
	unsigned hosts = 0;
	struct mrc_fabric_params p = {.planes = cfg->planes,
		.leaves = f->leaves,
		.spines = f->spines,
		.hosts_per_leaf = f->hosts_per_leaf,
		.rate_bps = (uint64_t)(f->rate_gbps * 1e9),
		.latency_ns = f->latency_ns,
		.queue_bytes = f->queue_packets * frame,
		.host_queue_bytes = 4 * frame,
		.ecn_kmin_bytes = f->ecn_kmin_packets * frame,
		.ecn_kmax_bytes = f->ecn_kmax_packets * frame,
		.ecn = f->ecn,
		.ecn_lasthop = f->ecn_lasthop,
		.trim = f->trim,
		.trim_bytes = MRC_HDR_BYTES_MAX,
		.frames_max = fabric_frames(cfg),
		.seed = f->seed,
		.dscp = cfg->wire.dscp};
	int rc;

	memcpy(p.block, cfg->block, sizeof(p.block));
	for (unsigned i = 0; i < cfg->nodes_n; i++)
		if (cfg->nodes[i].host >= hosts)
			hosts = cfg->nodes[i].host + 1;
	rc = mrc_drv_fabric_create(&p, "fab", hosts, f->ring_size, &d->fabric);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < cfg->nodes_n; i++) {
		rc = mrc_fabric_host_addr(
			mrc_drv_fabric_get(d->fabric), cfg->nodes[i].host, &cfg->nodes[i].gid);
		if (rc < 0)
			return rc;
	}
	d->fabric_worker = &d->workers[f->worker];
	d->fabric_worker->fabric = d->fabric;
	return 0;
}

static int
network_make(struct daemon *d, uint16_t ids[MRC_NODES_MAX][MRC_PLANES_MAX])
{
	const struct cfg *cfg = d->cfg;

	if (cfg->link == CFG_LINK_FABRIC) {
		int rc = fabric_make(d);

		if (rc < 0)
			return rc;
		for (unsigned i = 0; i < cfg->nodes_n; i++)
			for (unsigned pl = 0; pl < cfg->planes; pl++)
				ids[i][pl] = mrc_drv_fabric_port(d->fabric, cfg->nodes[i].host, pl);
		return 0;
	}
	for (unsigned pl = 0; pl < cfg->planes; pl++) {
		char name[32];
		uint16_t pair[2];
		int rc;

		snprintf(name, sizeof(name), "plane%u", pl + 1);
		rc = mrc_ethdev_ring_pair(name, cfg->ring_size, pair);
		if (rc < 0)
			return rc;
		d->rings_n++;
		ids[0][pl] = pair[0];
		ids[1][pl] = pair[1];
	}
	return 0;
}

static void
network_free(struct daemon *d)
{
	mrc_drv_fabric_destroy(d->fabric);
	d->fabric = NULL;
	for (; d->rings_n > 0; d->rings_n--) {
		char name[32];

		snprintf(name, sizeof(name), "plane%u", d->rings_n);
		mrc_ethdev_ring_pair_free(name);
	}
}

/* ---- the whole ---- */

static int
workers_make(struct daemon *d)
{
	uint64_t rto_ns = UINT64_C(1024) << (d->cfg->qp.timeout == 0 ? 14 : d->cfg->qp.timeout);

	for (unsigned i = 0; i < d->cfg->workers_n; i++) {
		int rc = worker_init(&d->workers[i], i, eal_worker_lcore(i));

		if (rc < 0)
			return rc;
		d->workers_n++;
		d->workers[i].gap_limit_ns =
			d->cfg->path.jitter_ns == 0 || rto_ns < d->cfg->path.jitter_ns
				? rto_ns / 2
				: d->cfg->path.jitter_ns / 2;
	}
	return 0;
}

static int
build(struct daemon *d, const char *pcap_dir, unsigned snaplen, char *err, unsigned err_size)
{
	const struct cfg *cfg = d->cfg;
	uint16_t ids[MRC_NODES_MAX][MRC_PLANES_MAX];
	int rc = workers_make(d);

	if (rc < 0)
		return fail(err, err_size, rc, "workers");
	/* a stack: what was freed last is used first, while it is in cache; a ring would walk the
	 * pool */
	d->pool = rte_pktmbuf_pool_create_by_ops("frames", mbufs(cfg), CFG_POOL_CACHE, PRIV_BYTES,
		(uint16_t)element_bytes(cfg), SOCKET_ID_ANY, "stack");
	if (d->pool == NULL)
		return fail(err, err_size, -rte_errno, "packet pool of %u frames", mbufs(cfg));
	rc = network_make(d, ids);
	if (rc < 0)
		return fail(err, err_size, rc, "network between the nodes");
	for (unsigned i = 0; i < cfg->nodes_n; i++) {
		rc = daemon_node_make(d, i, ids[i]);
		if (rc < 0)
			return fail(err, err_size, rc, "node %s", cfg->nodes[i].name);
	}
	if (pcap_dir != NULL) {
		struct pcap_params p = {.dir = pcap_dir,
			.planes = cfg->planes,
			.snaplen_bytes = snaplen,
			.copies = CAPTURE_COPIES,
			.thread = true};

		rc = pcap_open(&p, &d->pcap, err, err_size);
		if (rc < 0)
			return rc;
	}
	for (unsigned i = 0; i < d->workers_n; i++) {
		d->workers[i].pcap = d->pcap;
		rc = worker_launch(&d->workers[i]);
		if (rc < 0)
			return fail(err, err_size, rc, "worker %u", i);
	}
	return 0;
}

int
daemon_start(struct daemon *d, const struct cfg *cfg, bool huge, const char *pcap_dir,
	unsigned snaplen, char *err, unsigned err_size)
{
	unsigned lost;
	int rc;

	memset(d, 0, sizeof(*d));
	d->cfg = cfg;
	d->huge = huge;
	d->qp_seed = cfg->seed;
	clock_start();
	rc = build(d, pcap_dir, snaplen, err, err_size);
	if (rc < 0)
		daemon_stop(d, &lost);
	return rc;
}

void
daemon_stop(struct daemon *d, unsigned *lost)
{
	for (unsigned i = 0; i < d->workers_n; i++)
		worker_stop(&d->workers[i]);
	*lost = pcap_close(d->pcap);
	d->pcap = NULL;
	for (unsigned i = 0; i < d->nodes_n; i++)
		daemon_node_free(d, &d->nodes[i]);
	d->nodes_n = 0;
	network_free(d);
	for (unsigned i = 0; i < d->workers_n; i++)
		worker_fini(&d->workers[i]);
	d->workers_n = 0;
	if (d->pool != NULL)
		*lost += rte_mempool_in_use_count(d->pool);
	rte_mempool_free(d->pool);
	d->pool = NULL;
}

static void
chunk_huge(struct rte_mempool *mp, void *arg, struct rte_mempool_memhdr *chunk, unsigned idx)
{
	const struct rte_memseg *seg = rte_mem_virt2memseg(chunk->addr, NULL);

	if (seg == NULL || seg->hugepage_sz < (2u << 20))
		*(bool *)arg = false;
}

bool
daemon_pool_huge(const struct daemon *d)
{
	bool huge = rte_eal_has_hugepages();

	rte_mempool_mem_iter(d->pool, chunk_huge, &huge);
	return huge;
}
