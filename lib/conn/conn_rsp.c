/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responder's answers, and our own probes: queued when an event asks for them, written when a
 * plane has room, so that a SACK carries the newest state.
 */
#include "conn_priv.h"

bool
conn_rsp_push(struct mrc_conn *c, const struct mrc_ctl *ctl)
{
	struct mrc_conn_ctx *ctx = c->ctx;

	if (ctx->ctl_tail - ctx->ctl_head == MRC_CTL_RING) {
		ctx->drops.n[MRC_DROP_CTL_FULL]++;
		return false;
	}
	ctx->ctl[ctx->ctl_tail % MRC_CTL_RING] = *ctl;
	ctx->ctl[ctx->ctl_tail++ % MRC_CTL_RING].conn = c;
	return true;
}

void
conn_rsp_sack(struct mrc_conn *c, const struct mrc_ctl *about, uint8_t m)
{
	struct mrc_ctl ctl = *about;

	ctl.kind = MRC_CTL_SACK;
	ctl.code = m;
	if (conn_rsp_push(c, &ctl) && !ctl.probe) {
		c->rx.sack_bytes = 0;
		c->rx.sack_packets = 0;
	}
}

void
conn_rsp_nack(struct mrc_conn *c, const struct mrc_ctl *about, enum mrc_nack_reason reason)
{
	struct mrc_ctl ctl = *about;

	ctl.kind = MRC_CTL_NACK;
	ctl.code = (uint8_t)reason;
	conn_rsp_push(c, &ctl);
}

void
conn_rsp_ack(struct mrc_conn *c)
{
	struct mrc_ctl ctl = {.kind = MRC_CTL_ACK, .code = MRC_AETH_ACK};

	if (!c->rx.ack_queued)
		c->rx.ack_queued = conn_rsp_push(c, &ctl);
}

void
conn_rsp_nak(struct mrc_conn *c, uint64_t psn, enum mrc_syndrome s, uint64_t now_ns)
{
	struct mrc_ctl ctl = {.kind = MRC_CTL_ACK, .code = (uint8_t)s, .psn = psn};

	c->rx.nak = ctl;
	c->rx.nak.conn = c;
	c->rx.nak_ns = now_ns;
	conn_rsp_push(c, &ctl);
}

/*
 * Where the 64 bits begin.
 *  1. Answer to a probe: cack + 1.
 *  2. Every second SACK while holes lie further than a bitmap below the highest: the next hole, in
 * turn.
 *  3. Else the lowest PSN not reported yet; if nothing so high is left, further down, so that spare
 * bits repeat news.
 */
static uint64_t
sack_base(struct mrc_conn_rx *rx, bool probe)
{
	uint64_t floor = rx->highest >= rx->next + 63 ? rx->highest - 63 : rx->next;
	uint64_t base;

	if (probe)
		return rx->next;
	if (rx->next < floor && rx->hole_turn) {
		uint64_t from = rx->hole_next > rx->next ? rx->hole_next : rx->next;

		base = mrc_bitmap_next_clear(&rx->got, from, floor);
		if (base == floor)
			base = rx->next;
		rx->hole_next = base + 64;
		rx->hole_turn = false;
		return base;
	}
	rx->hole_turn = true;
	base = rx->unreported == UINT64_MAX ? floor : rx->unreported;
	if (base < rx->next)
		base = rx->next;
	return base < floor ? base : floor;
}

/* What this SACK told the sender it need not be told again. */
static void
sack_reported(struct mrc_conn_rx *rx, uint64_t base)
{
	if (rx->unreported == UINT64_MAX)
		return;
	if (rx->unreported_hi < rx->next) {
		rx->unreported = UINT64_MAX;
		return;
	}
	if (rx->unreported < rx->next)
		rx->unreported = rx->next;
	if (rx->unreported < base || rx->unreported > base + 63)
		return;
	if (rx->unreported_hi <= base + 63)
		rx->unreported = UINT64_MAX;
	else
		rx->unreported = base + 64;
}

static void
sack_fill(struct mrc_conn *c, const struct mrc_ctl *ctl, struct mrc_hdr *h)
{
	struct mrc_conn_rx *rx = &c->rx;
	uint64_t cack = rx->next - 1, base = sack_base(rx, ctl->probe);
	uint64_t bits = rx->highest < base ? 0 : mrc_bitmap_get64(&rx->got, base);
	int64_t off = (int64_t)(ctl->psn - cack);

	/* the ring holds a window: bits past the highest belong to PSNs long gone or to come */
	if (rx->highest >= base && rx->highest - base < 63)
		bits &= (UINT64_C(1) << (rx->highest - base + 1)) - 1;
	h->opcode = MRC_OP_SACK;
	h->psn = mrc_psn_wire(cack);
	h->ts = ctl->ts;
	h->tsr = ctl->tsr;
	h->sack.m = ctl->code;
	h->sack.probe = ctl->probe;
	/* a duplicate far below cack: any value that names nothing outstanding will do */
	h->sack.ack_psn_offset =
		ctl->probe ? (int16_t)ctl->probe_id : (int16_t)(off < INT16_MIN ? INT16_MIN : off);
	h->sack.entropy = ctl->ev32;
	h->sack.spdcid = (uint16_t)c->p.qpn;
	h->sack.dpdcid = (uint16_t)c->p.peer_qpn;
	h->sack.cack = mrc_psn_wire(cack);
	h->sack.sack_offset = (int16_t)(base - cack);
	h->sack.bitmap = bits;
	h->sack.ooo_count = (uint16_t)(rx->ooo > 0x7fff ? 0x7fff : rx->ooo);
	h->sack.rcvd_bytes = (uint32_t)((rx->rcvd_nominal + 255) >> 8) & MRC_PSN_MASK;
	sack_reported(rx, base);
	rx->stats.sacks++;
}

static void
nack_fill(struct mrc_conn *c, const struct mrc_ctl *ctl, struct mrc_hdr *h)
{
	h->opcode = MRC_OP_NACK;
	h->psn = mrc_psn_wire(ctl->psn);
	h->ts = ctl->ts;
	h->tsr = ctl->tsr;
	h->nack.reason = ctl->code;
	h->nack.entropy = ctl->ev32;
	h->nack.spdcid = (uint16_t)c->p.qpn;
	h->nack.dpdcid = (uint16_t)c->p.peer_qpn;
	h->nack.psn = mrc_psn_wire(ctl->psn);
	c->rx.stats.nacks++;
}

static void
ack_fill(struct mrc_conn *c, const struct mrc_ctl *ctl, struct mrc_hdr *h)
{
	struct mrc_conn_rx *rx = &c->rx;

	h->opcode = MRC_OP_ACK;
	h->ack.syndrome = ctl->code;
	h->ack.msn = rx->msgs;
	h->psn = mrc_psn_wire(ctl->code == MRC_AETH_ACK ? rx->next - 1 : ctl->psn);
	if (ctl->code == MRC_AETH_ACK) {
		rx->msgs_unacked = 0;
		rx->ack_queued = false;
		rx->stats.acks++;
	}
}

static void
probe_fill(struct mrc_conn *c, const struct mrc_ctl *ctl, struct mrc_hdr *h, uint64_t now_ns)
{
	h->opcode = MRC_OP_PROBE;
	h->ts = conn_stamp(c, now_ns);
	h->tsr = c->p.ts_us;
	h->probe.probe_id = ctl->probe_id;
	h->probe.spdcid = (uint16_t)c->p.qpn;
	h->probe.dpdcid = (uint16_t)c->p.peer_qpn;
	c->tx.probe_ns = now_ns;
	c->tx.probe_psn = c->tx.psn_next;
	c->tx.stats.probes++;
}

bool
mrc_conn_ctl_tx(struct mrc_ctl *ctl, uint16_t *room, struct mrc_txd *out, uint64_t now_ns)
{
	struct mrc_conn *c = ctl->conn;
	const struct mrc_dscp *dscp = &c->ctx->wire.dscp;
	struct mrc_hdr *h = &out->hdr;
	unsigned ev;

	/* a probe must see what data sees, so it takes data's way */
	ev = ctl->kind == MRC_CTL_PROBE ? mrc_path_pick(c->set, &c->rot, room, MRC_EV_NONE, now_ns)
					: mrc_path_pick_ctl(c->set, room);
	if (ev == MRC_EV_NONE)
		return false;
	*h = (struct mrc_hdr){.dqpn = c->p.peer_qpn};
	switch (ctl->kind) {
	case MRC_CTL_SACK:
		sack_fill(c, ctl, h);
		/* completions ride along */
		if (c->rx.msgs_unacked > 0)
			conn_rsp_ack(c);
		break;
	case MRC_CTL_NACK:
		nack_fill(c, ctl, h);
		break;
	case MRC_CTL_ACK:
		ack_fill(c, ctl, h);
		break;
	default:
		probe_fill(c, ctl, h, now_ns);
		break;
	}
	out->conn = c;
	out->set = c->set;
	out->payload = NULL;
	out->payload_len = 0;
	out->data = false;
	out->ev = (uint16_t)ev;
	out->plane = c->set->ev[ev].plane;
	out->tclass = ctl->kind == MRC_CTL_PROBE ? (uint8_t)(dscp->no_trim << 2 | MRC_ECN_ECT0)
						 : (uint8_t)(dscp->control << 2);
	room[out->plane]--;
	return true;
}

void
mrc_conn_ctl_drop(const struct mrc_ctl *ctl)
{
	if (ctl->kind == MRC_CTL_ACK && ctl->code == MRC_AETH_ACK)
		ctl->conn->rx.ack_queued = false;
}
