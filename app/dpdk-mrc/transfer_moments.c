/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks at the moments that a report compares, and the fault between them. Who calls it:
 * transfer.c. */
#include <string.h>

#include "clock.h"
#include "transfer.h"

#define SETTLE_NS 200000000

void
transfer_mark_take(const struct transfer *t, struct transfer_mark *m)
{
	m->set = true;
	m->ns = t->link.a->worker->now_ns;
	m->wall_ns = clock_ns();
	m->placed = t->link.conn_b->rx.stats.bytes;
	for (unsigned pl = 0; pl < t->d->cfg->planes; pl++)
		m->sent[pl] = t->link.conn_a->set->plane[pl].stats.sent_bytes;
}

static int
fault_set(struct transfer *t, enum mrc_link_state state)
{
	char name[16];
	int rc;

	snprintf(name, sizeof(name), "p%u", t->job.fault.plane + 1);
	rc = daemon_link_set(t->d, name, state);
	return rc == 0 ? 0
		       : transfer_fail(t, rc, "fault of plane %u: %s", t->job.fault.plane + 1,
				 strerror(-rc));
}

/* The mark that follows another by the time things take to settle. */
static void
settle(struct transfer *t, enum transfer_moment first)
{
	const struct transfer_mark *m = &t->mark[first];

	if (m->set && !m[1].set && t->link.a->worker->now_ns - m->ns >= SETTLE_NS)
		transfer_mark_take(t, &t->mark[first + 1]);
}

int
transfer_moments(struct transfer *t)
{
	uint64_t placed = t->link.conn_b->rx.stats.bytes;
	int rc = 0;

	if (!t->mark[TRANSFER_DOWN].set && placed >= t->down_at) {
		rc = fault_set(t, MRC_LINK_BLACKHOLE);
		transfer_mark_take(t, &t->mark[TRANSFER_DOWN]);
	}
	if (rc == 0 && !t->mark[TRANSFER_UP].set && placed >= t->up_at) {
		t->rtx_last_ns = t->link.conn_a->tx.stats.rtx_last_ns;
		rc = fault_set(t, MRC_LINK_UP);
		transfer_mark_take(t, &t->mark[TRANSFER_UP]);
	}
	settle(t, TRANSFER_BEGIN);
	settle(t, TRANSFER_DOWN);
	settle(t, TRANSFER_UP);
	if (!t->mark[TRANSFER_END].set && transfer_all_placed(t)) {
		if (!t->mark[TRANSFER_UP].set)
			t->rtx_last_ns = t->link.conn_a->tx.stats.rtx_last_ns;
		transfer_mark_take(t, &t->mark[TRANSFER_END]);
	}
	return rc;
}

void
transfer_fault_end(struct transfer *t)
{
	if (t->mark[TRANSFER_DOWN].set && !t->mark[TRANSFER_UP].set)
		fault_set(t, MRC_LINK_UP);
}
