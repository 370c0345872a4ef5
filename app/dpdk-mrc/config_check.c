/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What holds between keys, and the defaults that follow from other keys. Each check reports the
 * value that a reader would change first. Who calls it: config.c.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config_read.h"

/* Names of values in error messages: "nodes[1].gid" */
#define NAME(buf, ...) (snprintf(buf, sizeof(buf), __VA_ARGS__), buf)

static int
check_ports(struct cfg_reader *r, struct cfg *c)
{
	if (c->planes * c->nodes_n > MRC_ETH_PORTS_MAX)
		return cfg_fail_at(r, "planes",
			"%u planes x %u nodes need %u ports, allowed: %u in one process "
			"(RTE_MAX_ETHPORTS of DPDK)",
			c->planes, c->nodes_n, c->planes * c->nodes_n, MRC_ETH_PORTS_MAX);
	if (c->link == CFG_LINK_RING && c->nodes_n != 2)
		return cfg_fail_at(r, "nodes", "link \"ring\" joins %u node%s, allowed: exactly 2",
			c->nodes_n, c->nodes_n == 1 ? "" : "s");
	return 0;
}

static int
check_gid(struct cfg_reader *r, const struct cfg *c, unsigned i)
{
	const struct cfg_node *n = &c->nodes[i];
	char name[32], text[MRC_ADDR_TEXT_MAX];
	unsigned j;

	NAME(name, "nodes[%u].gid", i);
	mrc_addr_text(&n->gid, text);
	if (memcmp(n->gid.b, c->block, sizeof(c->block)) == 0)
		return cfg_fail_at(r, name,
			"%s lies inside the locator, allowed: an address outside it", text);
	for (j = 0; j < i; j++)
		if (mrc_addr_eq(&c->nodes[j].gid, &n->gid))
			return cfg_fail_at(r, name,
				"%s is the GID of node %s too, allowed: one GID per node", text,
				c->nodes[j].name);
	if (mrc_addr_is_v4(&n->gid) != mrc_addr_is_v4(&c->nodes[0].gid))
		return cfg_fail_at(r, name,
			"%s is of another family than that of node %s, allowed: all IPv6 or all "
			"IPv4",
			text, c->nodes[0].name);
	for (j = 0; mrc_addr_is_v4(&n->gid) && j < c->profiles_n; j++)
		if (c->profiles[j].mode != MRC_EV_UDP)
			return cfg_fail_at(r, name,
				"%s is IPv4 and ev_profiles[%u] is not of mode udp, allowed: IPv6 "
				"(or mode udp)",
				text, j);
	return 0;
}

/* The fabric's driver makes the ports of all hosts up to the last one that is used. */
static int
check_host_ports(struct cfg_reader *r, const struct cfg *c, unsigned i, bool placed)
{
	unsigned fit = MRC_ETH_PORTS_MAX / c->planes;
	const struct cfg_node *n = &c->nodes[i];
	char name[32];

	if (n->host < fit)
		return 0;
	if (placed)
		return cfg_fail_at(r, "fabric.hosts_per_leaf",
			"%u puts node %s on host %u, and ports are made for hosts up to the last "
			"one used, allowed: hosts 0 .. %u with %u planes (%u ports in one "
			"process); nodes[%u].host chooses one",
			c->fabric.hosts_per_leaf, n->name, n->host, fit - 1, c->planes,
			MRC_ETH_PORTS_MAX, i);
	return cfg_fail_at(r, NAME(name, "nodes[%u].host", i),
		"ports are made for hosts up to %u, allowed: 0 .. %u with %u planes (%u ports in "
		"one process)",
		n->host, fit - 1, c->planes, MRC_ETH_PORTS_MAX);
}

/* In the fabric every node sits on a host of its own, or its planes would have no port. */
static int
check_host(struct cfg_reader *r, struct cfg *c, unsigned i)
{
	const struct cfg_fabric *f = &c->fabric;
	unsigned hosts = f->leaves * f->hosts_per_leaf, j;
	struct cfg_node *n = &c->nodes[i];
	bool placed = n->host == UINT32_MAX;
	char name[32];

	NAME(name, "nodes[%u].host", i);
	if (placed) {
		if (i >= hosts)
			return cfg_fail_at(r, name,
				"no host port left for the planes of node %s, allowed: %u nodes "
				"(leaves x hosts_per_leaf)",
				n->name, hosts);
		n->host = i % f->leaves * f->hosts_per_leaf + i / f->leaves;
	}
	if (n->host >= hosts)
		return cfg_fail_at(r, name,
			"the fabric has no port for host %u on any plane, allowed: 0 .. %u "
			"(leaves x hosts_per_leaf)",
			n->host, hosts - 1);
	for (j = 0; j < i; j++)
		if (c->nodes[j].host == n->host)
			return cfg_fail_at(r, name,
				"host %u carries node %s already and has one port per plane, "
				"allowed: a "
				"free host of 0 .. %u",
				n->host, c->nodes[j].name, hosts - 1);
	return check_host_ports(r, c, i, placed);
}

static int
check_nodes(struct cfg_reader *r, struct cfg *c)
{
	unsigned i, j;
	char name[32];
	int rc;

	for (i = 0; i < c->nodes_n; i++) {
		for (j = 0; j < i; j++)
			if (strcmp(c->nodes[i].name, c->nodes[j].name) == 0)
				return cfg_fail_at(r, NAME(name, "nodes[%u].name", i),
					"\"%s\" is the name of nodes[%u] too, allowed: one name "
					"per node",
					c->nodes[i].name, j);
		rc = check_gid(r, c, i);
		if (rc == 0 && c->link == CFG_LINK_FABRIC)
			rc = check_host(r, c, i);
		if (rc < 0)
			return rc;
		if (c->nodes[i].worker >= c->workers_n)
			return cfg_fail_at(r, NAME(name, "nodes[%u].worker", i),
				"%u is no index into workers, allowed: 0 .. %u", c->nodes[i].worker,
				c->workers_n - 1);
	}
	return 0;
}

static int
check_fabric(struct cfg_reader *r, struct cfg *c)
{
	struct cfg_fabric *f = &c->fabric;

	if (f->ecn_kmin_packets == 0)
		f->ecn_kmin_packets = (f->queue_packets + 3) / 4;
	if (f->ecn_kmax_packets == 0)
		f->ecn_kmax_packets = f->queue_packets * 3 / 4;
	if (f->seed == UINT64_MAX)
		f->seed = c->seed;
	if (f->ecn_kmax_packets > f->queue_packets)
		return cfg_fail_at(r, "fabric.ecn_kmax_packets",
			"%u is more than the queue holds, allowed: 1 .. %u", f->ecn_kmax_packets,
			f->queue_packets);
	if (f->ecn_kmin_packets > f->ecn_kmax_packets)
		return cfg_fail_at(r, "fabric.ecn_kmin_packets",
			"%u is above ecn_kmax_packets, allowed: 1 .. %u", f->ecn_kmin_packets,
			f->ecn_kmax_packets);
	if (f->worker >= c->workers_n)
		return cfg_fail_at(r, "fabric.worker",
			"%u is no index into workers, allowed: 0 .. %u", f->worker,
			c->workers_n - 1);
	return 0;
}

/* Ethernet to ICRC of a full write and of a SACK, SRv6 without SRH */
#define WRITE_OVERHEAD_BYTES (14 + 40 + 40 + 8 + 12 + 4 + 4 + 16 + 4)
#define SACK_BYTES (14 + 40 + 40 + 8 + 12 + 28 + 8 + 4)
#define BASE_RTT_DEFAULT_NS 100000

/* A full packet over the longest path of an empty fabric, stored and forwarded at each hop, and its
 * SACK back. */
static uint64_t
base_rtt_ns(const struct cfg *c)
{
	unsigned links = c->fabric.leaves > 1 ? 4 : 2;
	double bits = 8. * (c->qp.mtu_bytes + WRITE_OVERHEAD_BYTES + SACK_BYTES);

	return (uint64_t)(links * (2. * (double)c->fabric.latency_ns + bits / c->fabric.rate_gbps));
}

static int
check_cc(struct cfg_reader *r, struct cfg *c)
{
	bool paced = strcmp(c->cc.algorithm, "fixed") != 0 && strcmp(c->cc.algorithm, "none") != 0;
	uint64_t packet = c->qp.mtu_bytes + WRITE_OVERHEAD_BYTES;

	if (c->qp.sack_threshold_bytes == 0)
		c->qp.sack_threshold_bytes = c->qp.mtu_bytes > 1024 ? c->qp.mtu_bytes : 1024;
	if (c->cc.rate_gbps == 0 && c->link != CFG_LINK_FABRIC && paced)
		return cfg_fail_at(r, "cc.rate_gbps",
			"is missing, and ring ports have no rate of their own, allowed: a number "
			"0.001 .. 1600");
	if (c->cc.rate_gbps == 0 && c->link == CFG_LINK_FABRIC)
		c->cc.rate_gbps = c->fabric.rate_gbps;
	if (c->cc.base_rtt_ns == 0)
		c->cc.base_rtt_ns =
			c->link == CFG_LINK_FABRIC ? base_rtt_ns(c) : BASE_RTT_DEFAULT_NS;
	if (c->cc.window_bytes < packet)
		return cfg_fail_at(r, "cc.window_bytes",
			"%llu holds no full packet, allowed: an integer %llu .. 4294967296",
			(unsigned long long)c->cc.window_bytes, (unsigned long long)packet);
	return 0;
}

/* A timeout that ends before an answer can come sends everything twice. */
static int
check_timeout(struct cfg_reader *r, const struct cfg *c)
{
	uint64_t least_ns = 2 * c->cc.base_rtt_ns;
	unsigned least = 1;

	if (c->qp.timeout == 0 || UINT64_C(1024) << c->qp.timeout >= least_ns)
		return 0;
	while (least <= MRC_TIMEOUT_EXP_MAX && UINT64_C(1024) << least < least_ns)
		least++;
	if (least > MRC_TIMEOUT_EXP_MAX)
		return cfg_fail_at(r, "qp.timeout",
			"%u, %.3f ms, is below two round trips of %.3f ms (cc.base_rtt_ns), "
			"allowed: 0 (never)",
			c->qp.timeout, 1.024e-3 * (1u << c->qp.timeout),
			(double)c->cc.base_rtt_ns / 1e6);
	return cfg_fail_at(r, "qp.timeout",
		"%u, %.3f ms, is below two round trips of %.3f ms (cc.base_rtt_ns), allowed: 0 "
		"(never) or %u .. %u",
		c->qp.timeout, 1.024e-3 * (1u << c->qp.timeout), (double)c->cc.base_rtt_ns / 1e6,
		least, MRC_TIMEOUT_EXP_MAX);
}

/* Beside the payload: headers, headroom, the buffer's own words. About. */
#define MBUF_OVERHEAD_BYTES 768

/* Caches of all lcores and a burst each way at each port leave something to send, and memory is
 * there. */
static int
check_mbufs(struct cfg_reader *r, const struct cfg *c)
{
	uint64_t least = (c->workers_n + 1) * CFG_POOL_CACHE * 3 / 2 +
			 (uint64_t)c->nodes_n * c->planes * 2 * MRC_BURST;
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t one = c->qp.mtu_bytes + MBUF_OVERHEAD_BYTES;

	if (c->mbufs == 0 || (c->mbufs >= least && c->mbufs * one <= memory))
		return 0;
	if (c->mbufs < least)
		return cfg_fail_at(r, "mbufs",
			"%u are fewer than caches and ports hold, allowed: 0 or %llu .. 4194304",
			c->mbufs, (unsigned long long)least);
	return cfg_fail_at(r, "mbufs",
		"%u of %llu bytes take %.1f GB, allowed: 0 or %llu .. %llu in the %.1f GB of this "
		"machine",
		c->mbufs, (unsigned long long)one, (double)(c->mbufs * one) / 1e9,
		(unsigned long long)least, (unsigned long long)(memory / one),
		(double)memory / 1e9);
}

/* A receiver tells classes by DSCP alone: what may be trimmed, what was, and what is control. */
static int
check_dscp(struct cfg_reader *r, const struct cfg *c)
{
	const struct mrc_dscp *d = &c->wire.dscp;
	const struct {
		const char *name;
		uint8_t value;
		bool alone; /* no other class may have the same value */
	} row[] = {{"no_trim", d->no_trim, false}, {"control", d->control, false},
		{"trimmable", d->trimmable, false}, {"trimmable_rtx", d->trimmable_rtx, false},
		{"trimmed", d->trimmed, true}, {"trimmed_lasthop", d->trimmed_lasthop, true}};
	char name[48];
	unsigned i, j;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		for (j = 0; j < i; j++) {
			/* Pairs of one nature may share: no_trim and control, trimmable and its
			 * rtx. */
			if (row[i].value != row[j].value || (!row[i].alone && i / 2 == j / 2))
				continue;
			return cfg_fail_at(r, NAME(name, "wire.dscp.%s", row[i].name),
				"%u is the value of %s too, allowed: another 0 .. 63", row[i].value,
				row[j].name);
		}
	}
	return 0;
}

static int
check_cpus(struct cfg_reader *r, struct cfg *c)
{
	unsigned i, first = UINT32_MAX, last = 0;
	cpu_set_t allowed;
	char name[32];

	CPU_ZERO(&allowed);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &allowed))
			continue;
		first = i < first ? i : first;
		last = i;
	}
	if (c->workers_n == 0) {
		c->workers[0] = last;
		c->workers_n = 1;
	}
	if (c->main_cpu == UINT32_MAX)
		c->main_cpu = first;
	for (i = 0; i < c->workers_n; i++)
		if (!CPU_ISSET(c->workers[i], &allowed))
			return cfg_fail_at(r, NAME(name, "workers[%u]", i),
				"CPU %u is not open to this process, allowed: those of its "
				"affinity in %u .. %u",
				c->workers[i], first, last);
	if (!CPU_ISSET(c->main_cpu, &allowed))
		return cfg_fail_at(r, "main_cpu",
			"CPU %u is not open to this process, allowed: those of its affinity in %u "
			".. %u",
			c->main_cpu, first, last);
	return 0;
}

int
cfg_check(struct cfg_reader *r, struct cfg *c)
{
	int rc = check_ports(r, c);
	unsigned i;

	rc = rc < 0 ? rc : check_cpus(r, c);
	rc = rc < 0 ? rc : check_nodes(r, c);
	for (i = 0; rc == 0 && i < c->profiles_n; i++)
		rc = cfg_check_profile(r, c, i);
	rc = rc < 0 ? rc : check_fabric(r, c);
	rc = rc < 0 ? rc : check_cc(r, c);
	rc = rc < 0 ? rc : check_timeout(r, c);
	rc = rc < 0 ? rc : check_mbufs(r, c);
	rc = rc < 0 ? rc : check_dscp(r, c);
	return rc;
}
