/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goodput around a fault: new payload bytes placed at all receivers, sampled eight times a base
 * RTT. before   from two RTTs after the start to the fault fault    from three RTTs after the first
 * loss to the return (or the first flow's end) after    the last ten RTTs before the first flow's
 * end, if they lie behind the return Who calls it: loop.c (samples), report.c.
 */
#include <stdlib.h>

#include "sim.h"

static uint64_t
placed(const struct sim *s)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < s->flows_n; i++)
		sum += s->flows[i].conn_dst->rx.stats.bytes;
	return sum;
}

void
sim_sample_take(struct sim *s)
{
	s->sample_ns = s->now_ns + s->sample_gap_ns;
	if (s->samples_n == s->samples_max) {
		unsigned max = s->samples_max == 0 ? 1024 : 2 * s->samples_max;
		struct sim_sample *more = realloc(s->samples, max * sizeof(*more));

		if (more == NULL) {
			s->sample_gap_ns = 0; /* what there is must do */
			return;
		}
		s->samples = more;
		s->samples_max = max;
	}
	s->samples[s->samples_n++] = (struct sim_sample){s->now_ns, placed(s)};
}

/* @return index of the first sample at or after t */
static unsigned
sample_at(const struct sim *s, double t)
{
	unsigned i = 0;

	while (i + 1 < s->samples_n && (double)s->samples[i].t_ns < t)
		i++;
	return i;
}

/* @return Gb/s between two times; < 0: not even two samples lie there */
static double
rate(const struct sim *s, double from, double to)
{
	unsigned a, b;

	if (s->samples_n == 0 || from >= to)
		return -1;
	a = sample_at(s, from);
	b = sample_at(s, to);
	if (s->samples[b].t_ns <= s->samples[a].t_ns)
		return -1;
	return (double)(s->samples[b].placed_bytes - s->samples[a].placed_bytes) * 8 /
	       (double)(s->samples[b].t_ns - s->samples[a].t_ns);
}

/*
 * How long after the first loss did an RTT last bring less than 85 % of what there was? Up to the
 * return or the first flow's end, since either changes what can be had.
 */
static double
recovery_us(const struct sim *s, double before, double until)
{
	double rtt = s->base_rtt_ns, loss = (double)s->first_loss_ns, end = loss;

	for (unsigned i = sample_at(s, loss + rtt); i < s->samples_n; i++) {
		double t = (double)s->samples[i].t_ns;

		if (t > until)
			break;
		if (rate(s, t - rtt, t) < 0.85 * before)
			end = t;
	}
	return end > until - rtt / 4 ? -1 : (end - loss) / 1e3;
}

struct sim_goodput
sim_goodput(const struct sim *s)
{
	struct sim_goodput g = {-1, -1, -1, -1, -1};
	double rtt = s->base_rtt_ns, end = (double)s->first_done_ns, heal = end;

	if (s->first_loss_ns != UINT64_MAX)
		g.first_loss_us = (double)s->first_loss_ns / 1e3;
	if (s->fault_ns == UINT64_MAX || s->first_done_ns == UINT64_MAX)
		return g;
	g.before = rate(s, 2 * rtt, (double)s->fault_ns);
	if (s->first_loss_ns == UINT64_MAX)
		return g;
	if (s->heal_ns < s->first_done_ns)
		heal = (double)s->heal_ns;
	g.fault = rate(s, (double)s->first_loss_ns + 3 * rtt, heal);
	if (heal < end && end - 10 * rtt > heal)
		g.after = rate(s, end - 10 * rtt, end);
	g.recovery_us = recovery_us(s, g.before, heal);
	return g;
}
