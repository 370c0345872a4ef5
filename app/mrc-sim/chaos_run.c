/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event loop of a chaos run: time jumps to what is next of the network, the late frames, the
 * weather and the hosts. Who calls it: chaos.c.
 */
#include "chaos.h"

#define STEPS_MAX 4000000 /* of a run */
#define STILL_MAX 20000	  /* without time passing */

static void
host_turn(struct chaos *c, unsigned i)
{
	struct chaos_host *h = &c->host[i];
	uint64_t t;

	h->touched = false;
	h->wake_ns = UINT64_MAX;
	if (h->eng == NULL)
		return;
	if (mrc_engine_next_ns(h->eng) <= c->now_ns)
		mrc_engine_expire(h->eng, c->now_ns);
	chaos_reap(c, i);
	t = chaos_post(c, i);
	if (t < h->wake_ns)
		h->wake_ns = t;
	chaos_send(c, i);
	t = mrc_engine_next_ns(h->eng);
	if (t < h->wake_ns)
		h->wake_ns = t;
}

static uint64_t
next_ns(const struct chaos *c)
{
	uint64_t t = mrc_fabric_next_ns(c->fab), n;

	n = chaos_late_next(c);
	t = n < t ? n : t;
	n = chaos_weather_next(c);
	t = n < t ? n : t;
	for (unsigned i = 0; i < c->p.hosts; i++) {
		n = c->host[i].touched ? c->now_ns : c->host[i].wake_ns;
		t = n < t ? n : t;
	}
	return t;
}

static void
step(struct chaos *c, uint64_t t)
{
	c->now_ns = t;
	chaos_weather(c);
	mrc_fabric_run(c->fab, t);
	c->now_ns = t;
	if (c->late_n > 0)
		chaos_late_run(c);
	for (unsigned i = 0; i < c->p.hosts; i++)
		if (c->host[i].touched || c->host[i].wake_ns <= t)
			host_turn(c, i);
	c->steps++;
}

/* @return false: nothing will happen any more, or what went wrong is noted */
static bool
run_until(struct chaos *c, uint64_t end_ns, bool (*done)(const struct chaos *c))
{
	unsigned still = 0, since = 0;

	while (!c->failed) {
		uint64_t t = next_ns(c);

		if (t > end_ns) {
			if (done == NULL)
				c->now_ns = end_ns;
			return done == NULL || done(c);
		}
		if (t < c->now_ns)
			t = c->now_ns;
		still = t == c->now_ns ? still + 1 : 0;
		if (still > STILL_MAX)
			chaos_fail(c, "time stands still");
		if (c->steps > STEPS_MAX)
			chaos_fail(c, "%u steps and no end", STEPS_MAX);
		step(c, t);
		/* looking at all paths costs more than a step */
		if (done != NULL && ++since >= 16) {
			since = 0;
			if (done(c))
				return true;
		}
	}
	return false;
}

static bool
quiet(const struct chaos *c)
{
	return mrc_fabric_frames(c->fab) + c->late_n == 0 && chaos_settled(c);
}

void
chaos_run(struct chaos *c)
{
	char what[400];

	for (unsigned i = 0; i < c->p.hosts; i++)
		c->host[i].touched = true;
	c->storm = true;
	c->weather_ns = mrc_prng_below(&c->prng, (uint32_t)c->p.weather_ns) + 1;
	run_until(c, c->p.storm_ns, NULL);
	chaos_weather_clear(c);
	if (!c->failed && !run_until(c, c->now_ns + c->p.bound_ns, chaos_settled) && !c->failed) {
		chaos_unfinished(c, what, sizeof(what));
		chaos_fail(c, "not finished at %.0f us:%s", (double)c->now_ns / 1e3, what);
	}
	/* what still flies lands: late copies, answers; then all must be as before */
	run_until(c, c->now_ns + 20 * c->p.base_rtt_ns, NULL);
	run_until(c, c->now_ns + c->p.bound_ns, quiet);
}
