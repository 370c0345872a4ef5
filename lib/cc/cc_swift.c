/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swift: Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
 * Datacenter", SIGCOMM 2020, Algorithm 1 and section 3.5 (flow scaling). Called through the table
 * of cc.c. It reads the delay alone; marks are left to lib/path.
 *
 * target = base RTT + target delay + flow scaling, the last one growing as 1/sqrt(window in
 * packets): N flows with small windows make a queue that swings with sqrt(N). The base RTT covers
 * the longest path, so there is no term per hop. Windows below one packet would need pacing, which
 * MRC has not: one packet is the least. The paper adds ai / cwnd per packet acknowledged; here
 * acknowledged bytes are counted and ai packets added per window of them: the same growth per RTT,
 * no division.
 */
#include <assert.h>
#include <stddef.h>

#include "cc_priv.h"

struct swift {
	uint64_t base_target_ns;
	uint64_t max_cwnd_bytes;
	uint64_t ai_bytes;
	uint64_t beta_q32;
	uint64_t max_md_q32;
	/* Flow scaling: fs_gain / sqrt(window) - fs_offset, within 0 .. fs_range */
	uint64_t fs_gain; /* ns times sqrt(bytes), Q8 */
	uint64_t fs_offset_ns;
	uint64_t fs_range_ns;
	/* Moving */
	uint64_t target_ns;
	uint64_t credit_bytes; /* acknowledged under the target since the last growth */
	uint64_t rtt_ns;       /* the latest sample */
	uint64_t last_dec_ns;  /* 0: never */
	uint64_t kept_cwnd_bytes;
	uint64_t before_loss_bytes; /* window that the last loss cut; 0: none */
};

static_assert(sizeof(struct swift) <= MRC_CC_PRIV_BYTES, "Swift outgrew struct mrc_cc's priv");

static struct swift *
swift_of(struct mrc_cc *cc)
{
	return (struct swift *)cc->priv;
}

static double
given(double value, double by_default)
{
	return value == 0 ? by_default : value;
}

/* Control path only, and not worth a dependency on libm. x up to 1e6. */
static double
root(double x)
{
	return cc_isqrt((uint64_t)(x * (UINT64_C(1) << 40))) / (double)(1 << 20);
}

static const char *
swift_check(const struct mrc_cc_params *p)
{
	const char *wrong = mrc_cc_params_check(p);
	double low = given(p->fs_min_packets, 0.1), high = given(p->fs_max_packets, 100);

	/* Comparisons are written so that NaN fails them. */
	if (wrong != NULL)
		return wrong;
	if (!(p->ai_packets >= 0 && p->ai_packets <= 1000))
		return "ai_packets: above 0 to 1000";
	if (!(low >= 0.001 && low < high && high <= 1e6))
		return "fs_min_packets, fs_max_packets: 0.001 to 1000000, the first below the "
		       "second";
	if (p->fs_range_ns > 100 * CC_TIME_NS_MAX)
		return "fs_range_ns: 0 to 100000000000";
	return NULL;
}

/* 1/sqrt falls steeply at small windows and is nil at fs_max_packets. */
static void
target_update(struct mrc_cc *cc)
{
	struct swift *s = swift_of(cc);
	/* Both in Q8 after the root: the quotient is plain ns. */
	uint64_t fs_ns = cc_div(s->fs_gain, cc_isqrt(cc->cwnd_bytes << 16));

	fs_ns = fs_ns > s->fs_offset_ns ? fs_ns - s->fs_offset_ns : 0;
	s->target_ns = s->base_target_ns + cc_min(fs_ns, s->fs_range_ns);
}

static void
window_set(struct mrc_cc *cc, uint64_t cwnd_bytes)
{
	cwnd_bytes = cc_min(cwnd_bytes, swift_of(cc)->max_cwnd_bytes);
	cwnd_bytes = cc_max(cwnd_bytes, cc->params.packet_bytes);
	if (cwnd_bytes == cc->cwnd_bytes)
		return;
	cc->cwnd_bytes = cwnd_bytes;
	target_update(cc);
}

/* The only floating point of the file. */
static void
gains_set(struct swift *s, const struct mrc_cc_params *p)
{
	double low = 1 / root(given(p->fs_min_packets, 0.1));
	double high = 1 / root(given(p->fs_max_packets, 100));
	double gain;

	s->base_target_ns = p->base_rtt_ns + mrc_cc_params_target(p);
	s->max_cwnd_bytes = mrc_cc_params_max_cwnd(p, mrc_cc_params_bdp(p));
	s->ai_bytes = cc_max((uint64_t)(given(p->ai_packets, 1) * p->packet_bytes), 1);
	s->beta_q32 = cc_q32(mrc_cc_params_gamma(p));
	s->max_md_q32 = cc_q32(mrc_cc_params_max_md(p));
	s->fs_range_ns = p->fs_range_ns != 0 ? p->fs_range_ns : 5 * p->base_rtt_ns;
	gain = (double)s->fs_range_ns / (low - high);
	s->fs_gain = (uint64_t)(gain * root(p->packet_bytes) * 256);
	s->fs_offset_ns = (uint64_t)(gain * high);
}

static void
swift_init(struct mrc_cc *cc)
{
	struct swift *s = swift_of(cc);
	const struct mrc_cc_params *p = &cc->params;

	gains_set(s, p);
	s->rtt_ns = p->base_rtt_ns;
	cc->cwnd_bytes = p->initial_cwnd_bytes != 0 ? p->initial_cwnd_bytes : s->max_cwnd_bytes;
	target_update(cc);
}

static bool
may_decrease(const struct swift *s, uint64_t now_ns)
{
	return s->last_dec_ns == 0 || now_ns - s->last_dec_ns >= s->rtt_ns;
}

static void
decrease(struct mrc_cc *cc, uint64_t factor_q32, uint64_t now_ns)
{
	struct swift *s = swift_of(cc);

	window_set(cc, cc_q32_mul(cc->cwnd_bytes, cc_max(factor_q32, s->max_md_q32)));
	s->last_dec_ns = now_ns;
	s->credit_bytes = 0;
}

static void
increase(struct mrc_cc *cc, uint64_t new_bytes)
{
	struct swift *s = swift_of(cc);

	s->credit_bytes += new_bytes;
	if (s->credit_bytes < cc->cwnd_bytes)
		return;
	/* A report of several windows at once is late news: it counts as one. */
	s->credit_bytes = cc_min(s->credit_bytes - cc->cwnd_bytes, cc->cwnd_bytes);
	window_set(cc, cc->cwnd_bytes + s->ai_bytes);
}

static void
swift_on_sack(struct mrc_cc *cc, const struct mrc_cc_ack *a)
{
	struct swift *s = swift_of(cc);
	uint64_t before_bytes = cc->cwnd_bytes;
	uint64_t rtt_ns;

	cc_penalty(cc, a, s->max_cwnd_bytes, &s->kept_cwnd_bytes);
	if (cc->cwnd_bytes != before_bytes)
		target_update(cc);
	if (!a->rtt_valid)
		return;
	rtt_ns = cc_max(cc_min(a->rtt_ns, CC_DELAY_NS_MAX), 1);
	s->rtt_ns = rtt_ns;
	if (rtt_ns < s->target_ns) {
		if (a->penalty == 0)
			increase(cc, cc_min(a->new_bytes, CC_ACK_BYTES_MAX));
	} else if (may_decrease(s, a->now_ns)) {
		s->before_loss_bytes = 0;
		decrease(cc,
			CC_Q32_ONE - cc_q32_mul(cc_ratio_q32(rtt_ns - s->target_ns, rtt_ns),
					     s->beta_q32),
			a->now_ns);
	}
}

/* Trim, gap or timeout: the strongest decrease, but no second one within an RTT. */
static void
swift_on_loss(struct mrc_cc *cc, uint32_t size, uint64_t now_ns)
{
	struct swift *s = swift_of(cc);

	if (!may_decrease(s, now_ns))
		return;
	s->before_loss_bytes = cc->cwnd_bytes;
	decrease(cc, s->max_md_q32, now_ns);
}

static void
swift_on_spurious(struct mrc_cc *cc, uint32_t size)
{
	struct swift *s = swift_of(cc);

	if (s->before_loss_bytes > cc->cwnd_bytes)
		window_set(cc, s->before_loss_bytes);
	s->before_loss_bytes = 0;
}

/* The target is absolute: an RTT below the base moves nothing. */
static void
swift_on_rtt(struct mrc_cc *cc, uint64_t rtt_ns)
{
}

static void
swift_on_rescale(struct mrc_cc *cc, const struct mrc_cc_params *old)
{
	struct swift *s = swift_of(cc);
	uint64_t old_max = s->max_cwnd_bytes;
	uint64_t packet = cc->params.packet_bytes;

	gains_set(s, &cc->params);
	cc->cwnd_bytes = cc_rescaled(cc->cwnd_bytes, old_max, s->max_cwnd_bytes, packet);
	if (s->kept_cwnd_bytes != 0)
		s->kept_cwnd_bytes =
			cc_rescaled(s->kept_cwnd_bytes, old_max, s->max_cwnd_bytes, packet);
	s->before_loss_bytes = 0;
	target_update(cc);
}

const struct mrc_cc_ops mrc_cc_swift = {
	.name = "swift",
	.check = swift_check,
	.init = swift_init,
	.on_sack = swift_on_sack,
	.on_trim = swift_on_loss,
	.on_loss = swift_on_loss,
	.on_spurious = swift_on_spurious,
	.on_rtt = swift_on_rtt,
	.on_rescale = swift_on_rescale,
};
