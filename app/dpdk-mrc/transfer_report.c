/* SPDX-License-Identifier: BSD-3-Clause */
/* What a person sees of a transfer: progress while it runs, a table at its end. */
#include <string.h>

#include "clock.h"
#include "transfer.h"

#define PROGRESS_TTY_NS 200000000
#define PROGRESS_PLAIN_NS 1000000000
#define BAR_CELLS 20

void
transfer_sha_text(const uint8_t sha[TRANSFER_SHA_BYTES], char text[2 * TRANSFER_SHA_BYTES + 1])
{
	for (unsigned i = 0; i < TRANSFER_SHA_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", sha[i]);
}

static double
gbps(uint64_t bytes, uint64_t ns)
{
	return ns == 0 ? 0 : (double)bytes * 8 / (double)ns;
}

double
transfer_goodput(const struct transfer *t, enum transfer_moment a, enum transfer_moment b)
{
	const struct transfer_mark *x = &t->mark[a], *y = &t->mark[b];

	if (!x->set || !y->set || y->ns <= x->ns)
		return -1;
	return gbps(y->placed - x->placed, y->ns - x->ns);
}

double
transfer_goodput_wall(const struct transfer *t)
{
	const struct transfer_mark *a = &t->mark[TRANSFER_BEGIN], *b = &t->mark[TRANSFER_END];

	return gbps(b->placed - a->placed, b->wall_ns - a->wall_ns);
}

struct ev_counts {
	unsigned good, skip, bad;
};

static struct ev_counts
evs_count(const struct mrc_path_set *set, unsigned plane)
{
	struct ev_counts n = {0, 0, 0};

	for (unsigned i = 0; i < set->evs_n; i++) {
		if (set->ev[i].plane != plane)
			continue;
		if (set->ev[i].state == MRC_EV_GOOD)
			n.good++;
		else if (set->ev[i].state == MRC_EV_SKIP)
			n.skip++;
		else
			n.bad++;
	}
	return n;
}

void
transfer_intro(const struct transfer *t, FILE *out)
{
	unsigned regions = t->passes > 1 ? TRANSFER_REGIONS : 1, huge = 0;

	for (unsigned i = 0; i < regions; i++)
		huge += t->region[i].huge;
	fprintf(out, "%s: %.1f MB from %s to %s, %lu time%s, %.1f MB in all, %u planes, %u EVs\n",
		t->job.file, (double)t->size / 1e6, t->job.from, t->job.to,
		(unsigned long)t->passes, t->passes == 1 ? "" : "s", (double)t->total / 1e6,
		t->d->cfg->planes, t->link.conn_a->set->evs_n);
	if (t->d->huge)
		fprintf(out, "hugepages: frame pool %s, receive regions %u of %u\n",
			daemon_pool_huge(t->d) ? "yes" : "no", huge, regions);
	fflush(out);
}

void
transfer_progress(struct transfer *t, FILE *out)
{
	const struct mrc_path_set *set = t->link.conn_a->set;
	uint64_t now = clock_ns();
	struct transfer_mark m;
	double share;
	unsigned cells, bad = 0;

	if (now - t->progress_ns < (t->tty ? PROGRESS_TTY_NS : PROGRESS_PLAIN_NS))
		return;
	t->progress_ns = now;
	if (t->mark[TRANSFER_END].set) {
		/* said once: the rest is SHA-256 and the disk */
		if (!t->checking)
			fprintf(out, "%sall placed, checking%s", t->tty ? "\r" : "",
				t->tty ? " ...\033[K" : "\n");
		t->checking = true;
		fflush(out);
		return;
	}
	transfer_mark_take(t, &m);
	if (!t->shown.set || m.ns <= t->shown.ns) {
		t->shown = m;
		return;
	}
	share = (double)m.placed / (double)t->total;
	cells = share > 1 ? BAR_CELLS : (unsigned)(share * BAR_CELLS);
	if (t->tty)
		fprintf(out, "\r[%.*s%.*s] ", (int)cells, "####################",
			(int)(BAR_CELLS - cells), "....................");
	fprintf(out, "%3.0f %%  %5.2f Gb/s  planes", share * 100,
		gbps(m.placed - t->shown.placed, m.ns - t->shown.ns));
	for (unsigned pl = 0; pl < t->d->cfg->planes; pl++) {
		fprintf(out, " %5.2f", gbps(m.sent[pl] - t->shown.sent[pl], m.ns - t->shown.ns));
		bad += set->plane[pl].bad;
	}
	fprintf(out, "  EVs bad %3u  retransmitted %lu", bad,
		(unsigned long)t->link.conn_a->tx.stats.rtx);
	fputs(t->tty ? "\033[K" : "\n", out);
	fflush(out);
	t->shown = m;
}

static void
planes_table(const struct transfer *t, FILE *out)
{
	const struct mrc_path_set *set = t->link.conn_a->set;
	const struct transfer_mark *a = &t->mark[TRANSFER_UP_SETTLED], *b = &t->mark[TRANSFER_END];
	uint64_t all = 0;
	bool after = a->set && b->set && b->ns > a->ns;

	for (unsigned pl = 0; after && pl < set->planes; pl++)
		all += b->sent[pl] - a->sent[pl];
	fprintf(out, "\n%5s %10s %13s %8s %14s %9s %5s %5s%s\n", "plane", "packets", "bytes",
		"trims", "retransmitted", "EVs good", "skip", "bad", after ? "  share after" : "");
	for (unsigned pl = 0; pl < set->planes; pl++) {
		const struct mrc_path_plane_stats *s = &set->plane[pl].stats;
		struct ev_counts n = evs_count(set, pl);

		fprintf(out, "%5u %10lu %13lu %8lu %14lu %9u %5u %5u", pl + 1,
			(unsigned long)s->sent_packets, (unsigned long)s->sent_bytes,
			(unsigned long)s->trimmed,
			(unsigned long)(s->trimmed + s->gap + s->timeout), n.good, n.skip, n.bad);
		if (after && all > 0)
			fprintf(out, "  %9.1f %%",
				(double)(b->sent[pl] - a->sent[pl]) * 100 / (double)all);
		fputc('\n', out);
	}
}

static void
goodput_line(const struct transfer *t, FILE *out, const char *what, enum transfer_moment a,
	enum transfer_moment b)
{
	double g = transfer_goodput(t, a, b);

	if (g >= 0)
		fprintf(out, "  %-28s %6.3f Gb/s\n", what, g);
}

/* The process did not run: such time is the machine's, not the network's. */
static void
stopped_line(const struct transfer *t, FILE *out)
{
	const struct transfer_mark *a = &t->mark[TRANSFER_BEGIN], *b = &t->mark[TRANSFER_END];
	uint64_t wall = b->wall_ns - a->wall_ns, net = b->ns - a->ns;

	if (a->set && b->set && wall > net + 1000000)
		fprintf(out,
			"the worker was kept from running for %.0f ms of %.2f s; goodput by phase "
			"leaves that out\n",
			(double)(wall - net) / 1e6, (double)wall / 1e9);
}

void
transfer_report(struct transfer *t, FILE *out)
{
	const struct mrc_conn_tx_stats *s = &t->link.conn_a->tx.stats;
	const struct transfer_mark *down = &t->mark[TRANSFER_DOWN];
	bool recovers = t->mark[TRANSFER_UP].set;
	double before, during;

	if (t->tty)
		fputs("\r\033[K", out);
	planes_table(t, out);
	fprintf(out,
		"\nretransmissions: %lu sent (%lu trims, %lu gaps, %lu timeouts; %lu not needed "
		"after all)\n",
		(unsigned long)s->rtx, (unsigned long)s->trim, (unsigned long)s->gap,
		(unsigned long)s->timeout, (unsigned long)s->spurious);
	fprintf(out, "EVs: %u, condemned %lu times, back %lu times\n", t->link.conn_a->set->evs_n,
		(unsigned long)(t->link.conn_a->set->ev_bad - t->ev_bad_before),
		(unsigned long)(t->link.conn_a->set->ev_recovered - t->ev_back_before));
	stopped_line(t, out);
	if (down->set && t->rtx_last_ns > down->ns)
		fprintf(out, "last retransmission %.3f ms after the fault\n",
			(double)(t->rtx_last_ns - down->ns) / 1e6);
	fprintf(out, "goodput%s\n",
		down->set ? ", without the first 200 ms after each change" : "");
	if (!down->set) {
		goodput_line(t, out, "whole transfer", TRANSFER_BEGIN, TRANSFER_END);
		return;
	}
	goodput_line(t, out, "before the fault", TRANSFER_BEGIN_SETTLED, TRANSFER_DOWN);
	goodput_line(t, out, "during the fault", TRANSFER_DOWN_SETTLED,
		recovers ? TRANSFER_UP : TRANSFER_END);
	goodput_line(t, out, "after the fault", TRANSFER_UP_SETTLED, TRANSFER_END);
	before = transfer_goodput(t, TRANSFER_BEGIN_SETTLED, TRANSFER_DOWN);
	during = transfer_goodput(t, TRANSFER_DOWN_SETTLED, recovers ? TRANSFER_UP : TRANSFER_END);
	if (before > 0 && during >= 0)
		fprintf(out, "  %-28s %6.3f\n", "during / before", during / before);
}
