/* SPDX-License-Identifier: BSD-3-Clause */
/* Seeds from the command line, two runs each, and what is told of them. See chaos.h. */
#include "chaos.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

#define TRIM_BYTES 160 /* SRv6 with SRH and all headers of a write to TSETH */

void
chaos_fail(struct chaos *c, const char *fmt, ...)
{
	va_list ap;

	if (c->failed)
		return;
	c->failed = true;
	va_start(ap, fmt);
	vsnprintf(c->why, sizeof(c->why), fmt, ap);
	va_end(ap);
}

static int
fabric_make(struct chaos *c)
{
	const struct chaos_plan *p = &c->p;
	bool early = p->faults >> CHAOS_MARK & 1;
	struct mrc_fabric_sink sink = chaos_sink;
	struct mrc_fabric_params q = {.planes = p->planes,
		.leaves = p->leaves,
		.spines = p->spines,
		.hosts_per_leaf = p->hosts_per_leaf,
		.rate_bps = p->rate_bps,
		.latency_ns = p->latency_ns,
		.queue_bytes = p->queue_bytes,
		.host_queue_bytes = p->host_queue_bytes,
		.ecn_kmin_bytes = early ? 1 : p->queue_bytes / 5,
		.ecn_kmax_bytes = early ? p->queue_bytes / 4 + 2 : p->queue_bytes / 5 * 4 + 1,
		.ecn = early || (p->seed & 1) != 0,
		.ecn_lasthop = early,
		.trim = p->faults >> CHAOS_TRIM & 1,
		.trim_bytes = TRIM_BYTES,
		.frames_max = CHAOS_POOL * p->hosts,
		.seed = p->seed * 2 + 1,
		.block = {0xfc, 0xbb, 0xbb, 0x00},
		.dscp = MRC_DSCP_DEFAULTS};

	sink.ctx = c;
	return mrc_fabric_create(&q, &sink, &c->fab);
}

/* Everything is given back, and all frames are home. */
static void
end(struct chaos *c)
{
	if (c->fab != NULL)
		mrc_fabric_destroy(c->fab);
	while (c->late_n > 0)
		rte_pktmbuf_free(c->late[--c->late_n].m);
	chaos_hosts_free(c);
	for (unsigned i = 0; i < c->p.hosts; i++) {
		struct rte_mempool *pool = c->host[i].pool;

		if (pool != NULL && rte_mempool_avail_count(pool) != CHAOS_POOL)
			chaos_fail(c, "host %u: %u frames do not come home", i,
				CHAOS_POOL - rte_mempool_avail_count(pool));
	}
}

void
chaos_once(uint64_t seed, struct chaos_result *r)
{
	static struct chaos c;
	int rc;

	memset(&c, 0, sizeof(c));
	chaos_plan_make(&c.p, seed);
	mrc_prng_seed(&c.prng, ~seed);
	for (unsigned i = 0; i < CHAOS_REPAIRS; i++)
		c.repair[i].at_ns = UINT64_MAX;
	rc = fabric_make(&c);
	if (rc == 0)
		rc = chaos_hosts_make(&c);
	if (rc < 0)
		chaos_fail(&c, "cannot be made: %s", strerror(-rc));
	else
		chaos_run(&c);
	if (!c.failed)
		chaos_judge(&c);
	end(&c);
	*r = (struct chaos_result){.failed = c.failed,
		.hash = c.hash,
		.steps = c.steps,
		.frames = c.frames,
		.now_ns = c.now_ns};
	memcpy(r->why, c.why, sizeof(r->why));
}

bool
chaos_seed(uint64_t seed, struct chaos_result *r)
{
	struct chaos_result again;

	chaos_once(seed, r);
	if (r->failed)
		return false;
	chaos_once(seed, &again);
	if (again.hash != r->hash || again.frames != r->frames || again.failed) {
		r->failed = true;
		snprintf(r->why, sizeof(r->why),
			"the second run differs: trace %016" PRIx64 ", not %016" PRIx64, again.hash,
			r->hash);
	}
	return !r->failed;
}

/* ---- the command ---- */

bool
chaos_wanted(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--chaos") == 0)
			return true;
	return false;
}

/* "A..B" or "A". */
static bool
seeds_parse(const char *s, uint64_t *a, uint64_t *b)
{
	char *e;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*a = *b = strtoull(s, &e, 10);
	if (strncmp(e, "..", 2) == 0 && e[2] >= '0' && e[2] <= '9')
		*b = strtoull(e + 2, &e, 10);
	return errno == 0 && *e == '\0' && *b >= *a && *b < UINT64_C(1) << 48;
}

static bool
options(int argc, char **argv, uint64_t *a, uint64_t *b)
{
	for (int i = 1; i < argc; i++) {
		const char *v = NULL;

		if (strcmp(argv[i], "--chaos") == 0)
			continue;
		if (strncmp(argv[i], "--seeds=", 8) == 0)
			v = argv[i] + 8;
		else if (strcmp(argv[i], "--seeds") == 0 && i + 1 < argc)
			v = argv[++i];
		if (v == NULL) {
			fprintf(stderr, "mrc-sim: %s: --chaos goes with --seeds A..B alone\n",
				argv[i]);
			return false;
		}
		if (!seeds_parse(v, a, b)) {
			fprintf(stderr,
				"mrc-sim: seeds: \"%.80s\" is not allowed; allowed: A..B or A, "
				"whole "
				"numbers below 2^48\n",
				v);
			return false;
		}
	}
	return true;
}

static uint64_t
wall_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void
told(uint64_t seed, const struct chaos_result *r)
{
	struct chaos_plan p;
	char text[700];

	chaos_plan_make(&p, seed);
	chaos_plan_text(&p, text, sizeof(text));
	printf("seed %" PRIu64 " FAILED: %s\n  %s\n  replay: mrc-sim --chaos --seeds %" PRIu64
	       "..%" PRIu64 "\n",
		seed, r->why, text, seed, seed);
	fflush(stdout);
}

/* Milliseconds of a seed, by their number: enough for a median. */
#define WALL_BINS 4096

int
chaos_main(int argc, char **argv)
{
	static uint32_t bins[WALL_BINS];
	uint64_t a = 1, b = 100, failed = 0, frames = 0, n = 0, median = 0;
	bool watched = isatty(STDERR_FILENO);
	int rc;

	if (!options(argc, argv, &a, &b))
		return 2;
	rc = sim_eal_start(CHAOS_MEGABYTES);
	if (rc == 0)
		rc = chaos_pools_make();
	if (rc < 0) {
		fprintf(stderr, "mrc-sim: EAL does not start: %s\n", strerror(-rc));
		return 1;
	}
	for (uint64_t seed = a; seed <= b; seed++, n++) {
		struct chaos_result r;
		uint64_t start = wall_us(), ms;

		if (!chaos_seed(seed, &r)) {
			failed++;
			told(seed, &r);
		}
		frames += r.frames;
		ms = (wall_us() - start + 500) / 1000;
		bins[ms < WALL_BINS ? ms : WALL_BINS - 1]++;
		if (watched && n % 16 == 0)
			fprintf(stderr, "\r\033[Kseed %" PRIu64 ", %" PRIu64 " failed", seed,
				failed);
	}
	if (watched)
		fprintf(stderr, "\r\033[K");
	for (uint64_t sum = bins[0]; sum * 2 < n; sum += bins[median])
		median++;
	printf("chaos: %" PRIu64 " seeds, %" PRIu64 " failed, %" PRIu64
	       " frames arrived, median %" PRIu64 " ms a seed (two runs)\n",
		n, failed, frames, median);
	chaos_pools_free();
	sim_eal_stop();
	return failed > 0;
}
