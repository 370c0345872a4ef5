/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes to struct mrc_hdr. The length is checked once, against what the opcode and its ts bit
 * demand; then everything that can be refused is looked at; only then is *h written. A choice:
 * SETH's next header must be 0 (CC_STATE follows); that of the others is ignored, as no value is
 * known. Who calls it: mrc_view_parse, once a packet received.
 */
#include "mrc_hdr.h"
#include "wire_priv.h"

static void
bth_get(const uint8_t *p, struct mrc_hdr *h)
{
	unsigned b1 = p[BTH_BYTE1], b8 = p[BTH_PSN];
	unsigned flags = 0;

	flags |= b1 & BTH_SE ? MRC_BTH_SE : 0;
	flags |= b8 & BTH_A ? MRC_BTH_A : 0;
	flags |= b8 & BTH_RTX ? MRC_BTH_RTX : 0;
	h->opcode = p[BTH_OPCODE];
	h->flags = (uint8_t)flags;
	h->pad = b1 >> BTH_PAD_SHIFT & 3;
	h->tsr = false;
	h->ts = 0;
	h->dqpn = ld32(p + BTH_DQPN) & MASK24;
	h->psn = ld32(p + BTH_PSN) & MASK24;
}

static bool
stamp_known(const uint8_t *p)
{
	return (p[TSETH_FORMAT + 1] & TS_FORMAT_MASK) == TS_FORMAT;
}

static void
stamp_get(const uint8_t *p, struct mrc_hdr *h)
{
	uint32_t w = ld32(p);

	h->ts = (uint16_t)(w >> 16);
	h->tsr = (w & TS_TSR) != 0;
}

/* METH and TSETH, which stand before RETH in every write. @return bytes, or 0 for an unknown TSETH
 */
static unsigned
write_front_get(const uint8_t *p, struct mrc_hdr *h, bool ts)
{
	const uint8_t *q = p + MRC_BTH_BYTES;
	uint32_t w = ld32(q + METH_RQMSN);

	if (ts && !stamp_known(q + MRC_METH_BYTES))
		return 0;
	bth_get(p, h);
	h->write.rqmsn = (uint16_t)(w >> 16);
	h->write.msn = (uint16_t)w;
	if (!ts)
		return MRC_BTH_BYTES + MRC_METH_BYTES;
	h->flags |= MRC_BTH_TS;
	stamp_get(q + MRC_METH_BYTES, h);
	return MRC_BTH_BYTES + MRC_METH_BYTES + MRC_TSETH_BYTES;
}

static enum mrc_drop
write_get(const uint8_t *p, unsigned len, struct mrc_hdr *h, unsigned *hdr_bytes)
{
	bool ts = p[BTH_PSN] & BTH_TS, imm = mrc_op_has_imm(p[BTH_OPCODE]);
	unsigned front = MRC_BTH_BYTES + MRC_METH_BYTES + (ts ? MRC_TSETH_BYTES : 0);
	unsigned need = front + MRC_RETH_BYTES + (imm ? MRC_IMMDT_BYTES : 0);
	const uint8_t *q = p + front;

	if (len < need)
		return MRC_DROP_SHORT;
	if (write_front_get(p, h, ts) == 0)
		return MRC_DROP_HEADER_TYPE;
	h->write.va = ld64(q + RETH_VA);
	h->write.rkey = ld32(q + RETH_RKEY);
	h->write.dmalen = ld32(q + RETH_DMALEN);
	h->write.imm = imm ? ld32(q + MRC_RETH_BYTES) : 0;
	*hdr_bytes = need;
	return MRC_OK;
}

static bool
sack_get(const uint8_t *q, struct mrc_hdr *h)
{
	const uint8_t *cc = q + MRC_SETH_BYTES;
	unsigned w = ld16(q + SETH_TYPE);
	uint32_t c = ld32(q + SETH_CC), ids = ld32(q + SETH_PDCIDS), r = ld32(cc + CC_RCVD);
	struct mrc_hdr_sack *s = &h->sack;

	if (w >> SETH_NEXT_SHIFT != 0 || c >> 28 != CC_TYPE_SACK) /* type and next header */
		return false;
	bth_get(q - MRC_BTH_BYTES, h);
	h->ts = ld16(cc + CC_TS);
	s->m = w >> SETH_M_SHIFT & 3;
	s->probe = (w & SETH_PR) != 0;
	s->ack_psn_offset = (int16_t)ld16(q + SETH_ACK_OFFSET);
	s->entropy = ld32(q + SETH_ENTROPY);
	s->spdcid = (uint16_t)(ids >> 16);
	s->dpdcid = (uint16_t)ids;
	s->cack = ld32(q + SETH_CACK) & MASK24;
	s->cc_flags = c >> 24 & 0xf;
	s->mpr = (uint8_t)(c >> 16);
	s->sack_offset = (int16_t)(uint16_t)c;
	s->bitmap = ld64(q + SETH_BITMAP);
	s->ooo_count = ld16(cc + CC_TS + 2) & 0x7fff;
	s->restore_cwnd = r >> 31;
	s->rcv_cwnd_pen = r >> 24 & 0x7f;
	s->rcvd_bytes = r & MASK24;
	return true;
}

static bool
nack_get(const uint8_t *q, struct mrc_hdr *h)
{
	uint32_t w = ld32(q + NETH_TYPE), ids = ld32(q + NETH_PDCIDS), c = ld32(q + NETH_CC);
	struct mrc_hdr_nack *n = &h->nack;

	if (w >> 28 != 0 || c >> 28 != CC_TYPE_NACK)
		return false;
	bth_get(q - MRC_BTH_BYTES, h);
	h->ts = (uint16_t)c;
	n->reason = (uint8_t)(w >> 8);
	n->vendor = (uint8_t)w;
	n->entropy = ld32(q + NETH_ENTROPY);
	n->spdcid = (uint16_t)(ids >> 16);
	n->dpdcid = (uint16_t)ids;
	n->psn = ld32(q + NETH_PSN) & MASK24;
	n->cc_flags = c >> 24 & 0xf;
	return true;
}

static bool
probe_get(const uint8_t *q, struct mrc_hdr *h)
{
	uint32_t ids = ld32(q + PETH_PDCIDS);

	if (!stamp_known(q + PETH_TS))
		return false;
	bth_get(q - MRC_BTH_BYTES, h);
	stamp_get(q + PETH_TS, h);
	h->probe.vendor = q[PETH_VENDOR];
	h->probe.probe_id = ld16(q + PETH_ID);
	h->probe.spdcid = (uint16_t)(ids >> 16);
	h->probe.dpdcid = (uint16_t)ids;
	return true;
}

static bool
ep_request_get(const uint8_t *q, struct mrc_hdr *h)
{
	unsigned w = ld16(q + ERTH_TYPE);

	if (w >> EXT_TYPE_SHIFT != 0 || !stamp_known(q + ERTH_TS))
		return false;
	bth_get(q - MRC_BTH_BYTES, h);
	stamp_get(q + ERTH_TS, h);
	h->ep.op = w & 3;
	h->ep.vendor = q[ERTH_VENDOR];
	h->ep.port_mask = ld32(q + ERTH_MASK);
	return true;
}

static bool
ep_response_get(const uint8_t *q, struct mrc_hdr *h)
{
	bth_get(q - MRC_BTH_BYTES, h);
	h->ts = ld16(q + EETH_TS);
	h->ep.op = q[EETH_OP] >> 2 & 3;
	h->ep.vendor = 0;
	h->ep.port_mask = 0;
	return true;
}

static bool
ack_get(const uint8_t *q, struct mrc_hdr *h)
{
	uint32_t w = ld32(q);

	bth_get(q - MRC_BTH_BYTES, h);
	h->ack.syndrome = (uint8_t)(w >> 24);
	h->ack.msn = w & MASK24;
	return true;
}

/* @return bytes after BTH of an opcode that is no write; 0 for an unknown one */
static unsigned
ext_bytes(uint8_t opcode)
{
	switch (opcode) {
	case MRC_OP_ACK:
		return MRC_AETH_BYTES;
	case MRC_OP_EP_REQUEST:
		return MRC_ERTH_BYTES;
	case MRC_OP_EP_RESPONSE:
		return MRC_EETH_BYTES;
	case MRC_OP_SACK:
		return MRC_SETH_BYTES + MRC_CC_STATE_BYTES;
	case MRC_OP_NACK:
		return MRC_NETH_BYTES;
	case MRC_OP_PROBE:
		return MRC_PETH_BYTES;
	default:
		return 0;
	}
}

static bool
ext_get(const uint8_t *q, uint8_t opcode, struct mrc_hdr *h)
{
	switch (opcode) {
	case MRC_OP_SACK:
		return sack_get(q, h);
	case MRC_OP_ACK:
		return ack_get(q, h);
	case MRC_OP_NACK:
		return nack_get(q, h);
	case MRC_OP_PROBE:
		return probe_get(q, h);
	case MRC_OP_EP_REQUEST:
		return ep_request_get(q, h);
	default:
		return ep_response_get(q, h);
	}
}

enum mrc_drop
mrc_hdr_decode(const uint8_t *p, unsigned len, struct mrc_hdr *h, unsigned *hdr_bytes)
{
	uint8_t opcode;
	unsigned ext;

	if (len < MRC_BTH_BYTES)
		return MRC_DROP_SHORT;
	opcode = p[BTH_OPCODE];
	if ((p[BTH_BYTE1] & BTH_VERSION_MASK) != 0)
		return MRC_DROP_VERSION;
	if (mrc_op_is_write(opcode))
		return write_get(p, len, h, hdr_bytes);
	ext = ext_bytes(opcode);
	if (ext == 0)
		return MRC_DROP_OPCODE;
	if (len < MRC_BTH_BYTES + ext)
		return MRC_DROP_SHORT;
	if (!ext_get(p + MRC_BTH_BYTES, opcode, h))
		return MRC_DROP_HEADER_TYPE;
	*hdr_bytes = MRC_BTH_BYTES + ext;
	return MRC_OK;
}

enum mrc_drop
mrc_hdr_decode_trimmed(const uint8_t *p, unsigned len, struct mrc_hdr *h)
{
	bool ts;

	if (len < MRC_BTH_BYTES)
		return MRC_DROP_SHORT;
	if ((p[BTH_BYTE1] & BTH_VERSION_MASK) != 0)
		return MRC_DROP_VERSION;
	if (!mrc_op_is_write(p[BTH_OPCODE]))
		return MRC_DROP_OPCODE;
	ts = p[BTH_PSN] & BTH_TS;
	if (len < MRC_BTH_BYTES + MRC_METH_BYTES + (ts ? MRC_TSETH_BYTES : 0u))
		return MRC_DROP_SHORT;
	if (write_front_get(p, h, ts) == 0)
		return MRC_DROP_HEADER_TYPE;
	h->write.va = 0;
	h->write.rkey = 0;
	h->write.dmalen = 0;
	h->write.imm = 0;
	return MRC_OK;
}
