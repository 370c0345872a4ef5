/* SPDX-License-Identifier: BSD-3-Clause */
/* The experiments: who sends what to whom, and what goes wrong when. Who calls it: sim.c. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define FLAP_FIRST_US 50
#define FLAP_PERIOD_US 100

/* ---- flows ---- */

static void
flow_add(struct sim *s, uint32_t src, uint32_t dst)
{
	s->flows[s->flows_n++] = (struct sim_flow){
		.src = src, .dst = dst, .bytes = (uint64_t)s->o->bytes, .steps = 1};
}

static void
shift(struct sim *s)
{
	for (uint32_t i = 0; i < s->hosts_n; i++)
		flow_add(s, i, (i + s->hosts_n / 2) % s->hosts_n);
}

/* A permutation that leaves no flow inside its leaf: shuffled, then the wrong ones exchanged. */
static int
permutation(struct sim *s)
{
	uint32_t n = s->hosts_n, *to = calloc(n, sizeof(*to));

	if (to == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = mrc_prng_below(&s->prng, i + 1);

		to[i] = to[j];
		to[j] = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		while (sim_leaf(s, i) == sim_leaf(s, to[i])) {
			uint32_t j = mrc_prng_below(&s->prng, n), t = to[j];

			if (sim_leaf(s, i) == sim_leaf(s, t) ||
				sim_leaf(s, j) == sim_leaf(s, to[i]))
				continue;
			to[j] = to[i];
			to[i] = t;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		flow_add(s, i, to[i]);
	free(to);
	return 0;
}

static int
permutation_file(struct sim *s, char *err, unsigned err_size)
{
	FILE *f = fopen(s->o->perm, "re");
	char line[256];
	unsigned n = 0;
	int rc = 0;

	if (f == NULL) {
		snprintf(err, err_size, "%s: %s", s->o->perm, strerror(errno));
		return -EINVAL;
	}
	while (rc == 0 && fgets(line, sizeof(line), f) != NULL) {
		unsigned a, b;
		char rest;

		n++;
		if (line[strspn(line, " \t\r\n")] == '\0' || line[0] == '#')
			continue;
		if (sscanf(line, "%u %u %c", &a, &b, &rest) != 2 || a >= s->hosts_n ||
			b >= s->hosts_n || a == b || s->flows_n == s->hosts_n) {
			snprintf(err, err_size,
				"%s:%u: two different hosts below %u, at most one line a host",
				s->o->perm, n, s->hosts_n);
			rc = -EINVAL;
		} else {
			flow_add(s, a, b);
		}
	}
	fclose(f);
	if (rc == 0 && s->flows_n == 0) {
		snprintf(err, err_size, "%s: no flows", s->o->perm);
		rc = -EINVAL;
	}
	return rc;
}

/* Senders spread over the other leaves, if they hold enough hosts. */
static void
incast(struct sim *s, bool victim)
{
	uint32_t n = s->hosts_n, first = s->o->hosts_per_leaf, last = n - 1;
	uint32_t want = s->o->incast + victim;

	if (first >= n || n - first < want)
		first = victim ? 2 : 1;
	for (uint32_t k = 0; k < s->o->incast; k++) {
		uint32_t h = first + (uint32_t)((uint64_t)k * (n - first - victim) / s->o->incast);

		flow_add(s, h, 0);
	}
	if (!victim)
		return;
	/* the highest host is left out above */
	flow_add(s, last, 1);
	s->flows[s->flows_n - 1].role = SIM_FLOW_VICTIM;
}

static void
allreduce(struct sim *s)
{
	uint64_t chunk = ((uint64_t)s->o->bytes + s->hosts_n - 1) / s->hosts_n;

	for (uint32_t i = 0; i < s->hosts_n; i++) {
		flow_add(s, i, (i + 1) % s->hosts_n);
		s->flows[i].bytes = chunk;
		s->flows[i].steps = 2 * (s->hosts_n - 1);
	}
}

int
sim_flows_make(struct sim *s, char *err, unsigned err_size)
{
	const struct sim_opts *o = s->o;
	uint64_t n = s->hosts_n;

	if (o->experiment == SIM_ALLTOALL)
		n *= n - 1;
	s->flows = calloc(n + 1, sizeof(*s->flows));
	if (s->flows == NULL)
		return -ENOMEM;
	switch (o->experiment) {
	case SIM_PERM:
		return o->perm[0] != '\0' ? permutation_file(s, err, err_size) : permutation(s);
	case SIM_INCAST:
	case SIM_VICTIM:
		incast(s, o->experiment == SIM_VICTIM);
		break;
	case SIM_SINGLE:
		flow_add(s, 0, s->hosts_n / 2);
		break;
	case SIM_ALLREDUCE:
		allreduce(s);
		break;
	case SIM_ALLTOALL:
		for (uint32_t k = 1; k < s->hosts_n; k++)
			for (uint32_t i = 0; i < s->hosts_n; i++)
				flow_add(s, i, (i + k) % s->hosts_n);
		break;
	default:
		shift(s);
		break;
	}
	return 0;
}

/* A chunk goes from edge to edge as it arrives; the last step's acknowledgement comes on top. */
static double
ring_ns(const struct sim *s)
{
	double t = 0, back = 0;

	for (uint32_t k = 0; k < s->flows[0].steps; k++) {
		const struct sim_flow *f = &s->flows[k % s->flows_n];
		double hops = sim_leaf(s, f->src) == sim_leaf(s, f->dst) ? 2 : 4;

		back = hops * (s->o->link_ns + s->wire_ctl * 8 / s->o->gbps);
		t += sim_fct0_ns(s, f->bytes, f->src, f->dst) - back;
	}
	return t + back;
}

double
sim_bound_ns(const struct sim *s)
{
	const struct sim_opts *o = s->o;
	const struct sim_flow *f = &s->flows[0];
	double n = 1;

	/* one link carries it all, one flow after the other */
	if (o->experiment == SIM_INCAST || o->experiment == SIM_VICTIM)
		n = o->incast;
	if (o->experiment == SIM_ALLTOALL)
		n = s->hosts_n - 1;
	if (o->experiment == SIM_ALLREDUCE)
		return ring_ns(s);
	return sim_fct0_ns(s, (uint64_t)(n * (double)f->bytes), f->src, f->dst);
}

/* ---- faults ---- */

static int
event_add(struct sim *s, double at_us, int what, double value, const char *link)
{
	struct sim_event e = {.at_ns = (uint64_t)(at_us * 1e3)};
	struct sim_event *more;

	if ((s->events_n & (s->events_n - 1)) == 0) {
		more = realloc(s->events, (s->events_n == 0 ? 1 : 2 * s->events_n) * sizeof(*more));
		if (more == NULL)
			return -ENOMEM;
		s->events = more;
	}
	e.f.at_us = at_us;
	e.f.what = what;
	e.f.value = value;
	snprintf(e.f.link, sizeof(e.f.link), "%s", link);
	s->events[s->events_n++] = e;
	return 0;
}

/* What happens to one spine happens in all planes. */
static int
spine_event(struct sim *s, double at_us, int what, double value, uint32_t spine)
{
	int rc = 0;

	for (unsigned pl = 1; rc == 0 && pl <= s->o->planes; pl++) {
		char link[32];

		snprintf(link, sizeof(link), "p%u/t1.%u", pl, spine);
		rc = event_add(s, at_us, what, value, link);
	}
	return rc;
}

/* A packet crosses one link of these on its way, whatever its path. */
static int
loss_events(struct sim *s)
{
	int rc = 0;

	for (unsigned pl = 1; pl <= s->o->planes; pl++) {
		char link[32];

		for (unsigned i = 0; s->leaves > 1 && i < s->leaves; i++)
			for (unsigned j = 0; rc == 0 && j < s->o->spines; j++) {
				snprintf(link, sizeof(link), "p%u/t0.%u-t1.%u>", pl, i, j);
				rc = event_add(s, 0, SIM_FAULT_LOSS, s->o->loss, link);
			}
		for (unsigned h = 0; rc == 0 && s->leaves == 1 && h < s->hosts_n; h++) {
			snprintf(link, sizeof(link), "p%u/h%u-t0.0>", pl, h);
			rc = event_add(s, 0, SIM_FAULT_LOSS, s->o->loss, link);
		}
	}
	return rc;
}

static int
flap_events(struct sim *s)
{
	int rc = 0;

	for (unsigned j = 0; rc == 0 && j < s->o->spines; j++)
		for (unsigned pl = 1; rc == 0 && pl <= s->o->planes; pl++) {
			double t = FLAP_FIRST_US + FLAP_PERIOD_US * (double)j;
			char link[32];

			snprintf(link, sizeof(link), "p%u/t0.0-t1.%u", pl, j);
			rc = event_add(s, t, SIM_FAULT_DOWN, 0, link);
			if (rc == 0)
				rc = event_add(s, t + FLAP_PERIOD_US / 2., SIM_FAULT_UP, 0, link);
		}
	return rc;
}

static int
event_order(const void *a, const void *b)
{
	const struct sim_event *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return strcmp(x->f.link, y->f.link);
}

/* Goodput is measured around the first fault that comes after the start. */
static void
windows(struct sim *s)
{
	const struct sim_opts *o = s->o;

	for (unsigned i = 0; i < s->events_n; i++) {
		const struct sim_event *e = &s->events[i];

		if (e->at_ns == 0)
			continue;
		if (e->f.what != SIM_FAULT_UP && s->fault_ns == UINT64_MAX)
			s->fault_ns = e->at_ns;
		if (e->f.what == SIM_FAULT_UP && s->fault_ns != UINT64_MAX &&
			(s->heal_ns == UINT64_MAX || o->experiment == SIM_FLAP))
			s->heal_ns = e->at_ns;
	}
	if (s->fault_ns != UINT64_MAX)
		s->sample_gap_ns = (uint64_t)(s->base_rtt_ns / 8) + 1;
}

int
sim_events_make(struct sim *s, char *err, unsigned err_size)
{
	const struct sim_opts *o = s->o;
	char link[32];
	int rc = 0;

	if (o->slow_spine.index != SIM_NONE)
		rc = spine_event(
			s, 0, SIM_FAULT_RATE, o->gbps * o->slow_spine.a, o->slow_spine.index);
	if (rc == 0 && o->blackhole_spine.index != SIM_NONE)
		rc = spine_event(
			s, o->blackhole_spine.a, SIM_FAULT_BLACKHOLE, 0, o->blackhole_spine.index);
	if (rc == 0 && o->loss > 0)
		rc = loss_events(s);
	if (rc == 0 && o->plane_down.index != SIM_NONE) {
		snprintf(link, sizeof(link), "p%u", o->plane_down.index);
		rc = event_add(s, o->plane_down.a, SIM_FAULT_BLACKHOLE, 0, link);
		if (rc == 0 && o->plane_down.b >= 0)
			rc = event_add(s, o->plane_down.b, SIM_FAULT_UP, 0, link);
	}
	if (rc == 0 && o->experiment == SIM_FLAP)
		rc = flap_events(s);
	for (unsigned i = 0; rc == 0 && i < o->faults_n; i++) {
		const struct sim_fault *f = &o->faults[i];

		/* tried now, so that a wrong name is an error before anything runs */
		rc = mrc_fabric_loss_set(s->fab, f->link, 0);
		if (rc < 0)
			snprintf(
				err, err_size, "faults[%u]: link: no such link \"%s\"", i, f->link);
		else
			rc = event_add(s, f->at_us, f->what, f->value, f->link);
	}
	if (rc < 0)
		return rc;
	if (s->events_n > 0)
		qsort(s->events, s->events_n, sizeof(*s->events), event_order);
	windows(s);
	return 0;
}
