/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a switch rewrites in the outermost IP header: hop limit, ECN, and DSCP with length when it
 * trims. IPv4's checksum follows each change by the difference alone (RFC 1624), so a header that
 * was wrong stays wrong. Who calls it: forward.c, egress.c.
 */
#include "mrc_fabric_priv.h"

/* Changes one 16-bit word of an IPv4 header. */
static void
ip4_put(uint8_t *ip, unsigned off, uint16_t word)
{
	uint32_t sum =
		(uint16_t)~load_be16(ip + 10) + (uint16_t)~load_be16(ip + off) + (uint32_t)word;

	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	store_be16(ip + off, word);
	store_be16(ip + 10, (uint16_t)~sum);
}

static void
tclass_put(struct fab_slot *s, uint8_t tclass)
{
	uint8_t *ip = slot_ip(s);

	if (!s->v6) {
		ip4_put(ip, 0, (uint16_t)(ip[0] << 8 | tclass));
		return;
	}
	ip[0] = (uint8_t)((ip[0] & 0xf0) | tclass >> 4);
	ip[1] = (uint8_t)((ip[1] & 0x0f) | tclass << 4);
}

void
header_mark_ce(struct fab_slot *s)
{
	tclass_put(s, slot_tclass(s) | MRC_ECN_CE);
}

/**
 * Cuts the frame to at most len bytes and names it trimmed.
 * Only the outer length follows: inner lengths are the sender's and now exceed the frame.
 */
void
header_trim(struct fab_slot *s, uint32_t len, uint8_t dscp)
{
	uint8_t *ip = slot_ip(s);

	if (s->f.len > len)
		s->f.len = len;
	len = s->f.len - ETH_BYTES;
	if (s->v6) {
		if (load_be16(ip + 4) > len - IP6_BYTES)
			store_be16(ip + 4, (uint16_t)(len - IP6_BYTES));
	} else if (load_be16(ip + 2) > len) {
		ip4_put(ip, 2, (uint16_t)len);
	}
	tclass_put(s, (uint8_t)(dscp << 2 | (slot_tclass(s) & 3)));
}

/** One hop less. @return false when none is left */
bool
header_hop(struct fab_slot *s)
{
	uint8_t *ip = slot_ip(s);
	uint8_t *hops = ip + (s->v6 ? 7 : 8);

	if (*hops <= 1)
		return false;
	if (s->v6)
		(*hops)--;
	else
		ip4_put(ip, 8, (uint16_t)((*hops - 1) << 8 | ip[9]));
	return true;
}
