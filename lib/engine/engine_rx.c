/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames in. Passes over the burst, one job each: parse and look up; check the ICRC; deliver. The
 * verdict on a frame is known before anything is placed.
 */
#include "engine_priv.h"

#include <string.h>

#include <rte_prefetch.h>

/* Addresses, then who it is for. *c stays NULL for endpoint packets. */
static enum mrc_drop
look_up(struct mrc_engine *eng, unsigned plane, const struct mrc_view *v, struct mrc_conn **c)
{
	if (!mrc_addr_eq(&v->dst, &eng->p.gid))
		return MRC_DROP_NOT_MINE;
	if (v->mode >= MRC_EV_SRV6 &&
		(!eng->srv6 || memcmp(v->odst.b, eng->local_sid[plane], 6) != 0))
		return MRC_DROP_LOCAL_SID;
	if (v->hdr.opcode == MRC_OP_EP_REQUEST || v->hdr.opcode == MRC_OP_EP_RESPONSE)
		return v->hdr.dqpn == MRC_QPN_ENDPOINT ? MRC_OK : MRC_DROP_QPN;
	*c = mrc_engine_conn(eng, v->hdr.dqpn);
	if (*c == NULL)
		return MRC_DROP_QPN;
	rte_prefetch0(*c);
	rte_prefetch0(&(*c)->rx);
	return mrc_addr_eq(&v->src, &(*c)->p.peer_gid) ? MRC_OK : MRC_DROP_PEER;
}

static enum mrc_drop
check_icrc(const struct mrc_view *v)
{
	unsigned hdr;

	if (v->trimmed)
		return MRC_OK;
	hdr = v->payload != NULL ? (unsigned)(v->payload - v->frame) - v->ip_off
				 : (unsigned)(v->icrc_off - v->ip_off);
	return mrc_icrc_ok(v->frame + v->ip_off, hdr, v->icrc_off - v->ip_off - hdr)
		       ? MRC_OK
		       : MRC_DROP_ICRC;
}

static inline __attribute__((always_inline)) void
rx_burst(struct mrc_engine *eng, unsigned plane, struct rte_mbuf **pkts, unsigned n,
	uint64_t now_ns, const bool phantom)
{
	struct mrc_view views[MRC_BURST];
	struct mrc_conn *conns[MRC_BURST];
	enum mrc_drop verdict[MRC_BURST];
	uint64_t bytes = 0;

	for (unsigned i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
	for (unsigned i = 0; i < n; i++) {
		conns[i] = NULL;
		/* a frame in several segments was not sent by any of our ports */
		verdict[i] =
			pkts[i]->nb_segs != 1
				? MRC_DROP_LENGTH
				: mrc_view_parse(&views[i], rte_pktmbuf_mtod(pkts[i], uint8_t *),
					  phantom ? pkts[i]->pkt_len : pkts[i]->data_len,
					  &eng->p.wire);
		bytes += pkts[i]->pkt_len;
		if (phantom)
			views[i].payload = NULL;
		if (verdict[i] == MRC_OK)
			verdict[i] = look_up(eng, plane, &views[i], &conns[i]);
	}
	/* check and delivery together: the payload is in cache once */
	for (unsigned i = 0; i < n; i++) {
		if (!phantom && verdict[i] == MRC_OK)
			verdict[i] = check_icrc(&views[i]);
		if (verdict[i] != MRC_OK) {
			eng_drop(eng, verdict[i]);
			continue;
		}
		if (conns[i] == NULL) {
			eng_ep_rx(eng, plane, &views[i], now_ns);
			continue;
		}
		verdict[i] = mrc_conn_rx(conns[i], &views[i], now_ns);
		if (verdict[i] != MRC_OK)
			eng_drop(eng, verdict[i]);
		eng_set_touched(eng, conns[i]->set, now_ns);
	}
	eng->stats[plane].rx_packets += n;
	eng->stats[plane].rx_bytes += bytes;
}

void
mrc_engine_rx(
	struct mrc_engine *eng, unsigned plane, struct rte_mbuf **pkts, unsigned n, uint64_t now_ns)
{
	for (unsigned i = 0; i < n; i += MRC_BURST) {
		unsigned k = n - i < MRC_BURST ? n - i : MRC_BURST;

		if (eng->p.phantom)
			rx_burst(eng, plane, pkts + i, k, now_ns, true);
		else
			rx_burst(eng, plane, pkts + i, k, now_ns, false);
		rte_pktmbuf_free_bulk(pkts + i, k);
	}
}
