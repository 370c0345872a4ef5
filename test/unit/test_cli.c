/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line: syntaxes, arguments, refusals, scripts, pipes and a terminal.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli.h"
#include "mrc_check.h"

#define POLLS_MAX 1000

static char last[256]; /* what the last command saw */

static int
cmd_show(struct cli *cli, const struct cli_args *a)
{
	snprintf(last, sizeof(last), "conn %u%s%s", cli_u32(a, "id"),
		cli_is(a, "stats") ? " stats" : "", cli_is(a, "state") ? " state" : "");
	cli_printf(cli, "shown %u\n", cli_u32(a, "id"));
	return 0;
}

static int
cmd_set(struct cli *cli, const struct cli_args *a)
{
	snprintf(last, sizeof(last), "%s %llu %g %s", cli_str(a, "name"),
		(unsigned long long)cli_u64(a, "size"), cli_f64(a, "rate"), cli_str(a, "out"));
	return 0;
}

static int
cmd_fail(struct cli *cli, const struct cli_args *a)
{
	cli_printf(cli, "no\n");
	return -EIO;
}

static int
cmd_twin(struct cli *cli, const struct cli_args *a)
{
	return 0;
}

static int
cmd_user(struct cli *cli, const struct cli_args *a)
{
	++*(int *)cli_user(cli);
	return 0;
}

/* Done at the third call; fails if told so. */
static int
countdown(struct cli *cli, void *ctx)
{
	int *n = ctx;

	return *n < 0 ? -EIO : (*n)-- > 0;
}

static int work;

static int
cmd_work(struct cli *cli, const struct cli_args *a)
{
	work = cli_is(a, "well") ? 3 : -1;
	cli_wait(cli, countdown, &work);
	return 0;
}

static const struct cli_row rows[] = {
	{"show conn <id:u32> (stats|state)", "one connection", cmd_show},
	{"show conn <id:u32> all", "one connection", cmd_twin},
	{"show plane", "planes", cmd_twin},
	{"show ev", "EVs", cmd_twin},
	{"show ev <node:str>", "of a node", cmd_twin},
	{"show ev <node:str> plane <plane:u32>", "of a node and plane", cmd_twin},
	{"set <name:str> <size:u64> <rate:f64> <out:file>",
		"every kind of value, and a help text that is far too long for one line", cmd_set},
	{"fail", "fails", cmd_fail},
	{"twin <a:u32>", "ambiguous", cmd_twin},
	{"twin <b:str>", "ambiguous", cmd_twin},
	{"count", "counts in the user's data", cmd_user},
	{"work (well|badly)", "takes time", cmd_work},
};

struct bed {
	struct cli *cli;
	int out; /* a memfd */
	int in;	 /* the end to write commands to; -1: none */
	int in_cli;
	int user;
};

static void
bed_open(struct bed *b, bool input)
{
	int fds[2] = {-1, -1};

	*b = (struct bed){.out = memfd_create("out", MFD_CLOEXEC), .in = -1, .in_cli = -1};
	ck_assert_int_ge(b->out, 0);
	if (input)
		ck_assert_int_eq(pipe(fds), 0);
	b->in_cli = fds[0];
	b->in = fds[1];
	last[0] = '\0';
	ck_assert_int_eq(cli_new(b->in_cli, b->out, "> ", &b->user, &b->cli), 0);
}

static void
bed_close(struct bed *b)
{
	cli_free(b->cli);
	close(b->out);
	if (b->in_cli >= 0)
		close(b->in_cli);
	if (b->in >= 0)
		close(b->in);
}

static const char *
bed_out(struct bed *b)
{
	static char text[65536];
	ssize_t n = pread(b->out, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* Polls to the end of input. */
static enum cli_state
bed_run(struct bed *b)
{
	enum cli_state s = CLI_RUNNING;
	unsigned i;

	for (i = 0; i < POLLS_MAX && s == CLI_RUNNING; i++)
		s = cli_poll(b->cli, 1);
	ck_assert_int_ne(s, CLI_RUNNING);
	return s;
}

static void
setup(void)
{
	ck_assert_int_eq(cli_register(rows, sizeof(rows) / sizeof(rows[0])), 0);
}

/* A line; what the command saw; what was said; failures. */
static const struct {
	const char *line, *seen, *said;
	unsigned failures;
} lines[] = {
	{"show conn 7 stats", "conn 7 stats", "shown 7\n", 0},
	{"  show   conn\t0x1F state  # words", "conn 31 state", "shown 31\n", 0},
	{"show conn 4294967295 stats\r", "conn 4294967295 stats", "shown 4294967295\n", 0},
	{"set a 18446744073709551615 0.5 /tmp/a.b", "a 18446744073709551615 0.5 /tmp/a.b", "", 0},
	{"", "", "", 0},
	{"   ", "", "", 0},
	{"# a comment", "", "", 0},
	{"show conn 4294967296 stats", "",
		"show conn: '4294967296' is out of range, allowed: <id> 0 .. 4294967295\n", 1},
	{"show conn 0x100000000 stats", "", "show conn: '0x100000000' is out of range, ", 1},
	{"show conn -1 stats", "", "show conn: '-1' is no number, allowed: <id> 0 .. 4294967295\n",
		1},
	{"show conn 7x stats", "", "show conn: '7x' is no number, ", 1},
	{"show conn 0x stats", "", "show conn: '0x' is no number, ", 1},
	{"show  conn 7\tstat # s", "", "show conn 7: 'stat' is unknown, allowed: stats|state|all\n",
		1},
	{"show conn 7 stats|state", "", "show conn 7: 'stats|state' is unknown, ", 1},
	{"show conn 7", "", "show conn 7: what? stats|state|all\n", 1},
	{"show conn 7 stats more", "", "show conn 7 stats: 'more' is one word too many\n", 1},
	{"show", "", "show: what? conn|plane|ev\n", 1},
	{"show planet", "", "show: 'planet' is unknown, allowed: conn|plane|ev\n", 1},
	{"show ev A plane", "", "show ev A plane: what? <plane> 0 .. 4294967295\n", 1},
	{"show ev A plain 1", "", "show ev A: 'plain' is unknown, allowed: plane\n", 1},
	{"set a 18446744073709551616 0.5 b", "",
		"set a: '18446744073709551616' is out of range, allowed: <size> 0 .. "
		"18446744073709551615\n",
		1},
	{"set a 1 nan b", "", "set a 1: 'nan' is no number that fits, allowed: <rate> a number\n",
		1},
	{"set a 1 1e999 b", "", "set a 1: '1e999' is no number that fits, ", 1},
	{"fail a b c d e f g h i j k l m n o p q r s t u v w x y z", "",
		"fail: 'a' is one word too many\n", 1},
	{"sho conn 7 stats", "", "Command not found: sho conn 7 stats\n", 1},
	{"shows", "", "Command not found: shows\n", 1},
	{"twin 5", "", "Ambiguous command: twin 5\n  twin <a:u32>\n  twin <b:str>\n", 1},
	{"twin x", "", "", 0},
	{"fail", "", "no\n", 1},
	{"help nothing", "", "No command begins with 'nothing'\n", 1},
	{"help sho", "", "  show conn <id:u32> (stats|state) ", 0},
	{"version", "", "dpdk-mrc ", 0},
};

START_TEST(a_line_runs_its_command_or_says_what_is_wrong)
{
	struct bed b;

	bed_open(&b, false);
	ck_assert_int_eq(cli_queue(b.cli, lines[_i].line), 0);
	ck_assert_int_eq(bed_run(&b), CLI_EOF);
	ck_assert_str_eq(last, lines[_i].seen);
	ck_assert_msg(strncmp(bed_out(&b), lines[_i].said, strlen(lines[_i].said)) == 0, "%s: %s",
		lines[_i].line, bed_out(&b));
	ck_assert_uint_eq(cli_failures(b.cli), lines[_i].failures);
	bed_close(&b);
}
END_TEST

START_TEST(syntaxes_that_cannot_be_read_are_refused)
{
	static const char *const syntax[] = {"", "<id:u32>", "(a|b)", "x <id>", "x <id:u99>",
		"x <:u32>", "x (a|b", "x <id:u32", "a b c d e f g h i j k l m n o p q",
		"x <a:u32> <b:u32> <c:u32> <d:u32> <e:u32> <f:u32> <g:u32> <h:u32>"};
	unsigned i;

	for (i = 0; i < sizeof(syntax) / sizeof(syntax[0]); i++) {
		const struct cli_row row = {syntax[i], "bad", cmd_twin};

		ck_assert_msg(cli_register(&row, 1) == -EINVAL, "%s", syntax[i]);
	}
}
END_TEST

#define HELP "                                               "

START_TEST(help_lists_every_command_once)
{
	struct bed b;
	const char *p, *out;
	unsigned n = 0;

	bed_open(&b, false);
	ck_assert_int_eq(cli_queue(b.cli, "help"), 0);
	bed_run(&b);
	out = bed_out(&b);
	ck_assert_ptr_nonnull(strstr(out, "  quit "));
	ck_assert_ptr_nonnull(strstr(out, "  sleep <ms:u32> "));
	for (p = out; (p = strstr(p, "show plane")) != NULL; p++)
		n++;
	ck_assert_uint_eq(n, 1);
	/* Two columns, a hundred characters: the second begins where a syntax is wide, too. */
	for (p = out; *p != '\0'; p += strcspn(p, "\n") + 1) {
		ck_assert_uint_le(strcspn(p, "\n"), 100);
		ck_assert(strncmp(p, "  ", 2) == 0);
	}
	ck_assert_ptr_nonnull(
		strstr(out, "  set <name:str> <size:u64> <rate:f64> <out:file>\n" HELP
			    "every kind of value, and a help text that is far too\n" HELP
			    "long for one line\n"));
	bed_close(&b);
}
END_TEST

START_TEST(a_script_goes_on_after_a_failure_and_counts_it)
{
	struct bed b;

	bed_open(&b, false);
	ck_assert_int_eq(cli_queue(b.cli, "count\nfail\nbogus\ncount\n"), 0);
	ck_assert_int_eq(cli_queue(b.cli, "count"), 0);
	ck_assert_int_eq(bed_run(&b), CLI_EOF);
	ck_assert_int_eq(b.user, 3);
	ck_assert_uint_eq(cli_failures(b.cli), 2);
	bed_close(&b);
}
END_TEST

START_TEST(scripts_come_from_files_too)
{
	char name[] = "/tmp/mrc-cli-XXXXXX";
	int fd = mkstemp(name);
	struct bed b;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "# three\ncount\ncount\n\ncount", 26), 26);
	close(fd);
	bed_open(&b, false);
	ck_assert_int_eq(cli_queue_file(b.cli, name), 0);
	unlink(name);
	ck_assert_int_eq(cli_queue_file(b.cli, name), -ENOENT);
	ck_assert_int_eq(cli_queue_file(b.cli, "/"), -EISDIR);
	ck_assert_int_eq(cli_queue_file(b.cli, "/dev/zero"), -EFBIG);
	bed_run(&b);
	ck_assert_int_eq(b.user, 3);
	bed_close(&b);
}
END_TEST

START_TEST(quit_ends_a_session_before_later_lines)
{
	struct bed b;

	bed_open(&b, false);
	ck_assert_int_eq(cli_queue(b.cli, "count\nquit\ncount"), 0);
	ck_assert_int_eq(bed_run(&b), CLI_QUIT);
	ck_assert_int_eq(b.user, 1);
	ck_assert_int_eq(cli_poll(b.cli, 0), CLI_QUIT);
	bed_close(&b);
}
END_TEST

START_TEST(a_command_that_takes_time_holds_back_the_next_but_not_the_caller)
{
	struct bed b;
	unsigned i;

	bed_open(&b, false);
	ck_assert_int_eq(cli_queue(b.cli, "work well\ncount\nwork badly\ncount"), 0);
	for (i = 0; i < 4; i++) {
		ck_assert_int_eq(cli_poll(b.cli, 0), CLI_RUNNING);
		ck_assert_int_eq(b.user, 0);
	}
	ck_assert_int_eq(bed_run(&b), CLI_EOF);
	ck_assert_int_eq(b.user, 2);
	ck_assert_uint_eq(cli_failures(b.cli), 1);
	bed_close(&b);
}
END_TEST

START_TEST(queued_scripts_run_before_the_input)
{
	struct bed b;

	bed_open(&b, true);
	ck_assert_int_eq(write(b.in, "show conn 2 stats\n", 18), 18);
	ck_assert_int_eq(cli_queue(b.cli, "show conn 1 stats"), 0);
	close(b.in);
	b.in = -1;
	ck_assert_int_eq(bed_run(&b), CLI_EOF);
	ck_assert_str_eq(bed_out(&b), "shown 1\nshown 2\n");
	bed_close(&b);
}
END_TEST

START_TEST(a_pipe_may_deliver_lines_in_any_pieces)
{
	static const char text[] = "count\nshow conn 5 state\n\nfail\ncount";
	size_t cut;

	for (cut = 0; cut < sizeof(text); cut++) {
		struct bed b;

		bed_open(&b, true);
		if (cut > 0)
			ck_assert_int_eq(write(b.in, text, cut), (ssize_t)cut);
		ck_assert_int_eq(cli_poll(b.cli, 0), CLI_RUNNING);
		ck_assert_int_eq(write(b.in, text + cut, sizeof(text) - 1 - cut),
			(ssize_t)(sizeof(text) - 1 - cut));
		close(b.in);
		b.in = -1;
		ck_assert_int_eq(bed_run(&b), CLI_EOF);
		ck_assert_int_eq(b.user, 2);
		ck_assert_str_eq(last, "conn 5 state");
		ck_assert_uint_eq(cli_failures(b.cli), 1);
		bed_close(&b);
		if (cut == sizeof(text) - 2)
			break;
	}
}
END_TEST

START_TEST(an_idle_pipe_does_not_hold_the_caller)
{
	struct bed b;

	bed_open(&b, true);
	ck_assert_int_eq(cli_poll(b.cli, 0), CLI_RUNNING);
	ck_assert_int_eq(cli_poll(b.cli, 1), CLI_RUNNING);
	bed_close(&b);
}
END_TEST

START_TEST(lines_too_long_or_with_zero_bytes_are_refused_and_the_next_runs)
{
	static char junk[10000];
	struct bed b;

	memset(junk, 'x', sizeof(junk));
	junk[sizeof(junk) - 1] = '\n';
	bed_open(&b, true);
	ck_assert_int_eq(write(b.in, junk, sizeof(junk)), (ssize_t)sizeof(junk));
	ck_assert_int_eq(write(b.in, "co\0unt\ncount\n", 13), 13);
	close(b.in);
	b.in = -1;
	ck_assert_int_eq(bed_run(&b), CLI_EOF);
	ck_assert_int_eq(b.user, 1);
	ck_assert_uint_ge(cli_failures(b.cli), 2);
	bed_close(&b);
}
END_TEST

/* Types keys at a terminal; the session's output is appended to out until it holds want. */
static bool
type(struct cli *cli, int master, const char *keys, const char *want, char *out, size_t size)
{
	size_t used = 0;
	unsigned i;

	out[0] = '\0';
	ck_assert_int_eq(write(master, keys, strlen(keys)), (ssize_t)strlen(keys));
	for (i = 0; i < POLLS_MAX && strstr(out, want) == NULL; i++) {
		struct pollfd p = {.fd = master, .events = POLLIN};

		cli_poll(cli, 1);
		if (poll(&p, 1, 0) > 0 && used < size - 1) {
			ssize_t n = read(master, out + used, size - 1 - used);

			used += n > 0 ? (size_t)n : 0;
			out[used] = '\0';
		}
	}
	return strstr(out, want) != NULL;
}

START_TEST(a_terminal_has_prompt_completion_and_history)
{
	static char out[16384];
	struct termios before, during, after;
	int master, slave;
	struct cli *cli;
	int user = 0;

	ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, NULL), 0);
	tcgetattr(slave, &before);
	ck_assert_int_eq(cli_new(slave, slave, "mrc> ", &user, &cli), 0);
	tcgetattr(slave, &during);
	ck_assert((during.c_lflag & (ICANON | ECHO)) == 0);
	ck_assert((during.c_lflag & ISIG) != 0);
	ck_assert(type(cli, master, "", "mrc> ", out, sizeof(out)));
	/* One choice is completed; several are listed. */
	ck_assert(type(cli, master, "sh\t", "show ", out, sizeof(out)));
	ck_assert(type(cli, master, "co\t9 sta\t", "stat", out, sizeof(out)));
	ck_assert(type(cli, master, "s\n", "shown 9", out, sizeof(out)));
	ck_assert_str_eq(last, "conn 9 stats");
	last[0] = '\0';
	ck_assert(type(cli, master, "\x1b[A\n", "shown 9", out, sizeof(out)));
	ck_assert_str_eq(last, "conn 9 stats");
	/* Two lines at once, the first of which waits: both run, in order. */
	ck_assert(type(
		cli, master, "work well\ncount\nshow conn 3 state\n", "shown 3", out, sizeof(out)));
	ck_assert_int_eq(user, 1);
	/* A typing error is told, and is no failure of the run. */
	ck_assert(type(cli, master, "bogus\n", "Command not found: bogus", out, sizeof(out)));
	ck_assert_uint_eq(cli_failures(cli), 0);
	ck_assert(type(cli, master, "quit\n", "quit", out, sizeof(out)));
	ck_assert_int_eq(cli_poll(cli, 0), CLI_QUIT);
	cli_free(cli);
	tcgetattr(slave, &after);
	ck_assert_uint_eq(after.c_lflag, before.c_lflag);
	close(master);
	close(slave);
}
END_TEST

/* Keys, the last of them Tab; what the terminal, which adds a return to a line end, shows for them.
 */
static const struct {
	const char *keys, *shows;
} tabs[] = {
	/* Every command once: what comes next where there are several, else its help. */
	{"\t", "  show         conn|plane|ev\r\r\n"},
	{"\t", "  fail         fails\r\r\n"},
	{"\t", "  twin         <a>|<b>\r\r\n"},
	{"pla\t", "\a"}, /* nothing begins with it */
	{"show \t", "  conn         <id>\r\r\n  plane        planes\r\r\n  ev           "
		    "<enter>|<node>\r\r\n"},
	{"show conn \t", "  <id>         stats|state|all\r\r\n"},
	{"show conn 7 \t",
		"  stats        one connection\r\r\n  state        one connection\r\r\n  "
		"all          one connection\r\r\n"},
	{"show ev A\t", "  <node>       <enter>|plane\r\r\n"},
	{"show ev \t", "  <enter>      EVs\r\r\n  <node>       <enter>|plane\r\r\n"},
	{"show p\t", "lane "},
	{"wo\tw\t", "ell "},
	{"show plane \t", "  <enter>      planes\r\r\n"},
	{"fail # co\t", "\a"},
};

START_TEST(tab_completes_a_word_or_lists_what_may_follow_each_once)
{
	static char out[16384];
	int master, slave;
	struct cli *cli;
	bool silent = strcmp(tabs[_i].shows, "\a") == 0;

	ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, NULL), 0);
	ck_assert_int_eq(cli_new(slave, slave, "mrc> ", NULL, &cli), 0);
	ck_assert(type(cli, master, "", "mrc> ", out, sizeof(out)));
	if (silent) {
		/* The next key is the first thing that is shown. */
		ck_assert(type(cli, master, tabs[_i].keys, "", out, sizeof(out)));
		ck_assert(type(cli, master, "@", "@", out, sizeof(out)));
		ck_assert_ptr_null(strchr(out, '\n'));
	} else {
		ck_assert_msg(type(cli, master, tabs[_i].keys, tabs[_i].shows, out, sizeof(out)),
			"%s", out);
	}
	cli_free(cli);
	close(master);
	close(slave);
}
END_TEST

START_TEST(control_d_ends_a_terminal_session)
{
	static char out[16384];
	int master, slave;
	struct cli *cli;

	ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, NULL), 0);
	ck_assert_int_eq(cli_new(slave, slave, "mrc> ", NULL, &cli), 0);
	ck_assert(type(cli, master, "", "mrc> ", out, sizeof(out)));
	type(cli, master, "\x04", "\n", out, sizeof(out));
	ck_assert_int_eq(cli_poll(cli, 0), CLI_EOF);
	cli_free(cli);
	close(master);
	close(slave);
}
END_TEST

static Suite *
cli_suite(void)
{
	Suite *s = suite_create("cli");
	TCase *t = tcase_create("cli");

	tcase_add_unchecked_fixture(t, setup, NULL);
	tcase_add_loop_test(t, a_line_runs_its_command_or_says_what_is_wrong, 0,
		sizeof(lines) / sizeof(lines[0]));
	tcase_add_test(t, syntaxes_that_cannot_be_read_are_refused);
	tcase_add_test(t, help_lists_every_command_once);
	tcase_add_test(t, a_script_goes_on_after_a_failure_and_counts_it);
	tcase_add_test(t, scripts_come_from_files_too);
	tcase_add_test(t, quit_ends_a_session_before_later_lines);
	tcase_add_test(t, a_command_that_takes_time_holds_back_the_next_but_not_the_caller);
	tcase_add_test(t, queued_scripts_run_before_the_input);
	tcase_add_test(t, a_pipe_may_deliver_lines_in_any_pieces);
	tcase_add_test(t, an_idle_pipe_does_not_hold_the_caller);
	tcase_add_test(t, lines_too_long_or_with_zero_bytes_are_refused_and_the_next_runs);
	tcase_add_test(t, a_terminal_has_prompt_completion_and_history);
	tcase_add_loop_test(t, tab_completes_a_word_or_lists_what_may_follow_each_once, 0,
		sizeof(tabs) / sizeof(tabs[0]));
	tcase_add_test(t, control_d_ends_a_terminal_session);
	suite_add_tcase(s, t);
	return s;
}

MRC_CHECK_MAIN(cli_suite)
