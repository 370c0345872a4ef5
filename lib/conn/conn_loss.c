/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding losses: NACKs, and what SACKs say missing. Paths keep order, so a packet is lost when a
 * packet sent later on the same EV has arrived and it has not; or when any packet sent more than a
 * reorder window later has (after RACK, RFC 8985, adapted to spraying). Only these and timeouts
 * condemn an EV.
 */
#include "conn_priv.h"

/*
 * FLIGHT -> QUEUED. blame: the EV did it.
 *  trim     the network said so: the window brakes, the EV is merely passed over (by the caller)
 *  gap      inferred: the EV is condemned
 *  timeout  blames only if something sent later arrived
 *  port     our own plane went down: nobody's fault
 *  nack     the peer had no room: again after a hold
 */
void
conn_loss_mark(struct mrc_conn *c, uint64_t psn, enum mrc_loss cause, bool blame, uint64_t now_ns)
{
	struct mrc_conn_tx *tx = &c->tx;
	struct mrc_rec *r = rec_of(c, psn);
	struct mrc_path_plane *plane = &c->set->plane[c->set->ev[r->ev].plane];
	struct mrc_path_plane_stats *ps = &plane->stats;

	list_remove(c, &tx->flight, r);
	list_append(c, &tx->queue, r);
	r->state = MRC_REC_QUEUED;
	r->debited = true;
	r->lost_ev = MRC_EV_NONE;
	r->lost_plane = c->set->ev[r->ev].plane;
	conn_inflight_sub(c, r->nominal);
	switch (cause) {
	case MRC_LOSS_TRIM:
		tx->stats.trim++;
		ps->trimmed++;
		mrc_cc_trim(c->cc, r->nominal, now_ns);
		break;
	case MRC_LOSS_GAP:
		tx->stats.gap++;
		ps->gap++;
		/* of a plane condemned as a whole the window gives up its share at once, once */
		if (plane->condemned)
			mrc_cc_unsent(c->cc, r->nominal);
		else
			mrc_cc_loss(c->cc, r->nominal, now_ns);
		break;
	case MRC_LOSS_TIMEOUT:
		tx->stats.timeout++;
		ps->timeout++;
		mrc_cc_loss(c->cc, r->nominal, now_ns);
		break;
	case MRC_LOSS_PORT:
		tx->stats.port++;
		mrc_cc_unsent(c->cc, r->nominal);
		break;
	case MRC_LOSS_NACK:
		tx->stats.nack++;
		mrc_cc_unsent(c->cc, r->nominal);
		break;
	}
	if (blame) {
		r->lost_ev = r->ev;
		c->set->ev[r->ev].lost++;
		mrc_path_lost(c->set, r->ev, r->sent_ns, now_ns);
	}
	conn_ready(c);
}

void
conn_loss_check(struct mrc_conn *c, uint64_t psn, uint64_t later_ns, uint64_t now_ns)
{
	const struct mrc_conn_tx *tx = &c->tx;
	const struct mrc_rec *r = &tx->rec[psn & tx->rec_mask];
	uint64_t window = mrc_path_reorder_ns(c->set) * (1 + tx->reo_steps);

	if (r->state != MRC_REC_FLIGHT)
		return;
	/* overtaken on its own EV; ev_order holds order + 1, 0 for none */
	if (tx->ev_order[r->ev] > r->order + 1 || later_ns > r->sent_ns + window)
		conn_loss_mark(c, psn, MRC_LOSS_GAP, true, now_ns);
}

/* It had arrived after all: wait longer next time, and take back what the loss did. */
void
conn_loss_spurious(struct mrc_conn *c, struct mrc_rec *r)
{
	struct mrc_conn_tx *tx = &c->tx;

	tx->stats.spurious++;
	c->set->plane[c->set->ev[r->ev].plane].stats.spurious++;
	if (r->lost_ev == MRC_EV_NONE)
		return;
	if (tx->reo_steps < REO_STEPS_MAX)
		tx->reo_steps++;
	/* which transmission arrived is certain only if there was one before the blame */
	if (r->sends - (r->state == MRC_REC_FLIGHT) == 1)
		mrc_path_acquit(c->set, r->lost_ev);
	mrc_cc_spurious(c->cc, r->nominal);
	r->lost_ev = MRC_EV_NONE;
}

/*
 * The packet was not lost, it was trimmed, and its NACK came on a slower plane than the SACK that
 * showed it missing. Its EV is good; what is on its way again stays so.
 */
static void
trim_acquits(struct mrc_conn *c, uint64_t psn, unsigned ev)
{
	struct mrc_conn_tx *tx = &c->tx;
	struct mrc_rec *r = rec_of(c, psn);

	if (psn < tx->una || psn >= tx->psn_next || ev == MRC_EV_NONE || r->lost_ev != ev ||
		(r->state != MRC_REC_FLIGHT && r->state != MRC_REC_QUEUED))
		return;
	r->lost_ev = MRC_EV_NONE;
	c->set->ev[ev].lost--;
	mrc_path_acquit(c->set, ev);
}

enum mrc_drop
conn_loss_nack(struct mrc_conn *c, const struct mrc_view *v, uint64_t now_ns)
{
	const struct mrc_hdr_nack *h = &v->hdr.nack;
	struct mrc_conn_tx *tx = &c->tx;
	uint64_t psn = mrc_psn_extend(tx->una, h->psn);
	unsigned ev = mrc_path_find(c->set, h->entropy);
	const struct mrc_rec *r = &tx->rec[psn & tx->rec_mask];
	bool current;

	if (h->spdcid != (uint16_t)c->p.peer_qpn || h->dpdcid != (uint16_t)c->p.qpn)
		return MRC_DROP_PEER;
	if (h->reason == MRC_NACK_UNEXP_EVENT) {
		if (psn < tx->una || psn >= tx->psn_next)
			return MRC_DROP_STALE_FEEDBACK;
		conn_fail_wr(c, conn_wr_of(c, psn), MRC_WC_REM_OP_ERR, now_ns);
		return MRC_OK;
	}
	conn_heard(c, now_ns);
	if (h->reason == MRC_NACK_TRIMMED || h->reason == MRC_NACK_TRIMMED_LASTHOP)
		trim_acquits(c, psn, ev);
	if (h->reason == MRC_NACK_TRIMMED && ev != MRC_EV_NONE)
		mrc_path_skip(c->set, ev, now_ns);
	/* anything but the latest transmission of a packet in flight is path feedback alone */
	current = psn >= tx->una && psn < tx->psn_next && r->state == MRC_REC_FLIGHT &&
		  r->ev == ev && conn_stamp(c, r->sent_ns) == v->hdr.ts;
	if (!current)
		return MRC_DROP_STALE_FEEDBACK;
	if (h->reason == MRC_NACK_TRIMMED || h->reason == MRC_NACK_TRIMMED_LASTHOP) {
		/* a trimmed packet jumps queues: its RTT may lower the base, and says no more */
		mrc_cc_rtt(c->cc, now_ns - r->sent_ns);
		conn_loss_mark(c, psn, MRC_LOSS_TRIM, false, now_ns);
	} else {
		tx->hold_ns = now_ns + mrc_path_rtt_ns(c->set);
		conn_loss_mark(c, psn, MRC_LOSS_NACK, false, now_ns);
	}
	conn_cc_wake(c->ctx, c->cc);
	return MRC_OK;
}
