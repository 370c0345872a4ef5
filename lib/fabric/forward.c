/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one switch does with one frame: hop limit, then the active uSID or the address, then the
 * egress. Nothing in the frame is trusted: forward_classify has seen that its IP header is there,
 * everything behind it is checked where it is read. Who calls it: fabric.c, when a frame arrives.
 */
#include "mrc_fabric_priv.h"

#define IPPROTO_UDP_NR 17
#define IPPROTO_ROUTING_NR 43
#define SRH_TYPE 4
#define LINK_NONE UINT32_MAX
/* Own uSIDs of one address, then those of its one segment, then one look at what is left. */
#define SHIFTS_MAX (2 * MRC_USID_MAX_PER_ADDR + 1)

/** Reads Ethernet and IP once, when the frame enters. @return false if it is not a frame we can
 * carry */
bool
forward_classify(const struct mrc_fabric *fab, struct fab_slot *s)
{
	const uint8_t *ip = slot_ip(s);
	uint16_t type;

	if (s->f.len < ETH_BYTES + IP4_BYTES || s->f.wire_len > WIRE_BYTES_MAX)
		return false;
	type = load_be16(s->f.data + 12);
	if (type == 0x86dd) {
		if (s->f.len < ETH_BYTES + IP6_BYTES || ip[0] >> 4 != 6)
			return false;
		s->v6 = true;
	} else if (type == 0x0800) {
		/* Options would move UDP; nobody here sends them. */
		if (ip[0] != 0x45)
			return false;
		s->v6 = false;
	} else {
		return false;
	}
	s->class = fab->class_of[slot_tclass(s) >> 2];
	return true;
}

static inline uint64_t
load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t
mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9fb21c651e98df25);
	return h ^ h >> 32;
}

/* Addresses, flow label, source port and the switch: of the outermost header. */
static uint64_t
flow_hash(const struct fab_slot *s, uint32_t at)
{
	const uint8_t *ip = slot_ip(s);
	uint32_t off = ETH_BYTES;
	uint64_t h = mix(UINT64_C(0x2545f4914f6cdd1d), at);

	if (!s->v6) {
		h = mix(h, load64(ip + 12));
		off += IP4_BYTES;
		if (ip[9] != IPPROTO_UDP_NR || (load_be16(ip + 6) & 0x1fff) != 0)
			off = UINT32_MAX;
	} else {
		for (unsigned i = 8; i < IP6_BYTES; i += 8)
			h = mix(h, load64(ip + i));
		h = mix(h, (uint64_t)(ip[1] & 0x0f) << 16 | load_be16(ip + 2));
		off += IP6_BYTES;
		if (ip[6] != IPPROTO_UDP_NR)
			off = UINT32_MAX;
	}
	if (off != UINT32_MAX && s->f.len >= off + 2)
		h = mix(h, load_be16(s->f.data + off));
	return h ^ h >> 29;
}

static inline uint32_t
flow_spine(const struct mrc_fabric *fab, const struct fab_slot *s, unsigned plane, uint32_t leaf)
{
	uint64_t h = flow_hash(s, plane << 16 | leaf) * UINT64_C(0xd6e8feb86659fd93);

	return (uint32_t)((h >> 32) * fab->p.spines >> 32);
}

/* The address' last uSID was ours: the one segment of an SRH takes its place (RFC 8754, 4.3.1.1).
 */
static enum mrc_drop
segment_take(struct fab_slot *s)
{
	uint8_t *ip = slot_ip(s), *srh = ip + IP6_BYTES;

	if (ip[6] != IPPROTO_ROUTING_NR)
		return MRC_DROP_FAB_NO_ROUTE;
	if (s->f.len < ETH_BYTES + IP6_BYTES + SRH_BYTES || srh[1] != 2 || srh[2] != SRH_TYPE ||
		srh[3] > 1 || srh[4] != 0)
		return MRC_DROP_FAB_MALFORMED;
	if (srh[3] == 0)
		return MRC_DROP_FAB_NO_ROUTE;
	memcpy(ip + 24, srh + 8, 16);
	srh[3] = 0;
	return MRC_OK;
}

static inline bool
in_block(const struct mrc_fabric *fab, const uint8_t dst[16])
{
	return memcmp(dst, fab->p.block, MRC_USID_BLOCK_BYTES) == 0;
}

/**
 * Shifts our own uSIDs out.
 * @param[out] usid the active one that is not ours; 0 when the destination now lies outside the
 * block
 */
static enum mrc_drop
usid_active(const struct mrc_fabric *fab, struct fab_slot *s, uint16_t own, uint16_t *usid)
{
	static const uint8_t spent[16 - MRC_USID_BLOCK_BYTES - MRC_USID_BYTES];
	uint8_t *dst = slot_ip(s) + 24;

	for (unsigned i = 0; i < SHIFTS_MAX; i++) {
		enum mrc_drop r;

		*usid = mrc_usid_get(dst, 0);
		if (*usid != own)
			return MRC_OK;
		if (memcmp(dst + MRC_USID_BLOCK_BYTES + MRC_USID_BYTES, spent, sizeof(spent)) !=
			0) {
			mrc_usid_shift(dst);
			continue;
		}
		r = segment_take(s);
		if (r != MRC_OK)
			return r;
		if (!in_block(fab, dst)) {
			*usid = 0;
			return MRC_OK;
		}
	}
	return MRC_DROP_FAB_NO_ROUTE;
}

static uint32_t
host_by_address(const struct mrc_fabric *fab, const struct fab_slot *s)
{
	const uint8_t *ip = slot_ip(s);
	uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff};

	if (s->v6)
		return topology_host_find(fab, ip + 24);
	memcpy(mapped + 12, ip + 16, 4);
	return topology_host_find(fab, mapped);
}

/* Common to both tiers. @return true if usid decides, false if the address does */
static inline bool
arrive(struct mrc_fabric *fab, struct fab_slot *s, uint16_t own, uint16_t *usid, enum mrc_drop *r)
{
	*r = MRC_OK;
	if (!header_hop(s)) {
		*r = MRC_DROP_FAB_HOP_LIMIT;
		return false;
	}
	if (!s->v6 || !in_block(fab, slot_ip(s) + 24))
		return false;
	*r = usid_active(fab, s, own, usid);
	return *r == MRC_OK && (*usid != 0 || in_block(fab, slot_ip(s) + 24));
}

static uint32_t
t0_route_usid(const struct mrc_fabric *fab, struct fab_slot *s, unsigned plane, uint32_t leaf,
	uint16_t usid)
{
	uint32_t port = usid - (uint32_t)mrc_usid_port(plane, 0);
	uint32_t spine = usid - (uint32_t)mrc_usid_t1(plane, 0);

	if (port < fab->p.hosts_per_leaf)
		return link_host_down(fab, plane, leaf * fab->p.hosts_per_leaf + port);
	if (spine >= fab->p.spines)
		return LINK_NONE;
	if (__builtin_expect(fab->p.ecmp_hash, 0)) {
		spine = flow_spine(fab, s, plane, leaf);
		mrc_usid_put(slot_ip(s) + 24, 0, mrc_usid_t1(plane, spine));
	}
	return link_t0_t1(fab, plane, leaf, spine);
}

/* A switch's answer: on to a link, or refused. */
static inline void
forward_out(struct mrc_fabric *fab, uint32_t id, enum mrc_drop r, uint32_t link)
{
	if (r == MRC_OK && link == LINK_NONE)
		r = MRC_DROP_FAB_NO_ROUTE;
	if (r == MRC_OK)
		egress_put(fab, link, id);
	else
		frame_drop(fab, id, r);
}

void
forward_t0(struct mrc_fabric *fab, unsigned plane, uint32_t leaf, uint32_t id)
{
	struct fab_slot *s = &fab->slots[id];
	uint32_t link = LINK_NONE, host;
	enum mrc_drop r;
	uint16_t usid;

	if (arrive(fab, s, mrc_usid_t0(plane, leaf), &usid, &r)) {
		link = t0_route_usid(fab, s, plane, leaf, usid);
	} else if (r == MRC_OK && (host = host_by_address(fab, s)) != UINT32_MAX) {
		if (host - leaf * fab->p.hosts_per_leaf < fab->p.hosts_per_leaf)
			link = link_host_down(fab, plane, host);
		else
			link = link_t0_t1(fab, plane, leaf, flow_spine(fab, s, plane, leaf));
	}
	forward_out(fab, id, r, link);
}

void
forward_t1(struct mrc_fabric *fab, unsigned plane, uint32_t spine, uint32_t id)
{
	struct fab_slot *s = &fab->slots[id];
	uint32_t link = LINK_NONE, leaf, host;
	enum mrc_drop r;
	uint16_t usid;

	if (arrive(fab, s, mrc_usid_t1(plane, spine), &usid, &r)) {
		leaf = usid - (uint32_t)mrc_usid_t0(plane, 0);
		if (leaf < fab->p.leaves)
			link = link_t1_t0(fab, plane, leaf, spine);
	} else if (r == MRC_OK && (host = host_by_address(fab, s)) != UINT32_MAX) {
		link = link_t1_t0(
			fab, plane, fab->egress[link_host_up(fab, plane, host)].to_index, spine);
	}
	forward_out(fab, id, r, link);
}
