/* SPDX-License-Identifier: BSD-3-Clause */
/* What a person sees of a transfer: progress while it runs, a table at its end. Who calls it:
 * main.c, cmd_run.c. */
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clock.h"
#include "transfer.h"

#define PROGRESS_TTY_NS 200000000
#define PROGRESS_PLAIN_NS 1000000000
#define BAR_CELLS 20
#define BAR_COLUMNS_MIN 70

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

static double
goodput(const struct transfer *t, enum transfer_moment a, enum transfer_moment b)
{
	const struct transfer_mark *x = &t->mark[a], *y = &t->mark[b];

	if (!x->set || !y->set || y->ns <= x->ns)
		return -1;
	return gbps(y->placed - x->placed, y->ns - x->ns);
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
	uint64_t copies = t->planned / t->size;
	unsigned huge = 0;

	for (unsigned i = 0; i < t->regions_n; i++)
		huge += t->region[i].huge;
	fprintf(out, "%s: %.1f MB from %s to %s, ", t->job.file, (double)t->size / 1e6, t->job.from,
		t->job.to);
	if (t->job.min_s > 0)
		fprintf(out, "for %g s or more, some ", t->job.min_s);
	fprintf(out, "%lu time%s, %.1f MB in all, %u planes, %u EVs\n", (unsigned long)copies,
		copies == 1 ? "" : "s", (double)t->planned / 1e6, t->d->cfg->planes,
		t->link.conn_a->set->evs_n);
	if (t->d->huge)
		fprintf(out, "hugepages: frame pool %s, receive regions %u of %u\n",
			daemon_pool_huge(t->d) ? "yes" : "no", huge, t->regions_n);
	fflush(out);
}

/* ---- progress ---- */

unsigned
transfer_columns(int fd)
{
	struct winsize w;

	if (!isatty(fd))
		return 0;
	return ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
}

/* A line that grows by pieces as long as they fit. */
struct line {
	char *text;
	unsigned len, max;
};

static void __attribute__((format(printf, 2, 3))) piece(struct line *l, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->text + l->len, l->max - l->len + 1, fmt, ap);
	va_end(ap);
	if (n > 0 && (unsigned)n <= l->max - l->len)
		l->len += (unsigned)n;
	else
		l->max = l->len; /* and nothing behind it */
	l->text[l->len] = '\0';
}

/* Of the bytes; with a least time, of the time, unless a fault needs the bytes as well. */
static double
progress_share(const struct transfer *t, const struct transfer_mark *m)
{
	double bytes =
		(double)m->placed / (double)(t->final ? t->passes * t->pass_bytes : t->planned);
	double time = 1;

	if (t->job.min_s > 0)
		time = (double)(m->wall_ns - t->mark[TRANSFER_BEGIN].wall_ns) / 1e9 / t->job.min_s;
	if (t->job.min_s > 0 && !t->job.fault_set && !t->final)
		bytes = 1;
	if (t->final)
		time = 1; /* the last bytes are on their way */
	return fmin(1, fmin(bytes, time));
}

static void
rates_line(const struct transfer *t, const struct transfer_mark *m, bool tty, struct line *l)
{
	const struct mrc_path_set *set = t->link.conn_a->set;
	const struct transfer_mark *was = &t->shown;
	double share = progress_share(t, m);
	unsigned cells = (unsigned)(share * BAR_CELLS), bad = 0;
	uint64_t ns = m->ns - was->ns;
	char planes[MRC_PLANES_MAX * 12];
	struct line p = {planes, 0, sizeof(planes) - 1};

	for (unsigned pl = 0; pl < t->d->cfg->planes; pl++) {
		piece(&p, " %.2f", gbps(m->sent[pl] - was->sent[pl], ns));
		bad += set->plane[pl].bad;
	}
	/* the bar is what a narrow terminal does without */
	if (tty && l->max >= BAR_COLUMNS_MIN)
		piece(l, "[%.*s%.*s] ", (int)cells, "####################",
			(int)(BAR_CELLS - cells), "....................");
	piece(l, "%3.0f %%  %5.2f Gb/s", share * 100, gbps(m->placed - was->placed, ns));
	piece(l, "  planes%s Gb/s", planes);
	piece(l, "  EVs bad %u", bad);
	piece(l, "  retransmitted %lu", (unsigned long)t->link.conn_a->tx.stats.rtx);
}

bool
transfer_progress(struct transfer *t, unsigned columns, char *text, unsigned size)
{
	struct line l = {text, 0, size - 1};
	uint64_t now = clock_ns();
	struct transfer_mark m;
	bool first;

	/* a full last column wraps on some terminals */
	if (columns > 0 && columns - 1 < l.max)
		l.max = columns - 1;
	if (now - t->progress_ns < (columns > 0 ? PROGRESS_TTY_NS : PROGRESS_PLAIN_NS))
		return false;
	if (t->phase == TRANSFER_HASH && columns == 0)
		return false;
	t->progress_ns = now;
	if (t->phase == TRANSFER_HASH) {
		piece(&l, "SHA-256 of %s: %.0f %%", t->job.file,
			(double)t->hashed * 100 / (double)t->pass_bytes);
		return true;
	}
	if (t->mark[TRANSFER_END].set) {
		/* the rest is SHA-256 and the disk */
		piece(&l, "all placed, checking");
		if (columns > 0 && t->phase == TRANSFER_MOVE)
			piece(&l, ": %.0f %%",
				(double)(t->verified * t->pass_bytes + t->hashed) * 100 /
					(double)(t->passes * t->pass_bytes));
		/* said once, or shown all the time */
		first = !t->checking;
		t->checking = true;
		return first || columns > 0;
	}
	transfer_mark_take(t, &m);
	if (t->shown.set && m.ns > t->shown.ns) {
		rates_line(t, &m, columns > 0, &l);
		t->shown = m;
		return true;
	}
	t->shown = m;
	return false;
}

/* ---- the end ---- */

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
			(unsigned long)s->trimmed, (unsigned long)s->resent, n.good, n.skip, n.bad);
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
	double g = goodput(t, a, b);

	if (g >= 0)
		fprintf(out, "  %-28s %6.3f Gb/s\n", what, g);
}

/* The process did not run: such time is the machine's, not the network's. */
static void
stopped_line(const struct transfer *t, FILE *out)
{
	const struct transfer_mark *a = &t->mark[TRANSFER_BEGIN], *b = &t->mark[TRANSFER_END];
	uint64_t wall = b->wall_ns - a->wall_ns, net = b->ns - a->ns;

	if (b->set && wall > net + 1000000)
		fprintf(out,
			"the worker was kept from running for %.0f ms of %.2f s; goodput below "
			"leaves "
			"that out, OK's Gb/s does not\n",
			(double)(wall - net) / 1e6, (double)wall / 1e9);
}

static void
goodput_report(const struct transfer *t, FILE *out)
{
	bool down = t->mark[TRANSFER_DOWN].set;
	enum transfer_moment during_end = t->mark[TRANSFER_UP].set ? TRANSFER_UP : TRANSFER_END;
	double before = goodput(t, TRANSFER_BEGIN_SETTLED, TRANSFER_DOWN);
	double during = goodput(t, TRANSFER_DOWN_SETTLED, during_end);

	if (down ? before < 0 && during < 0 : !t->mark[TRANSFER_END].set)
		return;
	fprintf(out,
		"goodput by the network's clock, which stands still while the process does%s\n",
		down ? "; without the first 200 ms after each change" : "");
	if (!down) {
		goodput_line(t, out, "whole transfer", TRANSFER_BEGIN, TRANSFER_END);
		return;
	}
	goodput_line(t, out, "before the fault", TRANSFER_BEGIN_SETTLED, TRANSFER_DOWN);
	goodput_line(t, out, "during the fault", TRANSFER_DOWN_SETTLED, during_end);
	goodput_line(t, out, "after the fault", TRANSFER_UP_SETTLED, TRANSFER_END);
	if (before > 0 && during >= 0)
		fprintf(out, "  %-28s %6.3f\n", "during / before", during / before);
}

void
transfer_report(struct transfer *t, FILE *out)
{
	const struct mrc_conn_tx_stats *s = &t->link.conn_a->tx.stats;
	const struct transfer_mark *down = &t->mark[TRANSFER_DOWN];

	if (!t->mark[TRANSFER_BEGIN].set)
		return; /* nothing was sent */
	planes_table(t, out);
	if (t->job.min_s > 0 && t->mark[TRANSFER_END].set)
		fprintf(out, "\nsent %lu times, %.1f MB in all",
			(unsigned long)(t->mark[TRANSFER_END].placed / t->size),
			(double)t->mark[TRANSFER_END].placed / 1e6);
	fprintf(out,
		"\nretransmissions: %lu sent (losses: %lu trims, %lu gaps, %lu timeouts; %lu not "
		"needed after all)\n",
		(unsigned long)s->rtx, (unsigned long)s->trim, (unsigned long)s->gap,
		(unsigned long)s->timeout, (unsigned long)s->spurious);
	fputs("  in the table they stand with the plane that lost the packet\n", out);
	fprintf(out, "EVs: %u, condemned %lu times, back %lu times\n", t->link.conn_a->set->evs_n,
		(unsigned long)(t->link.conn_a->set->ev_bad - t->ev_bad_before),
		(unsigned long)(t->link.conn_a->set->ev_recovered - t->ev_back_before));
	stopped_line(t, out);
	if (down->set && t->rtx_last_ns > down->ns)
		fprintf(out, "last retransmission %.3f ms after the fault\n",
			(double)(t->rtx_last_ns - down->ns) / 1e6);
	goodput_report(t, out);
}

void
transfer_ok_text(const struct transfer *t, char *text, unsigned size)
{
	const struct transfer_mark *a = &t->mark[TRANSFER_BEGIN], *b = &t->mark[TRANSFER_END];
	char sha[2 * TRANSFER_SHA_BYTES + 1];

	transfer_sha_text(t->sha_file, sha);
	snprintf(text, size, "OK %s %lu bytes, %.3f Gb/s", sha, (unsigned long)t->size,
		gbps(b->placed - a->placed, b->wall_ns - a->wall_ns));
}
