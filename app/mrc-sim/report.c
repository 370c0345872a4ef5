/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What came out: JSON lines, one a flow and one for the run, or a few lines to read. Everything but
 * wall_s depends on seed and settings alone. Who calls it: main.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "sim_commit.h"

/* Sums over the whole run. */
struct totals {
	uint64_t packets, rtx, trim, gap, timeout, other, spurious, probes;
	uint64_t ev_bad, ev_recovered;
	uint64_t hops, trims, marks, drops;
	unsigned done, bad;
	double fct_min, fct_mean, fct_p50, fct_p99, fct_max; /* us */
	double slow_mean, slow_max, jain, bytes;
	double ev_out_max; /* RTTs from the first loss on the lossy EV to its leaving */
	unsigned ev_out_n;
};

static double
fct_us(const struct sim_flow *f)
{
	return (double)(f->done_ns - f->start_ns) / 1e3;
}

static double
fct0_us(const struct sim *s, const struct sim_flow *f)
{
	if (f->steps > 1)
		return sim_bound_ns(s) / 1e3;
	return sim_fct0_ns(s, f->bytes, f->src, f->dst) / 1e3;
}

static int
order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void
flow_totals(const struct sim *s, struct totals *t)
{
	for (unsigned i = 0; i < s->flows_n; i++) {
		const struct sim_flow *f = &s->flows[i];
		const struct mrc_conn_tx_stats *st = &f->conn_src->tx.stats;

		t->packets += st->packets;
		t->rtx += st->rtx;
		t->trim += st->trim;
		t->gap += st->gap;
		t->timeout += st->timeout;
		t->other += st->port + st->nack;
		t->spurious += st->spurious;
		t->probes += st->probes;
		t->bad += f->bad;
		if (f->ev_out_ns != 0) {
			double d = (double)(f->ev_out_ns - f->first_drop_ns) / s->base_rtt_ns;

			t->ev_out_n++;
			if (d > t->ev_out_max)
				t->ev_out_max = d;
		}
	}
	for (uint32_t h = 0; h < s->hosts_n; h++)
		for (unsigned k = 0; k < s->hosts[h].peers_n; k++) {
			t->ev_bad += s->hosts[h].peers[k].set->ev_bad;
			t->ev_recovered += s->hosts[h].peers[k].set->ev_recovered;
		}
}

static void
link_totals(const struct sim *s, struct totals *t)
{
	for (unsigned i = 0; i < mrc_fabric_links(s->fab); i++) {
		enum mrc_link_state state;
		struct mrc_link_stats st;
		char name[32];

		mrc_fabric_link_get(s->fab, i, name, &state, &st);
		t->hops += st.packets;
		t->trims += st.trims;
		t->marks += st.marks;
		t->drops += st.drops;
	}
	t->drops += s->ev_drops;
}

/* Of flows that completed; the nearest rank for percentiles. */
static void
fct_totals(const struct sim *s, struct totals *t)
{
	double *fct = calloc(s->flows_n + 1, sizeof(*fct)), sum = 0, rates = 0, squares = 0;

	for (unsigned i = 0; fct != NULL && i < s->flows_n; i++) {
		const struct sim_flow *f = &s->flows[i];
		double v = fct_us(f), slow;

		if (f->done_ns == 0 || f->failed != 0)
			continue;
		slow = v / fct0_us(s, f);
		fct[t->done++] = v;
		sum += v;
		rates += 1 / v;
		squares += 1 / v / v;
		t->bytes += (double)f->bytes * f->steps;
		t->slow_mean += slow;
		if (slow > t->slow_max)
			t->slow_max = slow;
	}
	if (t->done > 0) {
		qsort(fct, t->done, sizeof(*fct), order);
		t->fct_min = fct[0];
		t->fct_max = fct[t->done - 1];
		t->fct_mean = sum / t->done;
		t->fct_p50 = fct[(t->done + 1) / 2 - 1];
		t->fct_p99 = fct[(unsigned)ceil(0.99 * t->done) - 1];
		t->slow_mean /= t->done;
		t->jain = rates * rates / t->done / squares;
	}
	free(fct);
}

static struct totals
totals(const struct sim *s)
{
	struct totals t = {0};

	flow_totals(s, &t);
	link_totals(s, &t);
	fct_totals(s, &t);
	return t;
}

double
sim_run_goodput(const struct sim *s)
{
	struct totals t = {0};

	fct_totals(s, &t);
	return t.fct_max > 0 ? t.bytes * 8 / t.fct_max / 1e3 : 0;
}

static void
key(FILE *f, const char *name, double v)
{
	/* nothing to say is said so */
	if (v < 0)
		fprintf(f, ",\"%s\":null", name);
	else
		fprintf(f, ",\"%s\":%.4f", name, v);
}

static void
json_flow(const struct sim *s, unsigned i, FILE *f)
{
	const struct sim_flow *w = &s->flows[i];
	const struct mrc_conn_tx_stats *st = &w->conn_src->tx.stats;
	bool done = w->done_ns != 0 && w->failed == 0;

	fprintf(f, "{\"flow\":%u,\"src\":%u,\"dst\":%u,\"bytes\":%lu", i, w->src, w->dst,
		w->bytes * w->steps);
	key(f, "fct_us", done ? fct_us(w) : -1);
	key(f, "slowdown", done ? fct_us(w) / fct0_us(s, w) : -1);
	fprintf(f,
		",\"status\":%d,\"packets\":%lu,\"retransmissions\":%lu,\"trim\":%lu,\"gap\":%lu,",
		w->done_ns != 0 ? (int)w->failed : -1, st->packets, st->rtx, st->trim, st->gap);
	fprintf(f, "\"timeout\":%lu,\"spurious\":%lu", st->timeout, st->spurious);
	if (s->o->verify)
		fprintf(f, ",\"verified\":%s", done && !w->bad ? "true" : "false");
	fprintf(f, "}\n");
}

static void
json_special(const struct sim *s, const struct totals *t, FILE *f, double lossless)
{
	struct sim_goodput g = sim_goodput(s);

	for (unsigned i = 0; i < s->flows_n; i++) {
		const struct sim_flow *w = &s->flows[i];

		if (w->role != SIM_FLOW_VICTIM || w->done_ns == 0)
			continue;
		key(f, "victim_fct_us", fct_us(w));
		key(f, "victim_slowdown", fct_us(w) / fct0_us(s, w));
	}
	if (s->o->experiment == SIM_LOSS)
		key(f, "goodput_ratio_to_lossless",
			lossless > 0 ? sim_run_goodput(s) / lossless : -1);
	if (s->fault_ns != UINT64_MAX) {
		key(f, "goodput_before_gbps", g.before);
		key(f, "goodput_fault_gbps", g.fault);
		key(f, "goodput_after_gbps", g.after);
		key(f, "recovery_us", g.recovery_us);
	}
	key(f, "first_loss_us", g.first_loss_us);
	if (s->o->ev_loss.index != SIM_NONE) {
		key(f, "ev_out_rtt_max", t->ev_out_n > 0 ? t->ev_out_max : -1);
		fprintf(f, ",\"ev_out_flows\":%u", t->ev_out_n);
	}
}

static void
json(const struct sim *s, const struct totals *t, FILE *f, double lossless, double wall_s)
{
	double bound = sim_bound_ns(s) / 1e3;

	for (unsigned i = 0; i < s->flows_n; i++)
		json_flow(s, i, f);
	fprintf(f, "{\"experiment\":\"%s\",\"seed\":%.0f,\"commit\":\"%s\",\"settings\":",
		sim_opts_experiment(s->o), s->o->seed, SIM_COMMIT);
	sim_opts_settings(s->o, f);
	fprintf(f, ",\"flows\":%u,\"flows_done\":%u,\"base_rtt_us\":%.5f", s->flows_n, t->done,
		s->base_rtt_ns / 1e3);
	key(f, "fct_us_min", t->fct_min);
	key(f, "fct_us_mean", t->fct_mean);
	key(f, "fct_us_p50", t->fct_p50);
	key(f, "fct_us_p99", t->fct_p99);
	key(f, "fct_us_max", t->fct_max);
	key(f, "slowdown_mean", t->slow_mean);
	key(f, "slowdown_max", t->slow_max);
	key(f, "bound_us", bound);
	key(f, "bound_ratio", t->fct_max / bound);
	key(f, "jain", t->jain);
	key(f, "goodput_gbps", sim_run_goodput(s));
	json_special(s, t, f, lossless);
	fprintf(f, ",\"packets\":%lu,\"trims\":%lu,\"marks\":%lu,\"drops\":%lu", t->packets,
		t->trims, t->marks, t->drops);
	fprintf(f,
		",\"retransmissions\":{\"trim\":%lu,\"gap\":%lu,\"timeout\":%lu,\"other\":%lu,"
		"\"spurious\":%lu}",
		t->trim, t->gap, t->timeout, t->other, t->spurious);
	fprintf(f, ",\"reliability_probes\":%lu,\"ev_bad\":%lu,\"ev_recovered\":%lu", t->probes,
		t->ev_bad, t->ev_recovered);
	fprintf(f, ",\"packet_hops\":%lu,\"virtual_us\":%.3f,\"wall_s\":%.3f}\n", t->hops,
		(double)s->now_ns / 1e3, wall_s);
}

static void
text(const struct sim *s, const struct totals *t, FILE *f, double lossless, double wall_s)
{
	struct sim_goodput g = sim_goodput(s);
	double bound = sim_bound_ns(s) / 1e3;

	fprintf(f, "%s, seed %.0f, commit %s: %u of %u flows done in %.1f us\n",
		sim_opts_experiment(s->o), s->o->seed, SIM_COMMIT, t->done, s->flows_n,
		(double)s->now_ns / 1e3);
	fprintf(f, "  FCT           min %.3f  mean %.3f  p50 %.3f  p99 %.3f  max %.3f us\n",
		t->fct_min, t->fct_mean, t->fct_p50, t->fct_p99, t->fct_max);
	fprintf(f,
		"  slowdown      mean %.4f  max %.4f of a flow alone; last %.4f of %.3f us at "
		"best\n",
		t->slow_mean, t->slow_max, t->fct_max / bound, bound);
	fprintf(f, "  goodput       %.2f Gb/s, Jain %.4f\n", sim_run_goodput(s), t->jain);
	if (lossless > 0)
		fprintf(f, "  lossless      %.2f Gb/s, ratio %.4f\n", lossless,
			sim_run_goodput(s) / lossless);
	if (s->fault_ns != UINT64_MAX)
		fprintf(f,
			"  around fault  before %.1f  fault %.1f  after %.1f Gb/s; first loss %.1f "
			"us, recovery %.1f us (-1: no such window)\n",
			g.before, g.fault, g.after, g.first_loss_us, g.recovery_us);
	fprintf(f, "  packets       %lu, trims %lu, marks %lu, drops %lu\n", t->packets, t->trims,
		t->marks, t->drops);
	fprintf(f, "  sent again    trim %lu, gap %lu, timeout %lu, other %lu; spurious %lu\n",
		t->trim, t->gap, t->timeout, t->other, t->spurious);
	fprintf(f, "  EVs           bad %lu, recovered %lu\n", t->ev_bad, t->ev_recovered);
	fprintf(f, "  speed         %lu packet-hops in %.3f s: %.2f M/s\n", t->hops, wall_s,
		wall_s > 0 ? (double)t->hops / wall_s / 1e6 : 0);
	if (s->o->verify)
		fprintf(f, "  verified      %u flows, %u differ\n", t->done, t->bad);
	if (s->stalled)
		fprintf(f, "  STALLED       nothing left to happen, or the time limit\n");
}

void
sim_report(const struct sim *s, FILE *f, double lossless_gbps, double wall_s)
{
	struct totals t = totals(s);

	if (s->o->json)
		json(s, &t, f, lossless_gbps, wall_s);
	else
		text(s, &t, f, lossless_gbps, wall_s);
}
