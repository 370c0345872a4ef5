/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NSCC, the network signal-based congestion control of the Ultra Ethernet specification 1.0 (3.6.12
 * to 3.6.17), the default of MRC: "uet-1.0-nscc". Called through the table of cc.c; state and
 * scales: cc_nscc.h.
 *
 * A SACK falls into one of four cases by its mark and its delay: no mark and a long delay grow the
 * window alike for all (fair), no mark and a short one in proportion to what is missing to the
 * target, a mark and a long one shrink it, a mark and a short one mean one bad path, which lib/path
 * leaves. Growth is collected and applied at most every adjust_bytes or adjust_period. Quick adapt
 * cuts the window to what really arrived when most of it was lost.
 */
#include <stddef.h>

#include "cc_nscc.h"

static void
nscc_init(struct mrc_cc *cc)
{
	struct nscc *s = nscc_of(cc);
	const struct mrc_cc_params *p = &cc->params;

	mrc_cc_nscc_gains_set(&s->g, p);
	s->qa_gate = p->qa_gate != 0 ? p->qa_gate : 3;
	cc->cwnd_bytes = p->initial_cwnd_bytes != 0 ? p->initial_cwnd_bytes : s->g.max_cwnd_bytes;
}

/* An RTT below the base RTT is the better base RTT, and the largest window shrinks with it. */
static void
nscc_on_rtt(struct mrc_cc *cc, uint64_t rtt_ns)
{
	struct nscc *s = nscc_of(cc);
	uint64_t floor_ns = cc_max(cc->params.base_rtt_min_ns, 1);

	if (rtt_ns >= s->g.base_rtt_ns || s->g.base_rtt_ns <= floor_ns)
		return;
	mrc_cc_nscc_gains_base_rtt(&s->g, &cc->params, cc_max(rtt_ns, floor_ns));
}

/* Exponential average over the last base RTT: a sample weighs as much of it as has passed since the
 * one before. */
static void
delay_average(struct nscc *s, uint64_t delay_ns, uint64_t now_ns)
{
	uint64_t elapsed_ns = cc_min(now_ns - s->avg_at_ns, s->g.base_rtt_ns);
	int64_t weight_q32 = (int64_t)((elapsed_ns * s->g.base_rtt_inv) >> 30);
	int64_t step_q16 = ((int64_t)delay_ns << NSCC_AVG_SHIFT) - s->avg_delay_q16;

	s->avg_delay_q16 += (int64_t)(((__int128)step_q16 * weight_q32) >> 32);
	s->avg_at_ns = now_ns;
}

/*
 * Once per base RTT and target: if less than max_cwnd >> qa_gate arrived in that time and something
 * says the network is the cause, the window becomes what arrived. The echo of the old window, still
 * in flight, is then disregarded. Returns true if the event is dealt with.
 */
static bool
quick_adapt(struct mrc_cc *cc, bool loss, bool ecn, uint64_t delay_ns, uint64_t now_ns)
{
	struct nscc *s = nscc_of(cc);
	bool handled = false;

	if (s->ignored_bytes < s->to_ignore_bytes && ecn) {
		handled = true;
	} else if (now_ns >= s->qa_end_ns) {
		if (s->qa_end_ns != 0 &&
			(s->qa_trigger || loss || delay_ns > s->g.qa_threshold_ns) &&
			s->achieved_bytes < s->g.max_cwnd_bytes >> s->qa_gate) {
			cc->cwnd_bytes = cc_max(s->achieved_bytes, cc->params.packet_bytes);
			s->to_ignore_bytes =
				cc->inflight_bytes > 0 ? (uint64_t)cc->inflight_bytes : 0;
			s->ignored_bytes = 0;
			s->qa_trigger = false;
			handled = true;
		}
		s->achieved_bytes = 0;
		s->qa_end_ns = now_ns + s->g.base_rtt_ns + s->g.target_delay_ns;
	}
	if (handled) {
		s->inc = 0;
		s->received_bytes = 0;
	}
	return handled;
}

static void
increase_fair(struct nscc *s, uint64_t new_bytes)
{
	s->inc = cc_add_sat(s->inc, cc_q32_mul(new_bytes, s->g.fi_q32));
}

/* An empty network for a whole window: grow fast, until the first delay. */
static bool
increase_fast(struct mrc_cc *cc, uint64_t new_bytes, uint64_t delay_ns)
{
	struct nscc *s = nscc_of(cc);

	if (delay_ns >= s->g.fast_delay_ns) {
		s->fi_count_bytes = 0;
		return false;
	}
	s->fi_count_bytes = cc_add_sat(s->fi_count_bytes, new_bytes);
	if (s->fi_count_bytes <= cc->cwnd_bytes && !s->fast)
		return false;
	cc->cwnd_bytes =
		cc_min(cc_add_sat(cc->cwnd_bytes, cc_q32_mul(new_bytes, s->g.fi_scale_q32)),
			s->g.max_cwnd_bytes);
	s->fast = true;
	return true;
}

static void
increase_proportional(struct mrc_cc *cc, uint64_t new_bytes, uint64_t delay_ns)
{
	struct nscc *s = nscc_of(cc);

	if (increase_fast(cc, new_bytes, delay_ns))
		return;
	s->fast = false;
	s->inc = cc_add_sat(
		s->inc, cc_q32_mul(new_bytes * (s->g.target_delay_ns - delay_ns), s->g.alpha_q32));
}

static void
decrease(struct mrc_cc *cc, uint64_t now_ns)
{
	struct nscc *s = nscc_of(cc);
	int64_t target_q16 = (int64_t)(s->g.target_delay_ns << NSCC_AVG_SHIFT);
	uint64_t excess_q32, factor_q32;

	s->fast = false;
	s->fi_count_bytes = 0;
	if (s->avg_delay_q16 <= target_q16 || now_ns - s->last_dec_ns <= s->g.base_rtt_ns)
		return;
	excess_q32 =
		cc_ratio_q32((uint64_t)(s->avg_delay_q16 - target_q16), (uint64_t)s->avg_delay_q16);
	factor_q32 = CC_Q32_ONE - cc_q32_mul(excess_q32, s->g.gamma_q32);
	factor_q32 = cc_max(factor_q32, s->g.max_md_q32);
	cc->cwnd_bytes = cc_max(cc_q32_mul(cc->cwnd_bytes, factor_q32), cc->params.packet_bytes);
	s->last_dec_ns = now_ns;
}

/* What was collected is applied; once per period eta comes on top, so that small flows catch up. */
static void
fulfil(struct mrc_cc *cc, uint64_t now_ns)
{
	struct nscc *s = nscc_of(cc);
	uint64_t cwnd = cc_add_sat(cc->cwnd_bytes, cc_div(s->inc, cc->cwnd_bytes));

	if (now_ns - s->last_adjust_ns >= s->g.adjust_period_ns) {
		cwnd = cc_add_sat(cwnd, s->g.eta_bytes);
		s->last_adjust_ns = now_ns;
	}
	cc->cwnd_bytes = cc_min(cwnd, s->g.max_cwnd_bytes);
	s->inc = 0;
	s->received_bytes = 0;
}

/* The four cases. */
static void
adjust(struct mrc_cc *cc, const struct mrc_cc_ack *a, uint64_t new_bytes, uint64_t delay_ns)
{
	struct nscc *s = nscc_of(cc);
	bool late = delay_ns >= s->g.target_delay_ns;

	if (a->ecn) {
		if (late)
			decrease(cc, a->now_ns);
	} else if (a->penalty == 0) {
		if (late)
			increase_fair(s, new_bytes);
		else
			increase_proportional(cc, new_bytes, delay_ns);
	}
}

static void
nscc_on_sack(struct mrc_cc *cc, const struct mrc_cc_ack *a)
{
	struct nscc *s = nscc_of(cc);
	uint64_t new_bytes = cc_min(a->new_bytes, CC_ACK_BYTES_MAX);
	uint64_t delay_ns;

	s->ignored_bytes += new_bytes;
	s->received_bytes += new_bytes;
	s->achieved_bytes += new_bytes;
	cc_penalty(cc, a, s->g.max_cwnd_bytes, &s->kept_cwnd_bytes);
	if (!a->rtt_valid)
		return;
	nscc_on_rtt(cc, a->rtt_ns);
	cc->cwnd_bytes = cc_min(cc->cwnd_bytes, s->g.max_cwnd_bytes);
	/* base_rtt_min may hold the base RTT above the sample. */
	delay_ns = a->rtt_ns > s->g.base_rtt_ns ? a->rtt_ns - s->g.base_rtt_ns : 0;
	delay_ns = cc_min(delay_ns, CC_DELAY_NS_MAX);
	delay_average(s, delay_ns, a->now_ns);
	if (quick_adapt(cc, false, a->ecn, delay_ns, a->now_ns))
		return;
	adjust(cc, a, new_bytes, delay_ns);
	if (a->now_ns - s->last_adjust_ns > s->g.adjust_period_ns ||
		s->received_bytes > s->g.adjust_bytes)
		fulfil(cc, a->now_ns);
}

/* The delay of a trimmed packet says nothing (it overtook the queue), the trim says "a full queue":
 * one base RTT. */
static void
nscc_on_trim(struct mrc_cc *cc, uint32_t size, uint64_t now_ns)
{
	struct nscc *s = nscc_of(cc);

	delay_average(s, cc->params.base_rtt_ns, now_ns);
	s->ignored_bytes += size;
	s->qa_trigger = true;
	if (!quick_adapt(cc, true, true, 0, now_ns))
		cc->cwnd_bytes = cc_less(cc->cwnd_bytes, size, cc->params.packet_bytes);
}

static void
nscc_on_loss(struct mrc_cc *cc, uint32_t size, uint64_t now_ns)
{
	nscc_of(cc)->ignored_bytes += size;
	cc->cwnd_bytes = cc_less(cc->cwnd_bytes, size, cc->params.packet_bytes);
}

static void
nscc_on_spurious(struct mrc_cc *cc, uint32_t size)
{
	cc->cwnd_bytes = cc_min(cc->cwnd_bytes + size, nscc_of(cc)->g.max_cwnd_bytes);
}

static void
nscc_on_rescale(struct mrc_cc *cc, const struct mrc_cc_params *old)
{
	struct nscc *s = nscc_of(cc);
	uint64_t learned_ns = s->g.base_rtt_ns;
	uint64_t old_max = s->g.max_cwnd_bytes;
	uint64_t packet = cc->params.packet_bytes;

	mrc_cc_nscc_gains_set(&s->g, &cc->params);
	/* Planes come and go without making the path longer. */
	if (cc->params.base_rtt_ns == old->base_rtt_ns)
		mrc_cc_nscc_gains_base_rtt(&s->g, &cc->params, learned_ns);
	cc->cwnd_bytes = cc_rescaled(cc->cwnd_bytes, old_max, s->g.max_cwnd_bytes, packet);
	if (s->kept_cwnd_bytes != 0)
		s->kept_cwnd_bytes =
			cc_rescaled(s->kept_cwnd_bytes, old_max, s->g.max_cwnd_bytes, packet);
	s->inc = 0;
}

const struct mrc_cc_ops mrc_cc_nscc = {
	.name = "uet-1.0-nscc",
	.check = mrc_cc_nscc_check,
	.init = nscc_init,
	.on_sack = nscc_on_sack,
	.on_trim = nscc_on_trim,
	.on_loss = nscc_on_loss,
	.on_spurious = nscc_on_spurious,
	.on_rtt = nscc_on_rtt,
	.on_rescale = nscc_on_rescale,
};
