/* SPDX-License-Identifier: BSD-3-Clause */
/* What a transfer decides before anything is sent: nodes and planes that fit, units and passes. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "mrc_check.h"
#include "transfer.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct cfg cfg;
static struct daemon d;
static struct transfer t;
static uint8_t bytes[TRANSFER_CHUNK_BYTES];

static void
two_nodes(void)
{
	memset(&cfg, 0, sizeof(cfg));
	strcpy(cfg.file, "x.json");
	strcpy(cfg.nodes[0].name, "A");
	strcpy(cfg.nodes[1].name, "B");
	cfg.nodes_n = 2;
	cfg.planes = 4;
	cfg.link = CFG_LINK_FABRIC;
}

static const struct {
	const char *from, *to;
	int plane; /* 0-based; -1: no fault */
	enum cfg_link_kind link;
	int rc;
	const char *said;
} jobs[] = {
	{"A", "B", -1, CFG_LINK_FABRIC, 0, ""},
	{"B", "A", 3, CFG_LINK_FABRIC, 0, ""},
	{"B", "A", -1, CFG_LINK_RING, 0, ""},
	{"C", "B", -1, CFG_LINK_FABRIC, -ENOENT, "from C: no such node in x.json, allowed: A, B"},
	{"A", "a", -1, CFG_LINK_FABRIC, -ENOENT, "to a: no such node in x.json, allowed: A, B"},
	{"A", "", -1, CFG_LINK_FABRIC, -ENOENT, "to : no such node in x.json, allowed: A, B"},
	{"B", "B", -1, CFG_LINK_FABRIC, -EINVAL, "from and to are both B, allowed: two nodes"},
	{"A", "B", 4, CFG_LINK_FABRIC, -EINVAL, "fault of plane 5, allowed: 1 .. 4"},
	{"A", "B", 0, CFG_LINK_RING, -ENOTSUP,
		"a fault needs a fabric between the nodes (\"link\": \"fabric\" in x.json)"},
};

START_TEST(a_job_is_checked_against_the_configuration)
{
	struct args_job job = {.file = "f", .from = jobs[_i].from, .to = jobs[_i].to};
	char err[256] = "";

	two_nodes();
	cfg.link = jobs[_i].link;
	job.fault_set = jobs[_i].plane >= 0;
	job.fault.plane = job.fault_set ? (unsigned)jobs[_i].plane : 0;
	ck_assert_int_eq(transfer_job_check(&job, &cfg, err, sizeof(err)), jobs[_i].rc);
	ck_assert_str_eq(err, jobs[_i].said);
}
END_TEST

START_TEST(names_that_do_not_fit_are_cut_and_nothing_is_overrun)
{
	struct args_job job = {.file = "f", .from = "nobody", .to = "B"};
	char err[40];

	two_nodes();
	cfg.nodes_n = MRC_NODES_MAX;
	for (unsigned i = 0; i < MRC_NODES_MAX; i++)
		snprintf(cfg.nodes[i].name, sizeof(cfg.nodes[i].name), "node%u", i);
	memset(err, 'x', sizeof(err));
	ck_assert_int_eq(transfer_job_check(&job, &cfg, err, 32), -ENOENT);
	ck_assert_uint_eq(strlen(err), 31);
	ck_assert_mem_eq(err + 32, "xxxxxxxx", 8);
}
END_TEST

static const double sizes[] = {1, 2, 100, 4096, 10000, 524288, 524289, 1048576, 1048577, 67108863,
	67108864, 67108865, 1e9, 5e12};
static const double seconds[] = {1e-9, 0.001, 1, 15, 86400};
static const double rates[] = {0, 0.001, 0.5, 400};

/* What holds of any plan: whole copies, messages of a size, passes that are worth a round trip, and
 * no more than one message a pass beyond what was asked for. */
START_TEST(a_plan_takes_the_time_that_is_asked_for_and_little_more)
{
	double size = sizes[_i / 20], s = seconds[_i / 4 % 5], rate = rates[_i % 4];
	double need = s * rate * 1e9 / 8 * 4, unit, pass;

	two_nodes();
	cfg.cc.rate_gbps = rate;
	d.cfg = &cfg;
	memset(&t, 0, sizeof(t));
	t.d = &d;
	t.job.min_s = s;
	t.file = bytes;
	t.size = (uint64_t)size;
	ck_assert_int_eq(transfer_plan(&t), 0);
	unit = (double)t.unit_bytes;
	pass = (double)t.pass_bytes;
	ck_assert_uint_eq(t.unit_bytes % t.size, 0);
	ck_assert_uint_eq(t.pass_bytes % t.unit_bytes, 0);
	ck_assert_uint_eq(t.planned, t.passes * t.pass_bytes);
	ck_assert_uint_ge(t.passes, 1);
	ck_assert_uint_eq(t.regions_n, TRANSFER_REGIONS);
	ck_assert(unit == size || unit <= TRANSFER_CHUNK_BYTES);
	/* the last bits of need depend on the order of its factors */
	ck_assert_double_ge((double)t.planned, need * (1 - 1e-12));
	if (rate > 0)
		ck_assert_double_lt((double)t.planned, need + (double)(t.passes + 1) * unit);
	/* one pass, or passes of 32 MiB and more: even ones may be smaller than the 64 asked for */
	ck_assert(t.passes == 1 || pass >= (double)(32 << 20));
	ck_assert(pass <= fmax(size, (64 << 20) + unit));
	mrc_region_free(&t.repeated);
}
END_TEST

START_TEST(without_a_least_time_a_file_goes_once_as_it_is)
{
	two_nodes();
	cfg.cc.rate_gbps = 1;
	d.cfg = &cfg;
	memset(&t, 0, sizeof(t));
	t.d = &d;
	t.file = bytes;
	t.size = 1000;
	ck_assert_int_eq(transfer_plan(&t), 0);
	ck_assert_uint_eq(t.unit_bytes, 1000);
	ck_assert_ptr_eq(t.unit, bytes);
	ck_assert_uint_eq(t.planned, 1000);
	ck_assert_uint_eq(t.regions_n, 1);
}
END_TEST

START_TEST(a_unit_is_the_file_again_and_again)
{
	memset(&t, 0, sizeof(t));
	for (unsigned i = 0; i < 300; i++)
		bytes[i] = (uint8_t)(i * 7 + 1);
	t.file = bytes;
	t.size = 300;
	ck_assert_int_eq(transfer_source_repeat(&t, 5), 0);
	ck_assert_uint_eq(t.unit_bytes, 1500);
	for (unsigned i = 0; i < 1500; i++)
		ck_assert_uint_eq(t.unit[i], bytes[i % 300]);
	mrc_region_free(&t.repeated);
}
END_TEST

static Suite *
transfer_suite(void)
{
	Suite *s = suite_create("transfer");
	TCase *c = tcase_create("before it starts");

	tcase_add_loop_test(c, a_job_is_checked_against_the_configuration, 0, COUNT(jobs));
	tcase_add_test(c, names_that_do_not_fit_are_cut_and_nothing_is_overrun);
	tcase_add_loop_test(c, a_plan_takes_the_time_that_is_asked_for_and_little_more, 0,
		COUNT(sizes) * COUNT(seconds) * COUNT(rates));
	tcase_add_test(c, without_a_least_time_a_file_goes_once_as_it_is);
	tcase_add_test(c, a_unit_is_the_file_again_and_again);
	suite_add_tcase(s, c);
	return s;
}

MRC_CHECK_MAIN(transfer_suite)
