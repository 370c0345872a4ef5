/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands that every session has: help, quit, sleep, version.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <rte_version.h>

#include "cli_priv.h"

#define SYNTAX_COLUMNS 44
#define HELP_COLUMNS 52

/* Two columns; a syntax wider than its column has a line of its own, help goes on below itself. */
static void
row_print(struct cli *cli, const struct cli_row *row)
{
	const char *help = row->help, *left = row->syntax;

	if (strlen(left) > SYNTAX_COLUMNS) {
		cli_printf(cli, "  %s\n", left);
		left = "";
	}
	do {
		size_t n = strlen(help);

		if (n > HELP_COLUMNS)
			for (n = HELP_COLUMNS; n > 0 && help[n] != ' ';)
				n--;
		if (n == 0) /* a word wider than the column */
			n = strcspn(help, " ");
		cli_printf(cli, "  %-*s %.*s\n", SYNTAX_COLUMNS, left, (int)n, help);
		help += n + strspn(help + n, " ");
		left = "";
	} while (*help != '\0');
}

static int
cmd_help(struct cli *cli, const struct cli_args *a)
{
	const struct cli_row *row;
	unsigned i;

	for (i = 0; (row = cli_row_get(cli, i)) != NULL; i++)
		row_print(cli, row);
	return 0;
}

static int
cmd_help_word(struct cli *cli, const struct cli_args *a)
{
	const char *word = cli_str(a, "command");
	const struct cli_row *row;
	unsigned i, found = 0;

	for (i = 0; (row = cli_row_get(cli, i)) != NULL; i++) {
		if (strncmp(row->syntax, word, strlen(word)) != 0)
			continue;
		row_print(cli, row);
		found++;
	}
	if (found > 0)
		return 0;
	cli_printf(cli, "No command begins with '%s'\n", word);
	return -ENOENT;
}

static int
cmd_quit(struct cli *cli, const struct cli_args *a)
{
	cli_quit(cli);
	return 0;
}

static uint64_t
clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static int
sleep_done(struct cli *cli, void *ctx)
{
	return clock_ms() < (uint64_t)(uintptr_t)ctx;
}

static int
cmd_sleep(struct cli *cli, const struct cli_args *a)
{
	cli_wait(cli, sleep_done, (void *)(uintptr_t)(clock_ms() + cli_u32(a, "ms")));
	return 0;
}

static int
cmd_version(struct cli *cli, const struct cli_args *a)
{
	cli_printf(cli, "dpdk-mrc %s, %s\n", MRC_VERSION, rte_version());
	return 0;
}

const struct cli_row cli_base_rows[] = {
	{"help", "list all commands", cmd_help},
	{"help <command:str>", "list the commands that begin with a word", cmd_help_word},
	{"quit", "end the session, and the daemon if it is the first", cmd_quit},
	{"sleep <ms:u32>", "hold the next command back", cmd_sleep},
	{"version", "versions of dpdk-mrc and DPDK", cmd_version},
};
const unsigned cli_base_rows_n = sizeof(cli_base_rows) / sizeof(cli_base_rows[0]);
