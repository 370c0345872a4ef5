/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time series, one JSON object a line, for usertools/mrc-plot.py:
 *   {"kind":"flow","t_us":..,"flow":..,"cwnd":..,"inflight":..,"gbps":..,"good":..,"skip":..,"bad":..}
 *   {"kind":"plane","t_us":..,"plane":..,"gbps":..}            delivered to all hosts
 *   {"kind":"link","t_us":..,"link":"p1/t0.0-t1.1>","util":..,"queue":..}   if anything was sent
 * Who calls it: sim.c, loop.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

struct sim_trace {
	FILE *f;
	uint64_t next_ns, last_ns, gap_ns;
	uint64_t *flow_bytes; /* at the last sample */
	uint64_t *link_bytes;
	uint64_t plane_bytes[MRC_PLANES_MAX];
};

int
sim_trace_open(struct sim *s, char *err, unsigned err_size)
{
	struct sim_trace *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return -ENOMEM;
	s->trace = t;
	t->gap_ns = (uint64_t)(s->o->trace_us > 0 ? s->o->trace_us * 1e3 : s->base_rtt_ns);
	if (t->gap_ns == 0)
		t->gap_ns = 1;
	t->flow_bytes = calloc(s->flows_n, sizeof(uint64_t));
	t->link_bytes = calloc(mrc_fabric_links(s->fab), sizeof(uint64_t));
	if (t->flow_bytes == NULL || t->link_bytes == NULL)
		return -ENOMEM;
	t->next_ns = t->gap_ns;
	t->f = fopen(s->o->trace, "we");
	if (t->f != NULL)
		return 0;
	snprintf(err, err_size, "%s: %s", s->o->trace, strerror(errno));
	return -EINVAL;
}

void
sim_trace_close(struct sim *s)
{
	struct sim_trace *t = s->trace;

	if (t == NULL)
		return;
	if (t->f != NULL && fclose(t->f) != 0)
		fprintf(stderr, "mrc-sim: %s: %s\n", s->o->trace, strerror(errno));
	free(t->flow_bytes);
	free(t->link_bytes);
	free(t);
	s->trace = NULL;
}

uint64_t
sim_trace_next_ns(const struct sim *s)
{
	return s->trace != NULL ? s->trace->next_ns : UINT64_MAX;
}

static void
flow_line(const struct sim *s, unsigned i, double ns)
{
	struct sim_trace *t = s->trace;
	const struct sim_flow *f = &s->flows[i];
	const struct mrc_path_set *set = f->conn_src->set;
	uint64_t bytes = f->conn_dst->rx.stats.bytes;
	unsigned n[MRC_EV_DENIED + 1] = {0};

	/* only what is in rotation: backups are neither good nor bad yet */
	for (unsigned k = 0; k < set->evs_n; k++)
		if (set->ev[k].slot != MRC_EV_NONE || set->ev[k].state == MRC_EV_ASSUMED_BAD)
			n[set->ev[k].state]++;
	fprintf(t->f,
		"{\"kind\":\"flow\",\"t_us\":%.3f,\"flow\":%u,\"cwnd\":%lu,\"inflight\":%ld,"
		"\"gbps\":%.3f,\"good\":%u,\"skip\":%u,\"bad\":%u,\"rtt_us\":%.3f}\n",
		(double)s->now_ns / 1e3, i, f->conn_src->cc->cwnd_bytes,
		f->conn_src->cc->inflight_bytes, (double)(bytes - t->flow_bytes[i]) * 8 / ns,
		n[MRC_EV_GOOD], n[MRC_EV_SKIP], n[MRC_EV_ASSUMED_BAD], set->srtt_ns / 1e3);
	t->flow_bytes[i] = bytes;
}

static void
plane_lines(const struct sim *s, double ns)
{
	struct sim_trace *t = s->trace;

	for (unsigned pl = 0; pl < s->o->planes; pl++) {
		uint64_t sum = 0;

		for (uint32_t h = 0; h < s->hosts_n; h++)
			if (s->hosts[h].eng != NULL)
				sum += mrc_engine_plane_stats(s->hosts[h].eng, pl)->rx_bytes;
		fprintf(t->f, "{\"kind\":\"plane\",\"t_us\":%.3f,\"plane\":%u,\"gbps\":%.3f}\n",
			(double)s->now_ns / 1e3, pl + 1,
			(double)(sum - t->plane_bytes[pl]) * 8 / ns);
		t->plane_bytes[pl] = sum;
	}
}

static void
link_lines(const struct sim *s, double ns)
{
	struct sim_trace *t = s->trace;
	unsigned n = mrc_fabric_links(s->fab);

	for (unsigned i = 0; i < n; i++) {
		enum mrc_link_state state;
		struct mrc_link_stats st;
		char name[32];

		mrc_fabric_link_get(s->fab, i, name, &state, &st);
		if (st.bytes == t->link_bytes[i] && st.queue_bytes == 0)
			continue;
		fprintf(t->f,
			"{\"kind\":\"link\",\"t_us\":%.3f,\"link\":\"%s\",\"util\":%.4f,\"queue\":%"
			"u}\n",
			(double)s->now_ns / 1e3, name,
			(double)(st.bytes - t->link_bytes[i]) * 8 / ns / s->o->gbps,
			st.queue_bytes);
		t->link_bytes[i] = st.bytes;
	}
}

void
sim_trace_take(struct sim *s)
{
	struct sim_trace *t = s->trace;
	double ns = (double)(s->now_ns - t->last_ns);

	for (unsigned i = 0; i < s->flows_n; i++)
		flow_line(s, i, ns);
	plane_lines(s, ns);
	link_lines(s, ns);
	t->last_ns = s->now_ns;
	t->next_ns = s->now_ns + t->gap_ns;
}
