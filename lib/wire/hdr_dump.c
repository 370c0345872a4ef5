/* SPDX-License-Identifier: BSD-3-Clause */
/* Transport headers as a line of text. Who calls it: app (CLI, traces), tests. */
#include "mrc_hdr.h"

#include <inttypes.h>

#include "wire_priv.h"

static const char *
opcode_name(uint8_t opcode)
{
	switch (opcode) {
	case MRC_OP_WRITE_FIRST:
		return "WRITE_FIRST";
	case MRC_OP_WRITE_MIDDLE:
		return "WRITE_MIDDLE";
	case MRC_OP_WRITE_LAST:
		return "WRITE_LAST";
	case MRC_OP_WRITE_LAST_IMM:
		return "WRITE_LAST_IMM";
	case MRC_OP_WRITE_ONLY:
		return "WRITE_ONLY";
	case MRC_OP_WRITE_ONLY_IMM:
		return "WRITE_ONLY_IMM";
	case MRC_OP_ACK:
		return "ACK";
	case MRC_OP_EP_REQUEST:
		return "EP_REQUEST";
	case MRC_OP_EP_RESPONSE:
		return "EP_RESPONSE";
	case MRC_OP_SACK:
		return "SACK";
	case MRC_OP_NACK:
		return "NACK";
	case MRC_OP_PROBE:
		return "PROBE";
	default:
		return NULL;
	}
}

static const char *
reason_name(uint8_t reason)
{
	switch (reason) {
	case MRC_NACK_TRIMMED:
		return "trimmed";
	case MRC_NACK_TRIMMED_LASTHOP:
		return "trimmed_lasthop";
	case MRC_NACK_NO_BITMAP:
		return "no_bitmap";
	case MRC_NACK_NO_PKT_BUFFER:
		return "no_pkt_buffer";
	case MRC_NACK_NO_RESOURCE:
		return "no_resource";
	case MRC_NACK_PSN_OOR_WINDOW:
		return "psn_oor_window";
	case MRC_NACK_UNEXP_EVENT:
		return "unexp_event";
	default:
		return "unknown";
	}
}

static const char *
syndrome_name(uint8_t syndrome)
{
	switch (syndrome) {
	case MRC_AETH_ACK:
		return "ok";
	case MRC_AETH_NAK_PSN_SEQ:
		return "nak_psn_sequence";
	case MRC_AETH_NAK_INVALID:
		return "nak_invalid_request";
	case MRC_AETH_NAK_ACCESS:
		return "nak_remote_access";
	case MRC_AETH_NAK_OPERATION:
		return "nak_remote_operational";
	default:
		return "unknown";
	}
}

static void
stamp_add(struct text *t, const struct mrc_hdr *h)
{
	wire_text_add(t, " ts 0x%04x%s", h->ts, h->tsr ? " (us)" : "");
}

static void
write_add(struct text *t, const struct mrc_hdr *h)
{
	if (h->flags & MRC_BTH_TS)
		stamp_add(t, h);
	wire_text_add(t, " msn %u rqmsn %u va 0x%" PRIx64 " rkey 0x%x len %u", h->write.msn,
		h->write.rqmsn, h->write.va, h->write.rkey, h->write.dmalen);
	if (mrc_op_has_imm(h->opcode))
		wire_text_add(t, " imm 0x%x", h->write.imm);
}

static void
sack_add(struct text *t, const struct mrc_hdr *h)
{
	static const char *const modes[] = {"", " skip_once", " always_skip", " m3"};
	const struct mrc_hdr_sack *s = &h->sack;

	stamp_add(t, h);
	wire_text_add(t, "%s%s ack %+d ev 0x%x pdcid %04x>%04x cack %u", modes[s->m & 3],
		s->probe ? " probe" : "", s->ack_psn_offset, s->entropy, s->spdcid, s->dpdcid,
		s->cack);
	wire_text_add(t, " base %+d bits 0x%016" PRIx64 " mpr %u cc 0x%x ooo %u rcvd %u",
		s->sack_offset, s->bitmap, s->mpr, s->cc_flags, s->ooo_count, s->rcvd_bytes);
	if (s->restore_cwnd || s->rcv_cwnd_pen != 0)
		wire_text_add(t, " pen %u%s", s->rcv_cwnd_pen, s->restore_cwnd ? " restore" : "");
}

static void
nack_add(struct text *t, const struct mrc_hdr *h)
{
	const struct mrc_hdr_nack *n = &h->nack;

	stamp_add(t, h);
	wire_text_add(t, " %s (0x%02x) of %u ev 0x%x pdcid %04x>%04x vendor 0x%x cc 0x%x",
		reason_name(n->reason), n->reason, n->psn, n->entropy, n->spdcid, n->dpdcid,
		n->vendor, n->cc_flags);
}

static void
ep_add(struct text *t, const struct mrc_hdr *h)
{
	stamp_add(t, h);
	wire_text_add(t, " %s",
		h->ep.op == MRC_EP_PORT_STATUS ? "port_status"
		: h->ep.op == MRC_EP_EV_PROBE  ? "ev_probe"
					       : "op_unknown");
	if (h->opcode == MRC_OP_EP_REQUEST)
		wire_text_add(t, " ports 0x%x vendor 0x%x", h->ep.port_mask, h->ep.vendor);
}

int
mrc_hdr_dump(char *buf, size_t size, const struct mrc_hdr *h)
{
	struct text t = {.buf = buf, .size = size};
	const char *name = opcode_name(h->opcode);

	if (name == NULL) {
		wire_text_add(&t, "opcode 0x%02x", h->opcode);
		return t.len;
	}
	wire_text_add(&t, "%s qpn 0x%x psn %u%s%s%s", name, h->dqpn, h->psn,
		h->flags & MRC_BTH_SE ? " SE" : "", h->flags & MRC_BTH_A ? " A" : "",
		h->flags & MRC_BTH_RTX ? " rtx" : "");
	if (h->pad != 0)
		wire_text_add(&t, " pad %u", h->pad);
	if (mrc_op_is_write(h->opcode))
		write_add(&t, h);
	else if (h->opcode == MRC_OP_SACK)
		sack_add(&t, h);
	else if (h->opcode == MRC_OP_NACK)
		nack_add(&t, h);
	else if (h->opcode == MRC_OP_ACK)
		wire_text_add(&t, " %s (0x%02x) msn %u", syndrome_name(h->ack.syndrome),
			h->ack.syndrome, h->ack.msn);
	else if (h->opcode == MRC_OP_PROBE) {
		stamp_add(&t, h);
		wire_text_add(&t, " id %u pdcid %04x>%04x vendor 0x%x", h->probe.probe_id,
			h->probe.spdcid, h->probe.dpdcid, h->probe.vendor);
	} else
		ep_add(&t, h);
	return t.len;
}
