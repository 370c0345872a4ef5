/* SPDX-License-Identifier: BSD-3-Clause */
/* Making and unmaking a simulation: EAL, sizes and times that follow from the settings, pool,
 * fabric. */
#include "sim.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "mrc_limits.h"

#define TRIM_BYTES 160 /* SRv6 and all headers of a write with immediate */
#define SPARES 64      /* frames an engine keeps ready */

/* ---- EAL ---- */

/* EAL makes its runtime folder even where it keeps nothing in it. */
static void
runtime_dir_remove(void)
{
	char dir[256];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", rte_eal_get_runtime_dir());
	if (dir[0] == '\0' || rmdir(dir) < 0)
		return;
	slash = strrchr(dir, '/');
	if (slash != NULL && slash != dir) {
		*slash = '\0';
		rmdir(dir); /* fails while others use it */
	}
}

int
sim_eal_start(unsigned megabytes)
{
	static char text[10][40];
	cpu_set_t set;
	char *argv[11] = {0};
	int n = 0, rc, cpu = sched_getcpu();
	bool known = sched_getaffinity(0, sizeof(set), &set) == 0;

	snprintf(text[n++], 40, "mrc-sim");
	snprintf(text[n++], 40, "--no-huge");
	snprintf(text[n++], 40, "--no-shconf");
	snprintf(text[n++], 40, "--no-pci");
	snprintf(text[n++], 40, "--no-telemetry");
	snprintf(text[n++], 40, "--file-prefix=sim%d", (int)getpid());
	snprintf(text[n++], 40, "--log-level=lib.eal:error");
	snprintf(text[n++], 40, "--lcores=0@%d", cpu < 0 ? 0 : cpu);
	snprintf(text[n++], 40, "-m%u", megabytes);
	for (int i = 0; i < n; i++)
		argv[i] = text[i];
	rc = rte_eal_init(n, argv);
	/* nothing polls here: the system may move us, as before */
	if (known)
		sched_setaffinity(0, sizeof(set), &set);
	runtime_dir_remove();
	return rc < 0 ? -rte_errno : 0;
}

void
sim_eal_stop(void)
{
	rte_eal_cleanup();
	runtime_dir_remove();
}

/* ---- sizes and times ---- */

static uint32_t
header_bytes(const struct sim_opts *o)
{
	return (o->ev_map == SIM_EV_SRV6 ? 14 + 40 + 40 + 8 : 14 + 40 + 8);
}

static void
times(struct sim *s)
{
	const struct sim_opts *o = s->o;
	uint32_t write = MRC_BTH_BYTES + MRC_METH_BYTES + MRC_TSETH_BYTES + MRC_RETH_BYTES;
	uint32_t sack = MRC_BTH_BYTES + MRC_SETH_BYTES + MRC_CC_STATE_BYTES;
	double hops;

	s->leaves = (o->hosts + o->hosts_per_leaf - 1) / o->hosts_per_leaf;
	s->rate_bps = (uint64_t)(o->gbps * 1e9);
	s->header_bytes = header_bytes(o) + write + MRC_ICRC_BYTES;
	if (o->wire_overhead != 0) {
		s->wire_full = o->mtu + o->wire_overhead;
		s->wire_ctl = o->wire_overhead;
	} else {
		s->wire_full = s->header_bytes + o->mtu;
		s->wire_ctl = header_bytes(o) + sack + MRC_ICRC_BYTES;
	}
	hops = s->leaves > 1 ? 4 : 2;
	s->base_rtt_ns = hops * ((s->wire_full + s->wire_ctl) * 8 / o->gbps + 2 * o->link_ns);
	s->bdp_bytes = (uint64_t)(o->gbps * s->base_rtt_ns / 8);
}

double
sim_packet_ns(const struct sim *s, uint32_t payload)
{
	return (s->wire_full - s->o->mtu + payload) * 8 / s->o->gbps;
}

double
sim_fct0_ns(const struct sim *s, uint64_t bytes, uint32_t src, uint32_t dst)
{
	const struct sim_opts *o = s->o;
	double hops = sim_leaf(s, src) == sim_leaf(s, dst) ? 2 : 4;
	unsigned planes = o->lb == SIM_LB_SINGLE ? 1 : o->planes;
	uint64_t packets = (bytes + o->mtu - 1) / o->mtu;
	uint32_t last = (uint32_t)(bytes - (packets - 1) * o->mtu);
	uint64_t before = (packets + planes - 1) / planes - 1; /* on the last packet's plane */
	double t = sim_packet_ns(s, o->mtu), t_last = sim_packet_ns(s, last);

	/* behind full packets a short last one waits for them at each hop */
	t = before > 0 ? (before + hops - 1) * t + t_last : hops * t_last;
	return t + 2 * hops * o->link_ns + hops * s->wire_ctl * 8 / o->gbps;
}

static uint32_t
queue_bytes(const struct sim *s)
{
	return (uint32_t)(s->bdp_bytes * (s->o->trim ? 1 : 5));
}

/*
 * Frames inside at most: what the windows of a host allow, the answers to it, and some. A window is
 * 1.5 BDP to each peer; without congestion control the PSN window bounds it, eight BDPs.
 */
static uint32_t
frames_max(const struct sim *s)
{
	const struct sim_opts *o = s->o;
	uint64_t bdp = s->bdp_bytes / s->wire_full + 1,
		 n = (o->cc <= SIM_CC_SWIFT ? 6 : 20) * bdp + 64;

	if (o->cc == SIM_CC_FIXED)
		n += 2 * (uint64_t)o->window_bytes / s->wire_full;
	if (o->experiment == SIM_ALLTOALL)
		n *= 3; /* more than so many windows find no room in the queues */
	n *= (uint64_t)o->planes * o->hosts;
	return n > 1u << 24 ? 1u << 24 : (uint32_t)n;
}

static uint32_t
pool_size(const struct sim *s)
{
	return frames_max(s) + s->o->hosts * SPARES * 2 + 1024;
}

static uint32_t
room_bytes(const struct sim_opts *o)
{
	return RTE_PKTMBUF_HEADROOM + (o->verify ? MRC_HDR_BYTES_MAX + o->mtu + 64 : 256);
}

unsigned
sim_megabytes(const struct sim_opts *o)
{
	struct sim s = {.o = o};
	uint64_t bytes;

	times(&s);
	bytes = (uint64_t)pool_size(&s) * (room_bytes(o) + sizeof(struct rte_mbuf) + 320);
	return (unsigned)(bytes >> 20) + 64;
}

/* ---- the whole ---- */

static int
fabric_make(struct sim *s)
{
	const struct sim_opts *o = s->o;
	struct mrc_fabric_sink sink = sim_sink;
	struct mrc_fabric_params p = {.planes = o->planes,
		.leaves = s->leaves,
		.spines = o->spines,
		.hosts_per_leaf = o->hosts_per_leaf,
		.rate_bps = s->rate_bps,
		.latency_ns = (uint64_t)o->link_ns,
		.queue_bytes = queue_bytes(s),
		.ecn_kmin_bytes = (uint32_t)(s->bdp_bytes / 5),
		.ecn_kmax_bytes = (uint32_t)(s->bdp_bytes * 4 / 5),
		.ecn = true,
		.ecn_lasthop = o->lasthop_ecn,
		.trim = o->trim,
		.trim_bytes = TRIM_BYTES,
		.trim_wire_bytes = o->wire_overhead,
		.frames_max = frames_max(s),
		.seed = (uint64_t)o->seed * 2 + 1,
		.block = {0xfc, 0xbb, 0xbb, 0x00},
		.dscp = MRC_DSCP_DEFAULTS};
	int rc;

	sink.ctx = s;
	rc = mrc_fabric_create(&p, &sink, &s->fab);
	for (uint32_t h = 0; rc == 0 && h < s->hosts_n; h++)
		rc = mrc_fabric_host_addr(s->fab, h, &s->hosts[h].gid);
	return rc;
}

/* Phantom payload: addresses that are checked and never touched. A stray access faults. */
static int
payload_reserve(struct sim *s)
{
	void *p;

	if (s->o->verify)
		return 0;
	s->payload.map_len = ((size_t)s->o->bytes + 4095) & ~(size_t)4095;
	p = mmap(NULL, s->payload.map_len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		-1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	s->payload.map = s->payload.base = p;
	return 0;
}

static int
arrays_make(struct sim *s)
{
	s->hosts_n = s->o->hosts;
	s->hosts = calloc(s->hosts_n, sizeof(*s->hosts));
	s->touched = calloc(s->hosts_n, sizeof(*s->touched));
	s->heap = calloc(s->hosts_n, sizeof(*s->heap));
	if (s->hosts == NULL || s->touched == NULL || s->heap == NULL)
		return -ENOMEM;
	for (uint32_t h = 0; h < s->hosts_n; h++) {
		uint8_t *b = s->hosts[h].gid.b;

		b[0] = 0xfd;
		b[12] = (uint8_t)((h + 1) >> 24);
		b[13] = (uint8_t)((h + 1) >> 16);
		b[14] = (uint8_t)((h + 1) >> 8);
		b[15] = (uint8_t)(h + 1);
		s->hosts[h].wake_ns = UINT64_MAX;
	}
	return 0;
}

static int
pool_make(struct sim *s)
{
	static unsigned runs;
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "sim%u", runs++);
	s->pool = rte_pktmbuf_pool_create(name, pool_size(s), 256,
		RTE_ALIGN(sizeof(struct mrc_mbuf_meta), RTE_MBUF_PRIV_ALIGN),
		(uint16_t)room_bytes(s->o), SOCKET_ID_ANY);
	return s->pool == NULL ? -rte_errno : 0;
}

int
sim_create(const struct sim_opts *o, struct sim **out, char *err, unsigned err_size)
{
	struct sim *s = calloc(1, sizeof(*s));
	int rc;

	if (s == NULL)
		return -ENOMEM;
	s->o = o;
	s->fault_ns = s->heal_ns = s->first_loss_ns = s->first_done_ns = UINT64_MAX;
	mrc_prng_seed(&s->prng, (uint64_t)o->seed);
	times(s);
	err[0] = '\0';
	rc = arrays_make(s);
	if (rc == 0)
		rc = sim_flows_make(s, err, err_size);
	if (rc == 0)
		rc = payload_reserve(s);
	if (rc == 0)
		rc = pool_make(s);
	if (rc == 0)
		rc = fabric_make(s);
	if (rc == 0)
		rc = sim_hosts_make(s);
	if (rc == 0)
		rc = sim_events_make(s, err, err_size);
	if (rc == 0 && o->trace[0] != '\0')
		rc = sim_trace_open(s, err, err_size);
	if (rc < 0) {
		if (err[0] == '\0')
			snprintf(err, err_size, "the simulation cannot be set up: %s",
				strerror(-rc));
		sim_destroy(s);
		return rc;
	}
	*out = s;
	return 0;
}

void
sim_destroy(struct sim *s)
{
	if (s == NULL)
		return;
	sim_trace_close(s);
	mrc_fabric_destroy(s->fab);
	if (s->hosts != NULL)
		sim_hosts_free(s);
	for (unsigned i = 0; i < s->flows_n; i++)
		sim_payload_free(&s->flows[i]);
	if (s->payload.map != NULL)
		munmap(s->payload.map, s->payload.map_len);
	rte_mempool_free(s->pool);
	free(s->samples);
	free(s->events);
	free(s->flows);
	free(s->heap);
	free(s->touched);
	free(s->hosts);
	free(s);
}
