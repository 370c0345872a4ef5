/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator: a flow alone takes what the closed form says; one seed gives one output; loads and
 * faults stay within bounds that a wrong transport or network would miss; every byte arrives.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mrc_check.h"
#include "sim.h"

static struct sim_opts opts;

static void
set(const char *name, const char *value)
{
	char err[256];

	ck_assert_msg(sim_opts_set(&opts, name, value, err, sizeof(err)) == 0, "%s", err);
}

/* Name and value in turn, NULL at the end. */
static struct sim *
sim_of(const char *const *words)
{
	char err[512];
	struct sim *s;

	sim_opts_init(&opts);
	for (; words[0] != NULL; words += 2)
		set(words[0], words[1]);
	ck_assert_msg(sim_opts_finish(&opts, err, sizeof(err)) == 0, "%s", err);
	ck_assert_msg(sim_create(&opts, &s, err, sizeof(err)) == 0, "%s", err);
	return s;
}

static double
last_fct_ns(const struct sim *s)
{
	uint64_t last = 0;

	for (unsigned i = 0; i < s->flows_n; i++)
		if (s->flows[i].done_ns > last)
			last = s->flows[i].done_ns;
	return (double)last;
}

/* Last FCT over what the network could do at best. */
static double
ratio(const char *const *words)
{
	struct sim *s = sim_of(words);
	double r;

	ck_assert(sim_run(s));
	r = last_fct_ns(s) / sim_bound_ns(s);
	sim_destroy(s);
	return r;
}

/* ---- alone ---- */

static const struct {
	const char *gbps, *hosts, *bytes, *map;
	double fct_us;
} alone[] = {
	{"100", "16", "2097152", "hash", 179.412},
	{"100", "16", "2097152", "srv6", 179.412},
	{"400", "16", "2097152", "hash", 50.853},
	{"100", "8", "2097152", "hash", 174.737},
	{"400", "8", "2097152", "hash", 46.684},
	/* one packet: 4 x 332.8 ns, 8 x 1000 ns, 4 x 5.12 ns; one byte: 65 B on each link */
	{"100", "16", "4096", "hash", 9.35168},
	{"100", "16", "1", "hash", 8.04128},
	/* 4 full packets and a short one of 1 + 64 B behind them */
	{"100", "16", "16385", "hash", 10.35528},
};

START_TEST(a_flow_alone_takes_what_the_closed_form_says)
{
	struct sim *s = sim_of((const char *[]){"experiment", "single", "wire-overhead", "64",
		"gbps", alone[_i].gbps, "hosts", alone[_i].hosts, "bytes", alone[_i].bytes,
		"ev-map", alone[_i].map, NULL});
	double packet_ns = sim_packet_ns(s, 4096);

	ck_assert_double_lt(fabs(sim_bound_ns(s) - alone[_i].fct_us * 1e3), 1.0);
	ck_assert(sim_run(s));
	ck_assert_double_lt(fabs(last_fct_ns(s) - alone[_i].fct_us * 1e3), packet_ns);
	sim_destroy(s);
}
END_TEST

START_TEST(the_base_rtt_is_that_of_one_packet)
{
	struct sim *s = sim_of((const char *[]){"wire-overhead", "64", NULL});

	ck_assert_double_lt(fabs(s->base_rtt_ns - 9351.68), 0.01);
	ck_assert_uint_eq(s->bdp_bytes, 116896);
	sim_destroy(s);
}
END_TEST

/* ---- one seed, one output ---- */

/* @return the report without its wall_s; to be freed */
static char *
report(const char *seed, const char *experiment)
{
	struct sim *s = sim_of((const char *[]){"experiment", experiment, "bytes", "262144",
		"hosts", "32", "evs", "32", "seed", seed, "loss", "0.003", "json", "on", NULL});
	char *text, *wall;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(f);
	ck_assert(sim_run(s));
	sim_report(s, f, -1, 0.001 * (double)(rand() % 1000));
	fclose(f);
	wall = strstr(text, "\"wall_s\"");
	ck_assert_ptr_nonnull(wall);
	*wall = '\0';
	sim_destroy(s);
	return text;
}

static const char *const determined[] = {"perm", "incast", "allreduce", "evloss"};

START_TEST(one_seed_gives_one_output)
{
	char *a = report("7", determined[_i]), *b = report("7", determined[_i]);
	char *c = report("8", determined[_i]);

	ck_assert_str_eq(a, b);
	ck_assert_str_ne(a, c);
	free(a);
	free(b);
	free(c);
}
END_TEST

/* ---- loads: what last FCT over the bound may be, each way round ---- */

static const struct {
	const char *experiment, *lb;
	double min, max;
} loads[] = {
	{"shift", "mrc", 1.0, 1.10},
	{"shift", "oblivious", 1.03, 1.24},
	{"shift", "single", 2.8, 4.8},
	{"incast", "mrc", 1.0, 1.03},
	{"slow", "oblivious", 1.6, 2.4},
};

START_TEST(a_load_stays_within_its_bounds)
{
	double r = ratio((const char *[]){"experiment", loads[_i].experiment, "wire-overhead", "64",
		"lb", loads[_i].lb, "seed", "13", NULL});

	ck_assert_double_ge(r, loads[_i].min);
	ck_assert_double_le(r, loads[_i].max);
}
END_TEST

/* ---- bytes ---- */

static const char *const carried[][6] = {
	{"shift"},
	{"perm", "loss", "0.01"},
	{"incast", "trim", "off"},
	{"alltoall", "planes", "4"},
	{"allreduce", "planes", "2"},
	{"evloss", "ev-loss", "3:0.5"},
	{"slow", "ev-map", "srv6"},
};

START_TEST(every_byte_arrives)
{
	const char *words[] = {"experiment", carried[_i][0], "verify", "on", "hosts", "16",
		"hosts-per-leaf", "4", "spines", "4", "evs", "16", "incast", "5", "bytes", "123457",
		carried[_i][2] != NULL ? carried[_i][1] : NULL, carried[_i][2], NULL};
	struct sim *s = sim_of(words);

	ck_assert(sim_run(s));
	for (unsigned i = 0; i < s->flows_n; i++)
		ck_assert(s->flows[i].recv.map != NULL && sim_payload_ok(&s->flows[i]));
	sim_destroy(s);
}
END_TEST

START_TEST(payload_or_not_the_run_is_the_same)
{
	double fct[2];

	for (unsigned v = 0; v < 2; v++) {
		struct sim *s = sim_of((const char *[]){"experiment", "perm", "hosts", "16",
			"hosts-per-leaf", "4", "spines", "4", "bytes", "300000", "evs", "16",
			"verify", v ? "on" : "off", NULL});

		ck_assert(sim_run(s));
		fct[v] = last_fct_ns(s);
		sim_destroy(s);
	}
	ck_assert_double_eq(fct[0], fct[1]);
}
END_TEST

START_TEST(frames_all_come_back_to_their_pool)
{
	struct sim *s = sim_of((const char *[]){
		"experiment", "incast", "loss", "0.01", "hosts", "16", "bytes", "200000", NULL});
	unsigned size = s->pool->size;

	ck_assert(sim_run(s));
	mrc_fabric_destroy(s->fab);
	s->fab = NULL;
	sim_hosts_free(s);
	free(s->hosts);
	s->hosts = NULL;
	ck_assert_uint_eq(rte_mempool_avail_count(s->pool), size);
	sim_destroy(s);
}
END_TEST

/* ---- options ---- */

static const struct {
	const char *name, *value, *says;
} refused[] = {
	{"hosts", "1", "2 to 65536"},
	{"hosts", "many", "whole number"},
	{"hosts", "64.5", "whole number"},
	{"hosts", "-3", "whole number"},
	{"gbps", "0", "0.001 to 10000"},
	{"gbps", "nan", "a number"},
	{"lb", "best", "mrc, oblivious, single"},
	{"slow-spine", "0", "K:F"},
	{"slow-spine", "0:2", "K:F"},
	{"blackhole-spine", "0:50", "K@US"},
	{"plane-down", "1@50:40", "P@US[:US]"},
	{"plane-down", "1@50:60x", "P@US[:US]"},
	{"bytes", "3e9", "1 to 2147483648"},
	{"no-such", "1", "no such option"},
};

START_TEST(a_wrong_option_is_refused_with_what_is_allowed)
{
	char err[256];

	sim_opts_init(&opts);
	ck_assert_int_lt(
		sim_opts_set(&opts, refused[_i].name, refused[_i].value, err, sizeof(err)), 0);
	ck_assert_msg(strstr(err, refused[_i].says) != NULL, "%s", err);
	ck_assert_msg(strstr(err, refused[_i].name) != NULL, "%s", err);
}
END_TEST

static const char *const contradictions[][5] = {
	{"hosts", "60"},
	{"mtu", "3000"},
	{"experiment", "incast", "incast", "64"},
	{"slow-spine", "8:0.5"},
	{"plane-down", "2@5"},
	{"evs", "900"},
	{"evs", "4", "planes", "8"},
	{"ev-loss", "128:0.5"},
};

START_TEST(options_that_contradict_each_other_are_refused)
{
	char err[256];

	sim_opts_init(&opts);
	for (unsigned i = 0; contradictions[_i][i] != NULL; i += 2)
		set(contradictions[_i][i], contradictions[_i][i + 1]);
	ck_assert_int_lt(sim_opts_finish(&opts, err, sizeof(err)), 0);
	ck_assert_uint_gt(strlen(err), 10);
}
END_TEST

START_TEST(an_experiment_changes_defaults_but_not_what_was_given)
{
	char err[256];

	sim_opts_init(&opts);
	set("experiment", "blackhole");
	set("bytes", "1000");
	ck_assert_int_eq(sim_opts_finish(&opts, err, sizeof(err)), 0);
	ck_assert_double_eq(opts.bytes, 1000);
	ck_assert_uint_eq(opts.blackhole_spine.index, 0);
	ck_assert_double_eq(opts.blackhole_spine.a, 50);
	ck_assert_uint_eq(opts.backup_evs, 32);
}
END_TEST

#define TABLE(t, fn, a) tcase_add_loop_test(t, fn, 0, (int)(sizeof(a) / sizeof((a)[0])))

static Suite *
suite(void)
{
	Suite *s = suite_create("sim");
	TCase *t = tcase_create("sim");

	tcase_set_timeout(t, 240);
	TABLE(t, a_flow_alone_takes_what_the_closed_form_says, alone);
	tcase_add_test(t, the_base_rtt_is_that_of_one_packet);
	TABLE(t, one_seed_gives_one_output, determined);
	TABLE(t, a_load_stays_within_its_bounds, loads);
	TABLE(t, every_byte_arrives, carried);
	tcase_add_test(t, payload_or_not_the_run_is_the_same);
	tcase_add_test(t, frames_all_come_back_to_their_pool);
	TABLE(t, a_wrong_option_is_refused_with_what_is_allowed, refused);
	TABLE(t, options_that_contradict_each_other_are_refused, contradictions);
	tcase_add_test(t, an_experiment_changes_defaults_but_not_what_was_given);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	SRunner *r = srunner_create(suite());
	int failed;

	/* the largest runs: 16 hosts with payload on 4 planes, 64 without on one */
	if (sim_eal_start(640) < 0)
		return 1;
	srunner_set_fork_status(r, CK_NOFORK);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	sim_eal_stop();
	return failed != 0;
}
