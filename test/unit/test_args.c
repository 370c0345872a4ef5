/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon's arguments: what each sets, and one line for each refusal.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include <rte_log.h>

#include "args.h"
#include "mrc_check.h"

#define ARGV_MAX 80

static struct args a;
static char err[512];

/* Splits a line at spaces, as a shell would without quotes. */
static int
parse(const char *line)
{
	static char copy[2048];
	char *argv[ARGV_MAX + 1], *save, *p;
	int argc = 0;

	snprintf(copy, sizeof(copy), "dpdk-mrc %s", line);
	for (p = strtok_r(copy, " ", &save); p != NULL && argc < ARGV_MAX;
		p = strtok_r(NULL, " ", &save))
		argv[argc++] = p;
	argv[argc] = NULL;
	err[0] = '\0';
	return args_parse(argc, argv, &a, err, sizeof(err));
}

START_TEST(a_configuration_alone_runs_with_defaults)
{
	ck_assert_int_eq(parse("x.json"), 0);
	ck_assert_int_eq(a.mode, ARGS_RUN);
	ck_assert_str_eq(a.config, "x.json");
	ck_assert_uint_eq(a.scripts_n, 0);
	ck_assert(!a.interactive && !a.no_input && !a.no_huge);
	ck_assert_ptr_null(a.pcap_dir);
	ck_assert_uint_eq(a.pcap_snaplen_bytes, 256);
	ck_assert_uint_eq(a.log_level, RTE_LOG_WARNING);
	ck_assert_ptr_null(a.job.file);
}
END_TEST

START_TEST(scripts_keep_their_order_and_kind)
{
	ck_assert_int_eq(parse("-c x --cmd one --cmd-file two --cmd three -i"), 0);
	ck_assert_uint_eq(a.scripts_n, 3);
	ck_assert_str_eq(a.scripts[0].text, "one");
	ck_assert_str_eq(a.scripts[1].text, "two");
	ck_assert_str_eq(a.scripts[2].text, "three");
	ck_assert(!a.scripts[0].is_file && a.scripts[1].is_file && !a.scripts[2].is_file);
	ck_assert(a.interactive);
}
END_TEST

START_TEST(a_transfer_with_a_fault_is_read)
{
	ck_assert_int_eq(
		parse("-c x --send f --from A --to B --out o --min-seconds 15.5 "
		      "--fault plane=2,down=30,up=60 --pcap d --pcap-snaplen 128 --no-huge"),
		0);
	ck_assert_str_eq(a.job.file, "f");
	ck_assert_str_eq(a.job.from, "A");
	ck_assert_str_eq(a.job.to, "B");
	ck_assert_str_eq(a.job.out, "o");
	ck_assert_double_eq(a.job.min_s, 15.5);
	ck_assert(a.job.fault_set);
	ck_assert_uint_eq(a.job.fault.plane, 1); /* from 0 inside */
	ck_assert_double_eq(a.job.fault.down_pct, 30);
	ck_assert_double_eq(a.job.fault.up_pct, 60);
	ck_assert_str_eq(a.pcap_dir, "d");
	ck_assert_uint_eq(a.pcap_snaplen_bytes, 128);
	ck_assert(a.no_huge);
}
END_TEST

START_TEST(a_fault_without_up_lasts)
{
	ck_assert_int_eq(parse("x --send f --from A --to B --fault down=0,plane=13"), 0);
	ck_assert_uint_eq(a.job.fault.plane, 12);
	ck_assert(isinf(a.job.fault.up_pct));
}
END_TEST

START_TEST(modes_need_no_more_than_they_use)
{
	ck_assert_int_eq(parse("--help"), 0);
	ck_assert_int_eq(a.mode, ARGS_HELP);
	ck_assert_int_eq(parse("-h"), 0);
	ck_assert_int_eq(a.mode, ARGS_HELP);
	ck_assert_int_eq(parse("--version"), 0);
	ck_assert_int_eq(a.mode, ARGS_VERSION);
	ck_assert_int_eq(parse("--config-help"), 0);
	ck_assert_int_eq(a.mode, ARGS_CONFIG_HELP);
	ck_assert_int_eq(parse("--check x"), 0);
	ck_assert_int_eq(a.mode, ARGS_CHECK);
	ck_assert_int_eq(parse("x --log-level debug"), 0);
	ck_assert_uint_eq(a.log_level, RTE_LOG_DEBUG);
	ck_assert_int_eq(parse("x --log-level 6"), 0);
	ck_assert_uint_eq(a.log_level, RTE_LOG_NOTICE);
}
END_TEST

#define JOB "x --send f --from A --to B "

static const struct {
	const char *line, *said;
} bad[] = {
	{"", "no configuration"},
	{"--check", "no configuration"},
	{"x y", "y: one configuration too many"},
	{"-c x y", "y: one configuration too many"},
	{"-c", "-c: needs a value"},
	{"x --cmd", "--cmd: needs a value"},
	{"x --frobnicate", "--frobnicate: unknown option"},
	{"x -q", "-q: unknown option"},
	{"x --check=yes", "--check=yes: unknown option, or one that takes no value"},
	{"x --pcap-snaplen 63", "--pcap-snaplen: '63', allowed: 64 .. "},
	{"x --pcap-snaplen 1e3", "--pcap-snaplen: '1e3'"},
	{"x --pcap-snaplen -100", "--pcap-snaplen: '-100'"},
	{"x --log-level loud", "--log-level: 'loud', allowed: emergency .. debug or 1 .. 8"},
	{"x --log-level 9", "--log-level: '9'"},
	{"x -i --no-input", "exclude each other"},
	{"x --out o", "belong to --send"},
	{"x --fault plane=1,down=3", "belong to --send"},
	{"x --send f --from A", "--send: needs --from NODE and --to NODE"},
	{JOB "--min-seconds -1", "--min-seconds: '-1', allowed: 0 .. 86400"},
	{JOB "--min-seconds nan", "--min-seconds: 'nan'"},
	{JOB "--fault plane=0,down=3", "--fault: 'plane=0,down=3', allowed: plane=N"},
	{JOB "--fault plane=14,down=3", "--fault:"},
	{JOB "--fault plane=2", "--fault:"},
	{JOB "--fault down=2", "--fault:"},
	{JOB "--fault plane=2,down=60,up=30", "--fault:"},
	{JOB "--fault plane=2,down=60,up=60", "--fault:"},
	{JOB "--fault plane=2,down=101", "--fault:"},
	{JOB "--fault plane=2,down=3,left=1", "--fault:"},
	{JOB "--fault plane=2.5,down=3", "--fault:"},
};

START_TEST(bad_arguments_end_in_one_line)
{
	ck_assert_int_eq(parse(bad[_i].line), -EINVAL);
	ck_assert_msg(strstr(err, bad[_i].said) != NULL, "'%s' says '%s'", bad[_i].line, err);
	ck_assert_ptr_null(strchr(err, '\n'));
}
END_TEST

START_TEST(too_many_scripts_are_refused)
{
	char *argv[2 * ARGS_SCRIPTS_MAX + 5], name[] = "dpdk-mrc", x[] = "x", cmd[] = "--cmd",
					      quit[] = "quit";
	int argc = 0, i;

	argv[argc++] = name;
	argv[argc++] = x;
	for (i = 0; i <= ARGS_SCRIPTS_MAX; i++) {
		argv[argc++] = cmd;
		argv[argc++] = quit;
	}
	argv[argc] = NULL;
	ck_assert_int_eq(args_parse(argc - 2, argv, &a, err, sizeof(err)), 0);
	ck_assert_uint_eq(a.scripts_n, ARGS_SCRIPTS_MAX);
	ck_assert_int_eq(args_parse(argc, argv, &a, err, sizeof(err)), -EINVAL);
}
END_TEST

static Suite *
args_suite(void)
{
	Suite *s = suite_create("args");
	TCase *t = tcase_create("args");

	tcase_add_test(t, a_configuration_alone_runs_with_defaults);
	tcase_add_test(t, scripts_keep_their_order_and_kind);
	tcase_add_test(t, a_transfer_with_a_fault_is_read);
	tcase_add_test(t, a_fault_without_up_lasts);
	tcase_add_test(t, modes_need_no_more_than_they_use);
	tcase_add_loop_test(t, bad_arguments_end_in_one_line, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(t, too_many_scripts_are_refused);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(args_suite)
