/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames out: doorbells, then what waits by urgency - control frames a port refused, feedback,
 * endpoint packets, data - as far as each plane has room. A descriptor becomes a frame in one pass:
 * headers, payload copied under the CRC, ICRC.
 */
#include "engine_priv.h"

#include <string.h>

/* At most so many doorbells a turn and client, so that a client cannot hold up the lcore. */
#define DOORBELL_BUDGET 64

static void
doorbells(struct mrc_engine *eng, uint64_t now_ns)
{
	for (unsigned i = 0; i < MRC_ENGINE_DOORBELLS; i++) {
		uint32_t qpn;

		for (unsigned n = 0; n < DOORBELL_BUDGET && mrc_spsc_pop(&eng->doorbell[i], &qpn);
			n++) {
			struct mrc_conn *c = mrc_engine_conn(eng, qpn);

			if (c != NULL)
				mrc_conn_kick(c, now_ns);
		}
	}
}

static inline __attribute__((always_inline)) void
build(struct rte_mbuf *m, const struct mrc_txd *d, const bool phantom)
{
	const struct mrc_tmpl *t = &d->set->plane[d->plane].tmpl;
	const struct mrc_path_ev *ev = &d->set->ev[d->ev];
	struct mrc_mbuf_meta *meta = rte_mbuf_to_priv(m);
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	uint8_t *p = frame + t->len;
	unsigned hdr = mrc_hdr_encode(p, &d->hdr);
	unsigned udp_payload = hdr + d->payload_len + d->hdr.pad + MRC_ICRC_BYTES;
	uint32_t crc;

	mrc_tmpl_write(frame, t, ev->value, ev->ev32, d->tclass, (uint16_t)udp_payload);
	p += hdr;
	meta->qpn = d->data ? d->conn->p.qpn : 0;
	meta->ev = d->ev;
	meta->psn = d->psn;
	if (phantom) {
		m->data_len = (uint16_t)(p - frame);
		m->pkt_len = m->data_len - hdr + udp_payload;
		return;
	}
	crc = mrc_icrc_headers(frame + t->ip_off, (unsigned)(p - frame) - t->ip_off);
	if (d->payload_len > 0) {
		crc = mrc_icrc_copy(crc, p, d->payload, d->payload_len);
		p += d->payload_len;
		if (d->hdr.pad > 0) {
			memset(p, 0, d->hdr.pad);
			crc = mrc_icrc_update(crc, p, d->hdr.pad);
			p += d->hdr.pad;
		}
	}
	mrc_icrc_store(p, crc);
	m->data_len = (uint16_t)(p + MRC_ICRC_BYTES - frame);
	m->pkt_len = m->data_len;
}

static void
emit(struct mrc_engine *eng, const struct mrc_txd *d, struct mrc_engine_txq *out)
{
	struct mrc_engine_txq *q = &out[d->plane];
	struct rte_mbuf *m = eng->spare[--eng->spare_n];

	if (eng->p.phantom)
		build(m, d, true);
	else
		build(m, d, false);
	eng->stats[d->plane].tx_packets++;
	eng->stats[d->plane].tx_bytes += m->pkt_len;
	q->pkts[q->n++] = m;
}

/* Frames exist before anything is cut for them. @return false: the pool is empty */
static bool
refill(struct mrc_engine *eng)
{
	if (eng->spare_n >= MRC_BURST)
		return true;
	if (rte_pktmbuf_alloc_bulk(eng->p.pool, eng->spare + eng->spare_n, MRC_BURST) == 0) {
		eng->spare_n += MRC_BURST;
		return true;
	}
	/* the last few of the pool, one by one */
	while (eng->spare_n < MRC_BURST) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(eng->p.pool);

		if (m == NULL)
			break;
		eng->spare[eng->spare_n++] = m;
	}
	if (eng->spare_n == 0)
		eng_drop(eng, MRC_DROP_NO_MBUF);
	return eng->spare_n > 0;
}

static void
send_held(struct mrc_engine *eng, uint16_t *room, struct mrc_engine_txq *out)
{
	for (unsigned pl = 0; pl < eng->p.planes; pl++) {
		unsigned n = eng->held_n[pl] < room[pl] ? eng->held_n[pl] : room[pl];

		if (n == 0)
			continue;
		memcpy(out[pl].pkts, eng->held[pl], n * sizeof(struct rte_mbuf *));
		out[pl].n = n;
		room[pl] = (uint16_t)(room[pl] - n);
		eng->held_n[pl] -= n;
		memmove(eng->held[pl], eng->held[pl] + n,
			eng->held_n[pl] * sizeof(struct rte_mbuf *));
	}
}

static bool
any_room(const struct mrc_engine *eng, const uint16_t *room)
{
	for (unsigned pl = 0; pl < eng->p.planes; pl++)
		if (room[pl] > 0)
			return true;
	return false;
}

/* One that finds no room waits behind the others: they may be for planes or peers that have some.
 */
static void
ctl_wait(struct mrc_engine *eng, const struct mrc_ctl *ctl)
{
	struct mrc_conn_ctx *ctx = &eng->ctx;

	ctx->ctl[ctx->ctl_tail++ % MRC_CTL_RING] = *ctl;
}

static void
send_ctl(struct mrc_engine *eng, uint16_t *room, struct mrc_engine_txq *out, uint64_t now_ns)
{
	struct mrc_conn_ctx *ctx = &eng->ctx;
	uint32_t waiting = 0;
	struct mrc_txd d;

	if (!any_room(eng, room))
		return;
	while (ctx->ctl_tail - ctx->ctl_head > waiting && refill(eng)) {
		struct mrc_ctl ctl = ctx->ctl[ctx->ctl_head++ % MRC_CTL_RING];

		if (ctl.conn == NULL)
			continue;
		if (mrc_conn_ctl_tx(&ctl, room, &d, now_ns)) {
			emit(eng, &d, out);
		} else if (mrc_path_reachable(ctl.conn->set)) {
			ctl_wait(eng, &ctl);
			waiting++;
		} else {
			/* it would sit here for as long as the peer is away */
			mrc_conn_ctl_drop(&ctl);
			eng_drop(eng, MRC_DROP_NO_PATH);
		}
	}
	while (refill(eng) && eng_ep_tx(eng, room, &d, now_ns))
		emit(eng, &d, out);
}

/* Connections in turn, a burst each. One that has more goes to the end of the line. */
static void
send_data(struct mrc_engine *eng, uint16_t *room, struct mrc_engine_txq *out, uint64_t now_ns)
{
	struct mrc_txd d[MRC_BURST];
	unsigned budget = 2 * MRC_BURST;

	while (eng->ctx.ready.first != NULL && budget > 0 && any_room(eng, room) && refill(eng)) {
		struct mrc_conn *c = eng->ctx.ready.first;
		unsigned max = eng->spare_n < MRC_BURST ? eng->spare_n : MRC_BURST;
		unsigned n = mrc_conn_tx(c, room, d, max, now_ns);

		for (unsigned i = 0; i < n; i++)
			emit(eng, &d[i], out);
		budget = n < budget ? budget - n : 0;
		if (eng->ctx.ready.first == c) {
			mrc_conn_requeue(c);
			if (n == 0)
				break;
		}
	}
}

void
mrc_engine_tx(struct mrc_engine *eng, const uint16_t *room_in, struct mrc_engine_txq *out,
	uint64_t now_ns)
{
	uint16_t room[MRC_PLANES_MAX];

	for (unsigned pl = 0; pl < eng->p.planes; pl++) {
		out[pl].n = 0;
		room[pl] = !(eng->up >> pl & 1)		       ? 0
			   : room_in[pl] < MRC_ENGINE_TX_BURST ? room_in[pl]
							       : MRC_ENGINE_TX_BURST;
	}
	doorbells(eng, now_ns);
	if (!mrc_engine_busy(eng))
		return;
	send_held(eng, room, out);
	send_ctl(eng, room, out, now_ns);
	send_data(eng, room, out, now_ns);
}

void
mrc_engine_unsent(struct mrc_engine *eng, unsigned plane, struct rte_mbuf **pkts, unsigned n)
{
	struct rte_mbuf *keep[MRC_ENGINE_TX_BURST];
	unsigned kept = 0, space;

	/* backwards: each data packet goes to the front of its queue, so order stays */
	for (unsigned i = n; i-- > 0;) {
		const struct mrc_mbuf_meta *meta = rte_mbuf_to_priv(pkts[i]);

		eng->stats[plane].tx_packets--;
		eng->stats[plane].tx_bytes -= pkts[i]->pkt_len;
		if (meta->qpn != 0) {
			struct mrc_conn *c = mrc_engine_conn(eng, meta->qpn);

			if (c != NULL)
				mrc_conn_unsent(c, meta->psn);
			rte_pktmbuf_free(pkts[i]);
		} else {
			keep[kept++] = pkts[i];
		}
	}
	/* control frames stay as they are, before those that came later */
	space = HELD - eng->held_n[plane];
	for (; kept > space; kept--, keep[0] = keep[kept]) {
		rte_pktmbuf_free(keep[0]);
		eng_drop(eng, MRC_DROP_CTL_FULL);
	}
	memmove(eng->held[plane] + kept, eng->held[plane],
		eng->held_n[plane] * sizeof(struct rte_mbuf *));
	for (unsigned i = 0; i < kept; i++)
		eng->held[plane][i] = keep[kept - 1 - i];
	eng->held_n[plane] += kept;
}
