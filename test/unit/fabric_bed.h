/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fabric with its frames and a record of what became of each. One translation unit, one bed.
 * Who includes it: test_fabric*.c.
 */
#ifndef FABRIC_BED_H
#define FABRIC_BED_H

#include <string.h>

#include "mrc_check.h"
#include "mrc_fabric.h"
#include "mrc_usid.h"

#define BED_FRAMES 4096
#define BED_DATA 256

enum bed_fate { FATE_INSIDE, FATE_DELIVERED, FATE_DROPPED };

struct bed_frame {
	uint8_t data[BED_DATA];
	enum bed_fate fate;
	enum mrc_drop reason;
	unsigned host, plane;
	uint32_t len, wire_len;
	uint64_t at_ns;
	unsigned order; /* of delivery */
	unsigned trims;
};

static struct mrc_fabric *fab;
static struct bed_frame bed[BED_FRAMES];
static unsigned bed_n, bed_delivered, bed_dropped;
static const uint8_t bed_block[4] = {0xfc, 0xbb, 0xbb, 0x00};

static inline void
bed_deliver(void *ctx, unsigned host, unsigned plane, const struct mrc_frame *f)
{
	struct bed_frame *b = f->obj;

	ck_assert_int_eq(b->fate, FATE_INSIDE);
	b->fate = FATE_DELIVERED;
	b->host = host;
	b->plane = plane;
	b->len = f->len;
	b->wire_len = f->wire_len;
	b->at_ns = mrc_fabric_now_ns(fab);
	b->order = bed_delivered++;
}

static inline void
bed_drop(void *ctx, const struct mrc_frame *f, enum mrc_drop reason)
{
	struct bed_frame *b = f->obj;

	ck_assert_int_eq(b->fate, FATE_INSIDE);
	b->fate = FATE_DROPPED;
	b->reason = reason;
	bed_dropped++;
}

static inline void
bed_trimmed(void *ctx, const struct mrc_frame *f)
{
	struct bed_frame *b = f->obj;

	b->trims++;
	b->len = f->len;
}

/* 2 planes, 3 leaves, 2 spines, 2 hosts a leaf; 8 Gb/s is one byte a nanosecond */
static inline struct mrc_fabric_params
bed_params(void)
{
	struct mrc_fabric_params p = {
		.planes = 2,
		.leaves = 3,
		.spines = 2,
		.hosts_per_leaf = 2,
		.rate_bps = UINT64_C(8000000000),
		.latency_ns = 1000,
		.queue_bytes = 10000,
		.host_queue_bytes = 1 << 24,
		.ecn_kmin_bytes = 2000,
		.ecn_kmax_bytes = 8000,
		.trim_bytes = 146,
		.frames_max = BED_FRAMES,
		.seed = 1,
		.dscp = MRC_DSCP_DEFAULTS,
	};

	memcpy(p.block, bed_block, 4);
	return p;
}

static inline void
bed_reset(void)
{
	memset(bed, 0, sizeof(bed));
	bed_n = bed_delivered = bed_dropped = 0;
}

static inline void
bed_up(const struct mrc_fabric_params *p)
{
	struct mrc_fabric_sink sink = {
		.deliver = bed_deliver, .drop = bed_drop, .trimmed = bed_trimmed};

	bed_reset();
	ck_assert_int_eq(mrc_fabric_create(p, &sink, &fab), 0);
}

static inline void
bed_down(void)
{
	ck_assert_uint_eq(bed_n, bed_delivered + bed_dropped + mrc_fabric_frames(fab));
	mrc_fabric_destroy(fab);
	ck_assert_uint_eq(bed_n, bed_delivered + bed_dropped);
	fab = NULL;
}

/* block : usids ... :: */
static inline void
bed_address(uint8_t a[16], const uint16_t *usids, unsigned n)
{
	memset(a, 0, 16);
	memcpy(a, bed_block, 4);
	for (unsigned i = 0; i < n; i++)
		mrc_usid_put(a, i, usids[i]);
}

/* The whole path from host to host in a plane over a spine. */
static inline void
bed_path(uint8_t a[16], unsigned plane, unsigned from, unsigned to, unsigned spine)
{
	unsigned per = 2;
	uint16_t u[4] = {mrc_usid_t0(plane, from / per), mrc_usid_t1(plane, spine),
		mrc_usid_t0(plane, to / per), mrc_usid_port(plane, to % per)};

	if (from / per == to / per)
		u[1] = u[3];
	bed_address(a, u, from / per == to / per ? 2 : 4);
}

static inline struct mrc_addr
bed_gid(unsigned host, bool v4)
{
	struct mrc_addr a = {
		.b = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = (uint8_t)(host + 1)}};

	if (!v4)
		a = (struct mrc_addr){.b = {0xfd, [15] = (uint8_t)(host + 1)}};
	return a;
}

/* A frame that is not sent yet: headers and a little payload; the rest of payload is phantom. */
static inline struct bed_frame *
bed_frame_make(enum mrc_ev_mode mode, bool v4, unsigned from, unsigned to, const uint8_t *ev,
	uint32_t ev32, uint8_t tclass, uint16_t payload)
{
	struct mrc_encap e = {.mode = mode,
		.udp_port = MRC_UDP_PORT,
		.osrc = bed_gid(from, false),
		.src = bed_gid(from, v4),
		.dst = bed_gid(to, v4)};
	struct bed_frame *b;
	struct mrc_tmpl t;

	ck_assert_uint_lt(bed_n, BED_FRAMES);
	b = &bed[bed_n++];
	ck_assert_int_eq(mrc_tmpl_init(&t, &e), 0);
	mrc_tmpl_write(b->data, &t, ev, ev32, tclass, payload);
	b->wire_len = t.len + (uint32_t)payload;
	b->len = b->wire_len < BED_DATA ? b->wire_len : BED_DATA;
	return b;
}

/* SRv6 from host to host over a spine, wire_len bytes long */
static inline struct bed_frame *
bed_srv6(unsigned plane, unsigned from, unsigned to, unsigned spine, uint8_t tclass,
	uint32_t wire_len)
{
	uint8_t da[16];

	bed_path(da, plane, from, to, spine);
	return bed_frame_make(
		MRC_EV_SRV6, false, from, to, da, 7, tclass, (uint16_t)(wire_len - 102));
}

static inline void
bed_send(struct bed_frame *b, unsigned host, unsigned plane, uint64_t now_ns)
{
	struct mrc_frame f = {.obj = b, .data = b->data, .len = b->len, .wire_len = b->wire_len};

	mrc_fabric_inject(fab, host, plane, &f, now_ns);
}

static inline void
bed_finish(void)
{
	unsigned turns = 0;
	uint64_t t;

	while ((t = mrc_fabric_next_ns(fab)) != UINT64_MAX) {
		ck_assert_uint_lt(turns++, 1000000);
		mrc_fabric_run(fab, t);
	}
	ck_assert_uint_eq(mrc_fabric_frames(fab), 0);
}

static inline uint64_t
bed_drops(enum mrc_drop r)
{
	return mrc_fabric_drops(fab)->n[r];
}

/* Counters of the egress with this name. */
static inline struct mrc_link_stats
bed_link(const char *want)
{
	struct mrc_link_stats s;
	enum mrc_link_state state;
	char name[32];

	for (unsigned i = 0; i < mrc_fabric_links(fab); i++) {
		ck_assert_int_eq(mrc_fabric_link_get(fab, i, name, &state, &s), 0);
		if (strcmp(name, want) == 0)
			return s;
	}
	ck_abort_msg("no link %s", want);
	return s;
}

static inline uint16_t
bed_ip4_sum(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < 20; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t) ~((sum & 0xffff) + (sum >> 16));
}

#endif /* FABRIC_BED_H */
