/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * struct mrc_hdr to bytes. One function a header; each store covers as many fields as fit a word.
 * Who calls it: lib/engine, once a packet sent.
 */
#include "mrc_hdr.h"
#include "wire_priv.h"

static void
bth_put(uint8_t *p, const struct mrc_hdr *h, unsigned flags)
{
	uint32_t se = flags & MRC_BTH_SE ? BTH_SE : 0;
	uint32_t a = flags & MRC_BTH_A ? BTH_A : 0;
	uint32_t rtx = flags & MRC_BTH_RTX ? BTH_RTX : 0;
	uint32_t ts = flags & MRC_BTH_TS ? BTH_TS : 0;

	st32(p + BTH_OPCODE, (uint32_t)h->opcode << 24 |
				     (se | (uint32_t)(h->pad & 3) << BTH_PAD_SHIFT) << 16 |
				     BTH_PKEY);
	st32(p + BTH_DQPN, h->dqpn & MASK24);
	st32(p + BTH_PSN, (a | rtx | ts) << 24 | (h->psn & MASK24));
}

/* The word that TSETH, PETH and ERTH share. */
static void
stamp_put(uint8_t *p, const struct mrc_hdr *h)
{
	st32(p, (uint32_t)h->ts << 16 | (h->tsr ? TS_TSR : 0) | TS_FORMAT);
}

static unsigned
write_put(uint8_t *p, const struct mrc_hdr *h)
{
	uint8_t *q = p + MRC_BTH_BYTES;

	bth_put(p, h, h->flags);
	st32(q + METH_RQMSN, (uint32_t)h->write.rqmsn << 16 | h->write.msn);
	q += MRC_METH_BYTES;
	if (h->flags & MRC_BTH_TS) {
		stamp_put(q, h);
		q += MRC_TSETH_BYTES;
	}
	st64(q + RETH_VA, h->write.va);
	st32(q + RETH_RKEY, h->write.rkey);
	st32(q + RETH_DMALEN, h->write.dmalen);
	q += MRC_RETH_BYTES;
	if (mrc_op_has_imm(h->opcode)) {
		st32(q, h->write.imm);
		q += MRC_IMMDT_BYTES;
	}
	return (unsigned)(q - p);
}

static unsigned
sack_put(uint8_t *q, const struct mrc_hdr *h)
{
	const struct mrc_hdr_sack *s = &h->sack;
	uint8_t *cc = q + MRC_SETH_BYTES;

	st16(q + SETH_TYPE, (uint16_t)((s->m & 3) << SETH_M_SHIFT | (s->probe ? SETH_PR : 0)));
	st16(q + SETH_ACK_OFFSET, (uint16_t)s->ack_psn_offset);
	st32(q + SETH_ENTROPY, s->entropy);
	st32(q + SETH_PDCIDS, (uint32_t)s->spdcid << 16 | s->dpdcid);
	st32(q + SETH_CACK, s->cack & MASK24);
	st32(q + SETH_CC, (uint32_t)(CC_TYPE_SACK << 4 | (s->cc_flags & 0xf)) << 24 |
				  (uint32_t)s->mpr << 16 | (uint16_t)s->sack_offset);
	st64(q + SETH_BITMAP, s->bitmap);
	st32(cc + CC_TS, (uint32_t)h->ts << 16 | (s->ooo_count & 0x7fff));
	st32(cc + CC_RCVD, (uint32_t)s->restore_cwnd << 31 |
				   (uint32_t)(s->rcv_cwnd_pen & 0x7f) << 24 |
				   (s->rcvd_bytes & MASK24));
	return MRC_SETH_BYTES + MRC_CC_STATE_BYTES;
}

static unsigned
nack_put(uint8_t *q, const struct mrc_hdr *h)
{
	const struct mrc_hdr_nack *n = &h->nack;

	st32(q + NETH_TYPE, (uint32_t)n->reason << 8 | n->vendor);
	st32(q + NETH_ENTROPY, n->entropy);
	st32(q + NETH_PDCIDS, (uint32_t)n->spdcid << 16 | n->dpdcid);
	st32(q + NETH_PSN, n->psn & MASK24);
	st32(q + NETH_CC, (uint32_t)(CC_TYPE_NACK << 4 | (n->cc_flags & 0xf)) << 24 | h->ts);
	return MRC_NETH_BYTES;
}

static unsigned
probe_put(uint8_t *q, const struct mrc_hdr *h)
{
	st32(q, h->probe.vendor);
	st32(q + PETH_ID, (uint32_t)h->probe.probe_id << 16);
	st32(q + PETH_PDCIDS, (uint32_t)h->probe.spdcid << 16 | h->probe.dpdcid);
	stamp_put(q + PETH_TS, h);
	return MRC_PETH_BYTES;
}

static unsigned
ep_request_put(uint8_t *q, const struct mrc_hdr *h)
{
	st32(q + ERTH_TYPE, (uint32_t)(h->ep.op & 3) << 16 | h->ep.vendor);
	st32(q + ERTH_MASK, h->ep.port_mask);
	st32(q + ERTH_MASK + 4, 0);
	stamp_put(q + ERTH_TS, h);
	return MRC_ERTH_BYTES;
}

static unsigned
ep_response_put(uint8_t *q, const struct mrc_hdr *h)
{
	memset(q, 0, MRC_EETH_BYTES);
	q[EETH_OP] = (uint8_t)((h->ep.op & 3) << 2);
	st16(q + EETH_TS, h->ts);
	return MRC_EETH_BYTES;
}

unsigned
mrc_hdr_encode(uint8_t *p, const struct mrc_hdr *h)
{
	uint8_t *q = p + MRC_BTH_BYTES;

	if (mrc_op_is_write(h->opcode))
		return write_put(p, h);
	bth_put(p, h, h->flags & ~(unsigned)MRC_BTH_TS);
	switch (h->opcode) {
	case MRC_OP_SACK:
		return MRC_BTH_BYTES + sack_put(q, h);
	case MRC_OP_ACK:
		st32(q, (uint32_t)h->ack.syndrome << 24 | (h->ack.msn & MASK24));
		return MRC_BTH_BYTES + MRC_AETH_BYTES;
	case MRC_OP_NACK:
		return MRC_BTH_BYTES + nack_put(q, h);
	case MRC_OP_PROBE:
		return MRC_BTH_BYTES + probe_put(q, h);
	case MRC_OP_EP_REQUEST:
		return MRC_BTH_BYTES + ep_request_put(q, h);
	case MRC_OP_EP_RESPONSE:
		return MRC_BTH_BYTES + ep_response_put(q, h);
	default:
		return 0;
	}
}
