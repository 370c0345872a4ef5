/* SPDX-License-Identifier: BSD-3-Clause */
/* mrc-sim: options in, one run (with random loss two), a report out. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "chaos.h"
#include "sim.h"
#include "sim_commit.h"

static double
wall_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The same run without loss. @return its goodput, < 0 if it cannot be had */
static double
lossless(const struct sim_opts *o, char *err, unsigned err_size)
{
	struct sim_opts clean = *o;
	struct sim *s;
	double g;

	clean.loss = 0;
	clean.trace[0] = '\0';
	if (sim_create(&clean, &s, err, err_size) < 0)
		return -1;
	g = sim_run(s) ? sim_run_goodput(s) : -1;
	sim_destroy(s);
	return g;
}

/* Who stands still, and on what: the first few. */
static void
stalled(const struct sim *s)
{
	unsigned shown = 0;

	fprintf(stderr, "mrc-sim: %u of %u flows did not end by %.1f us\n",
		s->flows_n - s->flows_done, s->flows_n, (double)s->now_ns / 1e3);
	for (unsigned i = 0; i < s->flows_n && shown < 4; i++) {
		const struct sim_flow *f = &s->flows[i];
		const struct mrc_conn_tx *tx = &f->conn_src->tx;

		if (f->done_ns != 0)
			continue;
		shown++;
		fprintf(stderr,
			"  flow %u: host %u to %u: %lu of %lu PSNs acknowledged, %u in flight, %u "
			"queued, inflight %ld of %lu bytes, %lu timeouts, %s\n",
			i, f->src, f->dst, tx->una - (MRC_PSN_BASE + f->conn_src->p.psn),
			tx->psn_next - (MRC_PSN_BASE + f->conn_src->p.psn), tx->flight.n,
			tx->queue.n, f->conn_src->cc->inflight_bytes, f->conn_src->cc->cwnd_bytes,
			tx->stats.rto_fires,
			f->conn_src->pprev == NULL			? "on no list"
			: f->conn_src->list == &f->conn_src->ctx->ready ? "ready"
									: "waits for the window");
	}
}

static int
run(const struct sim_opts *o)
{
	double clean = -1, start;
	char err[512];
	struct sim *s;
	bool ok;

	if (o->experiment == SIM_LOSS)
		clean = lossless(o, err, sizeof(err));
	if (sim_create(o, &s, err, sizeof(err)) < 0) {
		fprintf(stderr, "mrc-sim: %s\n", err);
		return 2;
	}
	start = wall_s();
	ok = sim_run(s);
	sim_report(s, stdout, clean, wall_s() - start);
	if (s->stalled)
		stalled(s);
	if (mrc_fabric_drops(s->fab)->n[MRC_DROP_FAB_POOL] > 0)
		fprintf(stderr,
			"mrc-sim: more frames than there is memory for: figures are wrong\n");
	sim_destroy(s);
	return ok ? 0 : 1;
}

int
main(int argc, char **argv)
{
	static struct sim_opts o;
	enum sim_opts_mode mode;
	char err[768];
	int rc;

	if (chaos_wanted(argc, argv))
		return chaos_main(argc, argv);
	if (sim_opts_parse(&o, argc, argv, &mode, err, sizeof(err)) < 0) {
		fprintf(stderr, "mrc-sim: %s\n", err);
		return 2;
	}
	if (mode == SIM_HELP) {
		sim_opts_help(stdout);
		return 0;
	}
	if (mode == SIM_VERSION) {
		printf("mrc-sim %s, commit %s\n", MRC_VERSION, SIM_COMMIT);
		return 0;
	}
	rc = sim_eal_start(sim_megabytes(&o));
	if (rc < 0) {
		fprintf(stderr, "mrc-sim: EAL does not start: %s\n", strerror(-rc));
		return 1;
	}
	rc = run(&o);
	sim_eal_stop();
	if (fflush(stdout) != 0) {
		fprintf(stderr, "mrc-sim: output: %s\n", strerror(errno));
		return 1;
	}
	return rc;
}
