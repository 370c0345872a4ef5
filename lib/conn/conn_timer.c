/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deadlines of a connection. One timer in the wheel stands for the earliest; it is moved only
 * to come earlier, and looks again when it fires, so that traffic costs no wheel operations.
 *  - RTO: the oldest transmission in flight is overdue, or the transport ACK of what has all
 *    arrived, or a way to the peer at all
 *  - TLP: nothing heard for two RTTs: a reliability probe, ever more slowly
 *  - hold: packets that the peer refused may go again
 *  - ACK: what the responder still owes the sender
 */
#include "conn_priv.h"

/*
 * The oldest transmission in flight, by the newest SACK missing while something sent later arrived:
 * one RTT and the reorder window after it was sent nothing can still bring it (RFC 8985, 6.2 step
 * 5). Where more is sent a SACK says so sooner.
 */
static uint64_t
reo_deadline(const struct mrc_conn *c)
{
	const struct mrc_conn_tx *tx = &c->tx;
	uint16_t i = tx->flight.first;
	const struct mrc_rec *r;
	uint64_t psn;

	if (tx->flight.n == 0)
		return UINT64_MAX;
	r = &tx->rec[i];
	psn = tx->una + ((i - tx->una) & tx->rec_mask);
	if (tx->rack_ns <= r->sent_ns)
		return UINT64_MAX;
	if (psn != tx->miss_una &&
		!(psn - tx->miss_base < 64 && tx->miss >> (psn - tx->miss_base) & 1))
		return UINT64_MAX;
	return r->sent_ns + mrc_path_rtt_ns(c->set) +
	       mrc_path_reorder_ns(c->set) * (1 + tx->reo_steps);
}

static void
reo_fire(struct mrc_conn *c, uint64_t now_ns)
{
	struct mrc_conn_tx *tx = &c->tx;

	while (now_ns >= reo_deadline(c)) {
		uint16_t i = tx->flight.first;

		conn_loss_mark(
			c, tx->una + ((i - tx->una) & tx->rec_mask), MRC_LOSS_GAP, true, now_ns);
	}
	conn_cc_wake(c->ctx, c->cc);
}

/* Something waits and no plane leads to the peer: the retry limit holds for that as well. */
static bool
conn_stuck(const struct mrc_conn *c)
{
	const struct mrc_conn_tx *tx = &c->tx;

	return !mrc_path_reachable(c->set) &&
	       (tx->queue.n > 0 ||
		       tx->msg_next != atomic_load_explicit(&tx->sq_tail, memory_order_relaxed));
}

/* Never before a probe had its chance: a timeout set below the RTT would send everything again and
 * again. */
static uint64_t
rto_interval(const struct mrc_conn *c)
{
	uint64_t least = conn_tlp_wait_ns(c);

	return c->tx.rto_ns > least ? c->tx.rto_ns : least;
}

static uint64_t
rto_deadline(const struct mrc_conn *c)
{
	const struct mrc_conn_tx *tx = &c->tx;

	if (tx->rto_ns == 0)
		return UINT64_MAX;
	if (tx->flight.n > 0)
		return tx->rec[tx->flight.first].sent_ns + rto_interval(c);
	if (!conn_awaits_ack(c) && !conn_stuck(c))
		return UINT64_MAX;
	return (tx->rto_fires > 0 ? tx->rto_fire_ns : tx->moved_ns) + rto_interval(c);
}

/* A probe asks for what the peer has, and for the transport ACK again. */
static bool
tlp_wanted(const struct mrc_conn *c)
{
	return c->tx.tlp_ns != 0 && (c->tx.flight.n > 0 || conn_awaits_ack(c));
}

static uint64_t
earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
deadline(const struct mrc_conn *c)
{
	const struct mrc_conn_tx *tx = &c->tx;
	uint64_t t = rto_deadline(c);

	if (c->state == MRC_CONN_ERROR)
		return UINT64_MAX;
	t = earlier(t, reo_deadline(c));
	if (tlp_wanted(c))
		t = earlier(t, tx->tlp_ns);
	if (tx->queue.n > 0 && tx->hold_ns != 0)
		t = earlier(t, tx->hold_ns);
	if (c->rx.ack_ns != 0)
		t = earlier(t, c->rx.ack_ns);
	return t;
}

void
conn_timer_arm(struct mrc_conn *c, uint64_t now_ns)
{
	uint64_t t = deadline(c);

	if (t != UINT64_MAX && (!mrc_timer_armed(&c->timer) || t < c->timer.deadline_ns))
		mrc_wheel_add(&c->ctx->wheel, &c->timer, t);
}

void
conn_heard(struct mrc_conn *c, uint64_t now_ns)
{
	struct mrc_conn_tx *tx = &c->tx;

	tx->heard_ns = now_ns;
	tx->tlp_wait_ns = conn_tlp_wait_ns(c);
	tx->tlp_ns = now_ns + tx->tlp_wait_ns;
}

/*
 * The oldest transmissions are overdue. A path is blamed only if something sent later has arrived;
 * when nothing was heard at all, nobody is. The count of firings goes up once an interval, whatever
 * the number of packets.
 */
static void
rto_fire(struct mrc_conn *c, uint64_t now_ns)
{
	struct mrc_conn_tx *tx = &c->tx;
	uint64_t interval = rto_interval(c);

	if (tx->rto_fires == 0 || now_ns - tx->rto_fire_ns >= interval) {
		tx->rto_fire_ns = now_ns;
		tx->rto_fires++;
		tx->stats.rto_fires++;
		if (c->p.exp_cnt != MRC_EXP_CNT_MAX &&
			tx->rto_fires > c->p.linear_cnt + c->p.exp_cnt) {
			mrc_conn_fail(c, MRC_WC_RETRY_EXC_ERR, now_ns);
			return;
		}
		if (tx->rto_fires > c->p.linear_cnt && tx->rto_ns < UINT64_C(1024)
									    << MRC_TIMEOUT_EXP_MAX)
			tx->rto_ns *= 2;
		if (tx->heard_ns + interval < now_ns) {
			c->set->plane_probes = c->set->up;
			c->set->dirty = true;
		}
	}
	while (tx->flight.n > 0) {
		uint16_t i = tx->flight.first;
		const struct mrc_rec *r = &tx->rec[i];

		if (r->sent_ns + interval > now_ns)
			break;
		conn_loss_mark(c, tx->una + ((i - tx->una) & tx->rec_mask), MRC_LOSS_TIMEOUT,
			tx->rack_ns > r->sent_ns, now_ns);
	}
	conn_cc_wake(c->ctx, c->cc);
}

static void
tlp_fire(struct mrc_conn *c, uint64_t now_ns)
{
	struct mrc_conn_tx *tx = &c->tx;
	struct mrc_ctl ctl = {.kind = MRC_CTL_PROBE, .probe_id = ++tx->probe_id};

	conn_rsp_push(c, &ctl);
	tx->tlp_wait_ns *= 2;
	tx->tlp_ns = now_ns + tx->tlp_wait_ns;
}

/* What we held back is no part of the RTT: the reflected stamp moves by the time of holding. */
static void
ack_fire(struct mrc_conn *c, uint64_t now_ns)
{
	struct mrc_conn_rx *rx = &c->rx;
	struct mrc_ctl about = rx->last_seen;
	uint64_t held_ns = now_ns - rx->last_seen_ns;

	rx->ack_ns = 0;
	about.ts += (uint16_t)(about.tsr ? held_ns / 1000 : held_ns >> 7);
	if (rx->sack_packets > 0 || rx->unreported != UINT64_MAX)
		conn_rsp_sack(c, &about, MRC_SACK_M_NONE);
	if (rx->msgs_unacked > 0)
		conn_rsp_ack(c);
}

void
mrc_conn_timer(struct mrc_conn *c, uint64_t now_ns)
{
	struct mrc_conn_tx *tx = &c->tx;

	if (c->state == MRC_CONN_ERROR)
		return;
	if (c->rx.ack_ns != 0 && now_ns >= c->rx.ack_ns)
		ack_fire(c, now_ns);
	if (tx->queue.n > 0 && tx->hold_ns != 0 && now_ns >= tx->hold_ns) {
		tx->hold_ns = 0;
		conn_ready(c);
	}
	if (now_ns >= reo_deadline(c))
		reo_fire(c, now_ns);
	if (now_ns >= rto_deadline(c))
		rto_fire(c, now_ns);
	if (c->state != MRC_CONN_ERROR && tlp_wanted(c) && now_ns >= tx->tlp_ns)
		tlp_fire(c, now_ns);
	conn_timer_arm(c, now_ns);
}
