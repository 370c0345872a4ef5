/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of lib/wire share: hex to bytes, random headers, comparison field by field.
 * Who includes it: test_wire_*.c.
 */
#ifndef WIRE_CHECK_H
#define WIRE_CHECK_H

#include <string.h>

#include "mrc_check.h"
#include "mrc_hdr.h"
#include "mrc_prng.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static const uint8_t wire_opcodes[] = {MRC_OP_WRITE_FIRST, MRC_OP_WRITE_MIDDLE, MRC_OP_WRITE_LAST,
	MRC_OP_WRITE_LAST_IMM, MRC_OP_WRITE_ONLY, MRC_OP_WRITE_ONLY_IMM, MRC_OP_ACK,
	MRC_OP_EP_REQUEST, MRC_OP_EP_RESPONSE, MRC_OP_SACK, MRC_OP_NACK, MRC_OP_PROBE};

/* ck_assert notes its place in a file each time: bulk loops check first and assert when it fails.
 */
static inline unsigned
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c < 'a' || c > 'f')
		ck_abort_msg("'%c' is no hex digit", c);
	return (unsigned)(c - 'a' + 10);
}

/* @return bytes written; spaces and bars part the digits */
static inline unsigned
hex_bytes(uint8_t *out, unsigned max, const char *hex)
{
	unsigned n = 0;

	while (*hex != '\0') {
		if (*hex == ' ' || *hex == '|') {
			hex++;
			continue;
		}
		if (n == max)
			ck_abort_msg("more than %u bytes of hex", max);
		out[n++] = (uint8_t)(hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
		hex += 2;
	}
	return n;
}

/* A copy in a block of exactly n bytes, so that a sanitizer sees any read past it. The caller frees
 * it. */
static inline uint8_t *
exact_copy(const uint8_t *p, unsigned n)
{
	uint8_t *c = malloc(n > 0 ? n : 1);

	if (c == NULL)
		ck_abort_msg("no memory");
	memcpy(c, p, n);
	return c;
}

static inline void
random_sack(struct mrc_prng *r, struct mrc_hdr_sack *s)
{
	s->m = (uint8_t)mrc_prng_below(r, 4);
	s->probe = mrc_prng_below(r, 2);
	s->ack_psn_offset = (int16_t)mrc_prng_u64(r);
	s->entropy = (uint32_t)mrc_prng_u64(r);
	s->spdcid = (uint16_t)mrc_prng_u64(r);
	s->dpdcid = (uint16_t)mrc_prng_u64(r);
	s->cack = mrc_prng_below(r, 1 << 24);
	s->cc_flags = (uint8_t)mrc_prng_below(r, 16);
	s->mpr = (uint8_t)mrc_prng_u64(r);
	s->sack_offset = (int16_t)mrc_prng_u64(r);
	s->bitmap = mrc_prng_u64(r);
	s->ooo_count = (uint16_t)mrc_prng_below(r, 1 << 15);
	s->restore_cwnd = mrc_prng_below(r, 2);
	s->rcv_cwnd_pen = (uint8_t)mrc_prng_below(r, 128);
	s->rcvd_bytes = mrc_prng_below(r, 1 << 24);
}

/* A header of this opcode with every field that travels random and all others 0. */
static inline void
random_hdr(struct mrc_prng *r, uint8_t opcode, struct mrc_hdr *h)
{
	memset(h, 0, sizeof(*h));
	h->opcode = opcode;
	h->flags = (uint8_t)mrc_prng_below(r, mrc_op_is_write(opcode) ? 16 : 8);
	h->pad = (uint8_t)mrc_prng_below(r, 4);
	h->dqpn = mrc_prng_below(r, 1 << 24);
	h->psn = mrc_prng_below(r, 1 << 24);
	if (opcode != MRC_OP_ACK && (!mrc_op_is_write(opcode) || h->flags & MRC_BTH_TS))
		h->ts = (uint16_t)mrc_prng_u64(r);
	if (opcode == MRC_OP_PROBE || opcode == MRC_OP_EP_REQUEST || h->flags & MRC_BTH_TS)
		h->tsr = mrc_prng_below(r, 2);
	switch (opcode) {
	case MRC_OP_ACK:
		h->ack.syndrome = (uint8_t)mrc_prng_u64(r);
		h->ack.msn = mrc_prng_below(r, 1 << 24);
		break;
	case MRC_OP_EP_REQUEST:
		h->ep.vendor = (uint8_t)mrc_prng_u64(r);
		h->ep.port_mask = (uint32_t)mrc_prng_u64(r);
		/* fall through */
	case MRC_OP_EP_RESPONSE:
		h->ep.op = (uint8_t)mrc_prng_below(r, 4);
		break;
	case MRC_OP_SACK:
		random_sack(r, &h->sack);
		break;
	case MRC_OP_NACK:
		h->nack.reason = (uint8_t)mrc_prng_u64(r);
		h->nack.vendor = (uint8_t)mrc_prng_u64(r);
		h->nack.entropy = (uint32_t)mrc_prng_u64(r);
		h->nack.spdcid = (uint16_t)mrc_prng_u64(r);
		h->nack.dpdcid = (uint16_t)mrc_prng_u64(r);
		h->nack.psn = mrc_prng_below(r, 1 << 24);
		h->nack.cc_flags = (uint8_t)mrc_prng_below(r, 16);
		break;
	case MRC_OP_PROBE:
		h->probe.vendor = (uint8_t)mrc_prng_u64(r);
		h->probe.probe_id = (uint16_t)mrc_prng_u64(r);
		h->probe.spdcid = (uint16_t)mrc_prng_u64(r);
		h->probe.dpdcid = (uint16_t)mrc_prng_u64(r);
		break;
	default:
		h->write.va = mrc_prng_u64(r);
		h->write.rkey = (uint32_t)mrc_prng_u64(r);
		h->write.dmalen = (uint32_t)mrc_prng_u64(r);
		h->write.imm = mrc_op_has_imm(opcode) ? (uint32_t)mrc_prng_u64(r) : 0;
		h->write.rqmsn = (uint16_t)mrc_prng_u64(r);
		h->write.msn = (uint16_t)mrc_prng_u64(r);
	}
}

#define EQ(field) ck_assert_uint_eq(a->field, b->field)

static inline void
sack_assert_eq(const struct mrc_hdr_sack *a, const struct mrc_hdr_sack *b)
{
	EQ(m);
	EQ(probe);
	ck_assert_int_eq(a->ack_psn_offset, b->ack_psn_offset);
	EQ(entropy);
	EQ(spdcid);
	EQ(dpdcid);
	EQ(cack);
	EQ(cc_flags);
	EQ(mpr);
	ck_assert_int_eq(a->sack_offset, b->sack_offset);
	EQ(bitmap);
	EQ(ooo_count);
	EQ(restore_cwnd);
	EQ(rcv_cwnd_pen);
	EQ(rcvd_bytes);
}

static inline void
nack_assert_eq(const struct mrc_hdr_nack *a, const struct mrc_hdr_nack *b)
{
	EQ(reason);
	EQ(vendor);
	EQ(entropy);
	EQ(spdcid);
	EQ(dpdcid);
	EQ(psn);
	EQ(cc_flags);
}

static inline void
write_assert_eq(const struct mrc_hdr_write *a, const struct mrc_hdr_write *b)
{
	EQ(va);
	EQ(rkey);
	EQ(dmalen);
	EQ(imm);
	EQ(rqmsn);
	EQ(msn);
}

static inline void
hdr_assert_eq(const struct mrc_hdr *a, const struct mrc_hdr *b)
{
	EQ(opcode);
	EQ(flags);
	EQ(pad);
	EQ(tsr);
	EQ(ts);
	EQ(dqpn);
	EQ(psn);
	switch (a->opcode) {
	case MRC_OP_ACK:
		EQ(ack.syndrome);
		EQ(ack.msn);
		break;
	case MRC_OP_EP_REQUEST:
	case MRC_OP_EP_RESPONSE:
		EQ(ep.op);
		EQ(ep.vendor);
		EQ(ep.port_mask);
		break;
	case MRC_OP_SACK:
		sack_assert_eq(&a->sack, &b->sack);
		break;
	case MRC_OP_NACK:
		nack_assert_eq(&a->nack, &b->nack);
		break;
	case MRC_OP_PROBE:
		EQ(probe.vendor);
		EQ(probe.probe_id);
		EQ(probe.spdcid);
		EQ(probe.dpdcid);
		break;
	default:
		write_assert_eq(&a->write, &b->write);
	}
}

#undef EQ

#endif /* WIRE_CHECK_H */
