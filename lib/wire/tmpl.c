/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes before BTH, sending: a template is laid out once, each packet copies and patches it.
 * Who calls it: lib/engine.
 */
#include "mrc_encap.h"

#include <errno.h>

#include "wire_priv.h"

#define IP6_VERSION (UINT32_C(6) << 28)
#define V4_OFFSET 12 /* of the IPv4 address in a mapped one */

enum {
	LEN_V4 = ETH_BYTES + IP4_BYTES + UDP_BYTES,
	LEN_V6 = ETH_BYTES + IP6_BYTES + UDP_BYTES,
	LEN_SRV6 = LEN_V6 + IP6_BYTES,
	LEN_SRH = LEN_SRV6 + SRH_BYTES,
};

static_assert(LEN_SRH <= MRC_TMPL_BYTES, "the longest template must fit");
static_assert(LEN_SRH + MRC_TRANSPORT_BYTES_MAX <= MRC_HDR_BYTES_MAX, "and what follows it");

static void
ip6_init(uint8_t *p, uint8_t next, const struct mrc_addr *src, const struct mrc_addr *dst)
{
	st32(p + IP6_WORD0, IP6_VERSION);
	p[IP6_NEXT] = next;
	p[IP6_HOPS] = MRC_HOP_LIMIT;
	memcpy(p + IP6_SRC, src->b, sizeof(src->b));
	if (dst != NULL)
		memcpy(p + IP6_DST, dst->b, sizeof(dst->b));
}

/* The checksum field holds the sum over all but TOS, length and the field itself: ip4_patch adds
 * these. */
static void
ip4_init(uint8_t *p, const struct mrc_addr *src, const struct mrc_addr *dst)
{
	uint32_t sum = 0;

	p[IP4_VER_IHL] = IP4_VER_IHL_PLAIN;
	st16(p + IP4_FRAG, IP4_DF);
	p[IP4_TTL] = MRC_HOP_LIMIT;
	p[IP4_PROTO] = PROTO_UDP;
	memcpy(p + IP4_SRC, src->b + V4_OFFSET, 4);
	memcpy(p + IP4_DST, dst->b + V4_OFFSET, 4);
	for (unsigned i = 0; i < IP4_BYTES; i += 2)
		sum += ld16(p + i);
	sum = (sum & 0xffff) + (sum >> 16);
	st16(p + IP4_CSUM, (uint16_t)((sum & 0xffff) + (sum >> 16)));
}

static void
srh_init(uint8_t *p)
{
	p[SRH_NEXT] = PROTO_IP6;
	p[SRH_LEN] = SRH_LEN_ONE_SEGMENT;
	p[SRH_TYPE] = SRH_TYPE_SEGMENTS;
	p[SRH_LEFT] = 1;
	p[SRH_LAST_ENTRY] = 0;
}

/* Lays out the outer headers of the SRv6 modes. @return where the inner header starts */
static uint8_t *
outer_init(uint8_t *p, const struct mrc_encap *e)
{
	if (e->mode == MRC_EV_SRV6) {
		ip6_init(p, PROTO_IP6, &e->osrc, NULL);
		return p + IP6_BYTES;
	}
	ip6_init(p, PROTO_ROUTING, &e->osrc, NULL);
	srh_init(p + IP6_BYTES);
	return p + IP6_BYTES + SRH_BYTES;
}

static bool
encap_valid(const struct mrc_encap *e)
{
	bool v4 = mrc_addr_is_v4(&e->src);

	if (v4 != mrc_addr_is_v4(&e->dst) || (unsigned)e->mode > MRC_EV_SRV6_SRH)
		return false;
	if (e->layout != MRC_EV_FLOW_HIGH && e->layout != MRC_EV_SPORT_HIGH)
		return false;
	/* see mrc_tmpl_write: the receiver would take the source port for the high half */
	if (e->mode == MRC_EV_UDP)
		return v4 || e->layout == MRC_EV_FLOW_HIGH;
	return !v4;
}

int
mrc_tmpl_init(struct mrc_tmpl *t, const struct mrc_encap *e)
{
	uint8_t *p = t->bytes + ETH_BYTES;

	if (!encap_valid(e))
		return -EINVAL;
	memset(t, 0, sizeof(*t));
	t->mode = (uint8_t)e->mode;
	t->layout = (uint8_t)e->layout;
	t->v4 = mrc_addr_is_v4(&e->src);
	memcpy(t->bytes + ETH_DST, e->dmac, sizeof(e->dmac));
	memcpy(t->bytes + ETH_SRC, e->smac, sizeof(e->smac));
	st16(t->bytes + ETH_TYPE, t->v4 ? ETHERTYPE_IP4 : ETHERTYPE_IP6);
	if (e->mode == MRC_EV_SRV6 || e->mode == MRC_EV_SRV6_SRH)
		p = outer_init(p, e);
	t->ip_off = (uint8_t)(p - t->bytes);
	if (t->v4) {
		ip4_init(p, &e->src, &e->dst);
		p += IP4_BYTES;
	} else {
		ip6_init(p, PROTO_UDP, &e->src, &e->dst);
		p += IP6_BYTES;
	}
	t->udp_off = (uint8_t)(p - t->bytes);
	st16(p + UDP_DPORT, e->udp_port);
	t->len = (uint8_t)(t->udp_off + UDP_BYTES);
	return 0;
}

static inline void
ip4_patch(uint8_t *p, uint8_t tclass, uint16_t len)
{
	uint32_t sum = (uint32_t)ld16(p + IP4_CSUM) + tclass + len;

	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	p[IP4_TOS] = tclass;
	st16(p + IP4_LEN, len);
	st16(p + IP4_CSUM, (uint16_t)~sum);
}

static inline void
ip6_patch(uint8_t *p, uint8_t tclass, uint32_t flow, uint16_t plen)
{
	st32(p + IP6_WORD0, IP6_VERSION | (uint32_t)tclass << 20 | flow);
	st16(p + IP6_PLEN, plen);
}

/* Inner IPv6 and UDP at p, which carry a 32-bit EV. */
static inline void
stev_patch(uint8_t *p, uint8_t layout, uint32_t ev32, uint8_t tclass, uint16_t udp_len)
{
	uint16_t high = (uint16_t)(ev32 >> 16), low = (uint16_t)ev32;
	bool flow_high = layout == MRC_EV_FLOW_HIGH;

	ip6_patch(p, tclass, flow_high ? high : low, udp_len);
	st16(p + IP6_BYTES + UDP_SPORT, flow_high ? low : high);
	st16(p + IP6_BYTES + UDP_LEN, udp_len);
}

/* @return a flow label for the outer header: it carries no EV, so it mixes both halves */
static inline uint32_t
outer_flow(uint32_t ev32)
{
	return (ev32 ^ ev32 >> 16) & 0xffff;
}

/* @return the four bits of the flow label that no EV uses, from all of the source port */
static inline uint32_t
udp6_flow(uint16_t sport)
{
	uint32_t fold = sport ^ sport >> 8;

	return ((fold ^ fold >> 4) & 0xf) << 16;
}

void
mrc_tmpl_write(uint8_t *frame, const struct mrc_tmpl *t, const uint8_t *ev, uint32_t ev32,
	uint8_t tclass, uint16_t udp_payload)
{
	uint16_t udp_len = (uint16_t)(udp_payload + UDP_BYTES);
	uint8_t *ip = frame + ETH_BYTES;

	/* each length a constant, so that the copies are a few vector moves */
	switch (t->mode) {
	case MRC_EV_SRV6:
		memcpy(frame, t->bytes, LEN_SRV6);
		ip6_patch(ip, tclass, outer_flow(ev32), (uint16_t)(udp_len + IP6_BYTES));
		memcpy(ip + IP6_DST, ev, 16);
		stev_patch(ip + IP6_BYTES, t->layout, ev32, tclass, udp_len);
		break;
	case MRC_EV_SRV6_SRH:
		memcpy(frame, t->bytes, LEN_SRH);
		ip6_patch(
			ip, tclass, outer_flow(ev32), (uint16_t)(udp_len + IP6_BYTES + SRH_BYTES));
		memcpy(ip + IP6_DST, ev, 16);
		memcpy(ip + IP6_BYTES + SRH_SEG0, ev + 16, 16);
		stev_patch(ip + IP6_BYTES + SRH_BYTES, t->layout, ev32, tclass, udp_len);
		break;
	case MRC_EV_STEV:
		memcpy(frame, t->bytes, LEN_V6);
		stev_patch(ip, t->layout, ld32(ev), tclass, udp_len);
		break;
	default:
		if (t->v4) {
			memcpy(frame, t->bytes, LEN_V4);
			ip4_patch(ip, tclass, (uint16_t)(udp_len + IP4_BYTES));
			memcpy(ip + IP4_BYTES + UDP_SPORT, ev, 2);
			st16(ip + IP4_BYTES + UDP_LEN, udp_len);
		} else {
			memcpy(frame, t->bytes, LEN_V6);
			ip6_patch(ip, tclass, udp6_flow(ld16(ev)), udp_len);
			memcpy(ip + IP6_BYTES + UDP_SPORT, ev, 2);
			st16(ip + IP6_BYTES + UDP_LEN, udp_len);
		}
	}
}
