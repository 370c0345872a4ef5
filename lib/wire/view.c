/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiving: one walk over an untrusted frame. Each step checks that its bytes are there before it
 * reads them, and that its length field agrees with the header around it: exactly for whole
 * packets, not at all for trimmed ones, whose lengths still tell the original size. Only the
 * outermost packet may be followed by padding. Who calls it: lib/engine, once a frame.
 */
#include "mrc_encap.h"

#include "wire_priv.h"

/* The walk: where it stands and where the bytes that it may trust end. */
struct walk {
	const uint8_t *frame;
	uint32_t off;
	uint32_t end;
};

static inline bool
walk_has(const struct walk *w, uint32_t n)
{
	return w->end - w->off >= n;
}

/* Applies a length field that says that n bytes follow w->off. */
static inline bool
walk_limit(struct walk *w, uint32_t n, bool outermost, bool trimmed)
{
	uint32_t have = w->end - w->off;

	if (n == have)
		return true;
	if (trimmed) {
		if (n < have)
			w->end = w->off + n;
		return true;
	}
	if (!outermost || n > have)
		return false;
	w->end = w->off + n;
	return true;
}

static inline void
view_tclass_set(struct mrc_view *v, uint8_t tclass, const struct mrc_wire_cfg *cfg)
{
	v->dscp = tclass >> 2;
	v->ecn = tclass & 3;
	v->lasthop = v->dscp == cfg->dscp.trimmed_lasthop;
	v->trimmed = v->lasthop || v->dscp == cfg->dscp.trimmed;
}

static bool
ip4_checksum_ok(const uint8_t *p)
{
	/* ones' complement sums are the same in any order of bytes and from words of any width */
	uint64_t sum = (uint64_t)ld32(p) + ld32(p + 4) + ld32(p + 8) + ld32(p + 12) + ld32(p + 16);

	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

static enum mrc_drop
ip4_walk(struct mrc_view *v, struct walk *w, const struct mrc_wire_cfg *cfg)
{
	const uint8_t *p = w->frame + w->off;
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	unsigned len;

	if (!walk_has(w, IP4_BYTES))
		return MRC_DROP_SHORT;
	if (p[IP4_VER_IHL] >> 4 != 4)
		return MRC_DROP_ETHERTYPE;
	if (p[IP4_VER_IHL] != IP4_VER_IHL_PLAIN || (ld16(p + IP4_FRAG) & IP4_MF_OFFSET) != 0)
		return MRC_DROP_IP_FRAGMENT;
	if (!ip4_checksum_ok(p))
		return MRC_DROP_IP_CHECKSUM;
	if (p[IP4_PROTO] != PROTO_UDP)
		return MRC_DROP_IP_PROTO;
	view_tclass_set(v, p[IP4_TOS], cfg);
	len = ld16(p + IP4_LEN);
	if (len < IP4_BYTES || !walk_limit(w, len, true, v->trimmed))
		return MRC_DROP_LENGTH;
	v->mode = MRC_EV_UDP;
	v->ip_off = (uint16_t)w->off;
	memcpy(v->src.b, mapped, sizeof(mapped));
	memcpy(v->src.b + 12, p + IP4_SRC, 4);
	memcpy(v->dst.b, mapped, sizeof(mapped));
	memcpy(v->dst.b + 12, p + IP4_DST, 4);
	w->off += IP4_BYTES;
	return MRC_OK;
}

/* One IPv6 header; its addresses are the caller's business. */
static inline enum mrc_drop
ip6_walk(struct walk *w, bool outermost, bool trimmed)
{
	const uint8_t *p = w->frame + w->off;

	w->off += IP6_BYTES;
	if (!walk_limit(w, ld16(p + IP6_PLEN), outermost, trimmed))
		return MRC_DROP_LENGTH;
	return MRC_OK;
}

static enum mrc_drop
srh_walk(struct walk *w)
{
	const uint8_t *p = w->frame + w->off;

	if (!walk_has(w, SRH_BYTES))
		return MRC_DROP_SHORT;
	if (p[SRH_TYPE] != SRH_TYPE_SEGMENTS || p[SRH_LEN] != SRH_LEN_ONE_SEGMENT ||
		p[SRH_LEFT] > 1 || p[SRH_LAST_ENTRY] != 0 || p[SRH_NEXT] != PROTO_IP6)
		return MRC_DROP_SRH;
	w->off += SRH_BYTES;
	return MRC_OK;
}

/* The first IPv6 header and, in the SRv6 modes, all up to the inner one. */
static enum mrc_drop
outer6_walk(struct mrc_view *v, struct walk *w, const struct mrc_wire_cfg *cfg)
{
	const uint8_t *p = w->frame + w->off;
	enum mrc_drop r;

	if (!walk_has(w, IP6_BYTES))
		return MRC_DROP_SHORT;
	if (p[IP6_WORD0] >> 4 != 6)
		return MRC_DROP_ETHERTYPE;
	view_tclass_set(v, (uint8_t)(ld16(p) >> 4), cfg);
	v->mode = MRC_EV_STEV;
	if (p[IP6_NEXT] == PROTO_UDP) {
		v->ip_off = (uint16_t)w->off;
		return ip6_walk(w, true, v->trimmed);
	}
	if (p[IP6_NEXT] != PROTO_IP6 && p[IP6_NEXT] != PROTO_ROUTING)
		return MRC_DROP_IP_PROTO;
	memcpy(v->odst.b, p + IP6_DST, sizeof(v->odst.b));
	r = ip6_walk(w, true, v->trimmed);
	if (r != MRC_OK)
		return r;
	v->mode = MRC_EV_SRV6;
	if (p[IP6_NEXT] == PROTO_ROUTING) {
		v->mode = MRC_EV_SRV6_SRH;
		r = srh_walk(w);
		if (r != MRC_OK)
			return r;
	}
	if (!walk_has(w, IP6_BYTES))
		return MRC_DROP_SHORT;
	p = w->frame + w->off;
	if (p[IP6_WORD0] >> 4 != 6 || p[IP6_NEXT] != PROTO_UDP)
		return MRC_DROP_IP_PROTO;
	v->ip_off = (uint16_t)w->off;
	return ip6_walk(w, false, v->trimmed);
}

static enum mrc_drop
udp_walk(struct mrc_view *v, struct walk *w, const struct mrc_wire_cfg *cfg)
{
	const uint8_t *p = w->frame + w->off, *ip = w->frame + v->ip_off;
	uint32_t sport, flow;
	unsigned dport;

	if (!walk_has(w, UDP_BYTES))
		return MRC_DROP_SHORT;
	dport = ld16(p + UDP_DPORT);
	if (dport != cfg->udp_port && dport != MRC_UDP_PORT_ALT)
		return MRC_DROP_UDP_PORT;
	v->udp_off = (uint16_t)w->off;
	v->udp_len = ld16(p + UDP_LEN);
	if (v->udp_len < UDP_BYTES || !walk_limit(w, v->udp_len, false, v->trimmed))
		return MRC_DROP_LENGTH;
	sport = ld16(p + UDP_SPORT);
	v->ev32 = sport;
	if (v->mode != MRC_EV_UDP) {
		flow = ld16(ip + IP6_WORD0 + 2);
		v->ev32 = cfg->layout == MRC_EV_FLOW_HIGH ? flow << 16 | sport : sport << 16 | flow;
		memcpy(v->src.b, ip + IP6_SRC, sizeof(v->src.b));
		memcpy(v->dst.b, ip + IP6_DST, sizeof(v->dst.b));
	}
	w->off += UDP_BYTES;
	return MRC_OK;
}

/* BTH to ICRC of a packet that arrived whole. */
static enum mrc_drop
body_walk(struct mrc_view *v, const struct walk *w)
{
	const uint8_t *p = w->frame + w->off;
	unsigned hdr_bytes, body;
	enum mrc_drop r;

	if (!walk_has(w, MRC_BTH_BYTES + MRC_ICRC_BYTES))
		return MRC_DROP_SHORT;
	if (w->end > UINT16_MAX) /* no MTU comes near, and offsets are 16 bits wide */
		return MRC_DROP_LENGTH;
	v->icrc_off = (uint16_t)(w->end - MRC_ICRC_BYTES);
	r = mrc_hdr_decode(p, v->icrc_off - w->off, &v->hdr, &hdr_bytes);
	if (r != MRC_OK)
		return r;
	body = v->icrc_off - w->off - hdr_bytes;
	if (body % 4 != 0 || v->hdr.pad > body)
		return MRC_DROP_LENGTH;
	v->payload = NULL;
	v->payload_len = 0;
	if (mrc_op_is_write(v->hdr.opcode)) {
		v->payload = p + hdr_bytes;
		v->payload_len = body - v->hdr.pad;
	} else if (body != 0) {
		return MRC_DROP_LENGTH; /* no other packet has a payload */
	}
	return MRC_OK;
}

enum mrc_drop
mrc_view_parse(
	struct mrc_view *v, const uint8_t *frame, uint32_t len, const struct mrc_wire_cfg *cfg)
{
	struct walk w = {.frame = frame, .off = ETH_BYTES, .end = len};
	enum mrc_drop r;
	unsigned type;

	if (len < ETH_BYTES)
		return MRC_DROP_SHORT;
	type = ld16(frame + ETH_TYPE);
	v->frame = frame;
	if (type == ETHERTYPE_IP6)
		r = outer6_walk(v, &w, cfg);
	else if (type == ETHERTYPE_IP4)
		r = ip4_walk(v, &w, cfg);
	else
		r = MRC_DROP_ETHERTYPE;
	if (r != MRC_OK)
		return r;
	r = udp_walk(v, &w, cfg);
	if (r != MRC_OK)
		return r;
	v->bth_off = (uint16_t)w.off;
	if (!v->trimmed)
		return body_walk(v, &w);
	v->payload = NULL;
	v->payload_len = 0;
	v->icrc_off = 0;
	return mrc_hdr_decode_trimmed(frame + w.off, w.end - w.off, &v->hdr);
}
