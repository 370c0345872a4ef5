/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mrc-bench: the limits that bench.sh sets beside the product's own figures. Arguments, EAL,
 * rounds, output.
 */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "bare.h"
#include "crc.h"

#define ROUNDS_MAX 99
#define RING_DEFAULT 256
#define FRAMES_MAX 8192
#define EAL_MB "96"

struct options {
	bool json;
	unsigned rounds;
	unsigned ring_size;
	unsigned frames;
	double seconds; /* of each row and round */
};

struct row {
	const char *name;
	unsigned n;
	double gbps[ROUNDS_MAX];
};

static const char usage[] =
	"usage: mrc-bench [--json] [--rounds N] [--seconds S] [--ring N] [--frames N]\n"
	"  The bare movement of data on this machine: 4 KiB frames with CRC-32, cache-resident.\n"
	"  --json       one JSON object a row: name, value, unit, limit, ratio\n"
	"  --rounds N   1..99, the median counts (default 5)\n"
	"  --seconds S  0.01..60, of each row and round (default 0.5)\n"
	"  --ring N     entries of the ring between two cores, 64..4096, a power of two (default "
	"256)\n";

/* @return 0 go on, 1 help was asked for, -1 bad arguments (said) */
static int
options_parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {{"json", no_argument, NULL, 'j'},
		{"rounds", required_argument, NULL, 'r'}, {"seconds", required_argument, NULL, 's'},
		{"ring", required_argument, NULL, 'q'}, {"frames", required_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	double v;
	char *end;
	int c;

	*o = (struct options){.rounds = 5, .ring_size = RING_DEFAULT, .seconds = 0.5};
	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c == 'j') {
			o->json = true;
			continue;
		}
		if (c == 'h')
			return 1;
		if (c == '?')
			return -1;
		v = strtod(optarg, &end);
		if (c == 'r' && *end == '\0' && v >= 1 && v <= ROUNDS_MAX)
			o->rounds = (unsigned)v;
		else if (c == 's' && *end == '\0' && v >= 0.01 && v <= 60)
			o->seconds = v;
		else if (c == 'q' && *end == '\0' && v >= 64 && v <= 4096 &&
			 ((unsigned)v & ((unsigned)v - 1)) == 0)
			o->ring_size = (unsigned)v;
		else if (c == 'f' && *end == '\0' && v >= 1 && v <= FRAMES_MAX)
			o->frames = (unsigned)v;
		else {
			fprintf(stderr, "mrc-bench: %s: not a value this option takes\n", optarg);
			return -1;
		}
	}
	if (optind != argc) {
		fprintf(stderr, "mrc-bench: %s: unexpected\n", argv[optind]);
		return -1;
	}
	return 0;
}

/* The first two CPUs this process may run on. @return how many there are, at most 2 */
static unsigned
cpus_find(unsigned cpu[2])
{
	cpu_set_t set;
	unsigned n = 0;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 0;
	for (unsigned i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &set))
			cpu[n++] = i;
	return n;
}

static bool
hugepages_free(void)
{
	char line[128];
	unsigned long pages = 0, kib = 0;
	FILE *f = fopen("/proc/meminfo", "r");

	if (f == NULL)
		return false;
	while (fgets(line, sizeof(line), f) != NULL) {
		sscanf(line, "HugePages_Free: %lu", &pages);
		sscanf(line, "Hugepagesize: %lu", &kib);
	}
	fclose(f);
	return pages * kib >= strtoul(EAL_MB, NULL, 10) * 1024;
}

/*
 * Never without --no-pci: EAL would take hold of the machine's own NIC. EAL makes a runtime folder
 * even when told to share nothing. It stays empty, so it goes at once; a Ctrl-C waits until it is
 * gone.
 */
static int
eal_start(char *argv0, const unsigned cpu[2], unsigned cpus)
{
	char lcores[64], prefix[64];
	char no_pci[] = "--no-pci", no_telemetry[] = "--no-telemetry",
	     quiet[] = "--log-level=lib.*:error", simd[] = "--force-max-simd-bitwidth=512",
	     mb[] = "-m" EAL_MB, in_memory[] = "--in-memory", no_huge[] = "--no-huge",
	     no_shconf[] = "--no-shconf";
	char *argv[] = {argv0, lcores, prefix, no_pci, no_telemetry, quiet, simd, mb, no_huge,
		no_shconf, NULL};
	int argc = 10, rc;
	sigset_t stop, before;

	if (cpus == 2)
		snprintf(lcores, sizeof(lcores), "--lcores=0@%u,1@%u", cpu[0], cpu[1]);
	else
		snprintf(lcores, sizeof(lcores), "--lcores=0@%u", cpu[0]);
	snprintf(prefix, sizeof(prefix), "--file-prefix=mrc-bench-%d", (int)getpid());
	if (hugepages_free()) {
		argv[8] = in_memory;
		argc = 9;
	}
	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGTERM);
	sigprocmask(SIG_BLOCK, &stop, &before);
	rc = rte_eal_init(argc, argv);
	if (rc >= 0)
		rmdir(rte_eal_get_runtime_dir());
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static int
double_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
rows_print(struct row *rows, unsigned n, bool json)
{
	for (unsigned i = 0; i < n; i++) {
		struct row *r = &rows[i];
		double median;

		if (r->n == 0)
			continue;
		qsort(r->gbps, r->n, sizeof(r->gbps[0]), double_compare);
		median = (r->gbps[(r->n - 1) / 2] + r->gbps[r->n / 2]) / 2;
		if (json)
			printf("{\"name\": \"%s\", \"value\": %.2f, \"unit\": \"Gb/s\", \"limit\": "
			       "null, "
			       "\"ratio\": null}\n",
				r->name, median);
		else
			printf("%-20s %8.1f Gb/s   (%.1f .. %.1f in %u rounds)\n", r->name, median,
				r->gbps[0], r->gbps[r->n - 1], r->n);
	}
}

static int
rounds_run(const struct options *o, const struct crc_alg *crc)
{
	struct bare_params params = {
		.crc = crc->fn, .ring_size = o->ring_size, .frames = o->frames};
	struct row rows[2] = {{.name = "bare_one_core"}, {.name = "bare_two_cores"}};
	unsigned rx_lcore = rte_get_next_lcore(-1, 1, 0);
	uint64_t duration_ns = (uint64_t)(o->seconds * 1e9);
	struct bare *b = bare_create(&params);
	bool ok = true;

	if (b == NULL) {
		fprintf(stderr, "mrc-bench: no memory for frames: %s\n", rte_strerror(rte_errno));
		return 1;
	}
	for (unsigned i = 0; i < o->rounds && ok; i++) {
		ok = (rows[0].gbps[rows[0].n++] = bare_one_core(b, duration_ns)) > 0;
		if (ok && rx_lcore < RTE_MAX_LCORE)
			ok = (rows[1].gbps[rows[1].n++] =
					     bare_two_cores(b, rx_lcore, duration_ns)) > 0;
	}
	bare_destroy(b);
	if (!ok) {
		fprintf(stderr, "mrc-bench: a frame was damaged or lost: figures not printed\n");
		return 1;
	}
	if (rx_lcore >= RTE_MAX_LCORE)
		fprintf(stderr, "mrc-bench: one CPU only: no bare_two_cores\n");
	rows_print(rows, 2, o->json);
	return 0;
}

int
main(int argc, char **argv)
{
	const struct crc_alg *crc, *all;
	struct options o;
	unsigned cpu[2], cpus, algs;
	int rc = options_parse(argc, argv, &o);

	if (rc != 0) {
		fputs(usage, rc > 0 ? stdout : stderr);
		return rc > 0 ? 0 : 2;
	}
	cpus = cpus_find(cpu);
	if (cpus == 0 || eal_start(argv[0], cpu, cpus) < 0) {
		fprintf(stderr, "mrc-bench: EAL did not start: %s\n", rte_strerror(rte_errno));
		return 1;
	}
	crc = crc_choose(&all, &algs);
	if (crc == NULL) {
		fprintf(stderr, "mrc-bench: two CRC-32 implementations disagree\n");
		rte_eal_cleanup();
		return 1;
	}
	for (unsigned i = 0; i < algs && !o.json; i++)
		printf("crc-32  %-24s %8.1f Gb/s%s\n", all[i].name, all[i].gbps,
			&all[i] == crc ? "  taken" : "");
	rc = rounds_run(&o, crc);
	rte_eal_cleanup();
	return rc;
}
