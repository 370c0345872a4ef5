/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of the command line: where lines come from, and when they run. See cli.h.
 * librte_cmdline parses and completes, its rdline edits; reading, failures and waiting are ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmdline.h>

#include "cli_priv.h"

#define TABLES_MAX 32
#define WAIT_SLICE_MS 5
#define SCRIPT_BYTES_MAX (1u << 20)

static struct {
	const struct cli_row *rows;
	unsigned n;
} tables[TABLES_MAX];
static unsigned tables_n;

int
cli_register(const struct cli_row *rows, unsigned n)
{
	struct cli_inst probe;
	unsigned i;

	for (i = 0; i < tables_n; i++)
		if (tables[i].rows == rows)
			return 0;
	if (tables_n == TABLES_MAX)
		return -ENOSPC;
	for (i = 0; i < n; i++)
		if (cli_inst_init(&probe, NULL, &rows[i]) < 0)
			return -EINVAL;
	tables[tables_n].rows = rows;
	tables[tables_n++].n = n;
	return 0;
}

/* Somebody who types sees what failed and tries again; a script's end tells. */
static void
failure_count(struct cli *cli)
{
	cli->failures += !cli->typed;
}

void *
cli_user(const struct cli *cli)
{
	return cli->user;
}

unsigned
cli_failures(const struct cli *cli)
{
	return cli->failures;
}

void
cli_quit(struct cli *cli)
{
	cli->state = CLI_QUIT;
}

void
cli_wait(struct cli *cli, cli_wait_fn fn, void *ctx)
{
	cli->wait = fn;
	cli->wait_ctx = ctx;
}

const struct cli_row *
cli_row_get(const struct cli *cli, unsigned i)
{
	return i < cli->insts_n ? cli->insts[i].row : NULL;
}

void
cli_run(struct cli *cli, const struct cli_args *a)
{
	if (a->inst->row->fn(cli, a) < 0)
		failure_count(cli);
}

/* The syntaxes that share the line's first word. */
static void
usage_print(struct cli *cli, const char *line)
{
	unsigned i, len;

	line += strspn(line, " \t");
	len = strcspn(line, " \t\n#");
	for (i = 0; i < cli->insts_n; i++) {
		const struct cli_inst *inst = &cli->insts[i];

		if (inst->token[0].len == len && memcmp(inst->token[0].text, line, len) == 0)
			cli_printf(cli, "  %s\n", inst->row->syntax);
	}
}

void
cli_line_run(struct cli *cli, const char *line, size_t len)
{
	char buf[CLI_LINE_MAX + 2];
	int rc;

	while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
		len--;
	if (len >= CLI_LINE_MAX || memchr(line, '\0', len) != NULL) {
		cli_printf(cli, "Bad line: longer than %u bytes, or not text\n", CLI_LINE_MAX - 1);
		failure_count(cli);
		return;
	}
	memcpy(buf, line, len);
	memcpy(buf + len, "\n", 2);
	rc = cmdline_parse(cli->cl, buf);
	if (rc >= 0)
		return;
	failure_count(cli);
	if (rc == CMDLINE_PARSE_AMBIGUOUS) {
		cli_printf(cli, "Ambiguous command: %s", buf);
		usage_print(cli, buf);
	} else if (rc == CMDLINE_PARSE_NOMATCH) {
		cli_printf(cli, "Command not found: %s", buf);
	} else {
		cli_hint_refuse(cli, buf);
	}
}

/* ---- pipes and sockets ---- */

/* @return true if a line ran */
static bool
pipe_feed(struct cli *cli)
{
	char *start = cli->in + cli->in_pos;
	size_t n = cli->in_len - cli->in_pos;
	const char *end = memchr(start, '\n', n);
	size_t len = end != NULL ? (size_t)(end - start) + 1 : n;

	if (n == 0)
		return false;
	if (end == NULL && !cli->in_eof) {
		if (n < sizeof(cli->in))
			return false;
		cli_printf(cli, "Bad line: longer than %u bytes, or not text\n", CLI_LINE_MAX - 1);
		failure_count(cli);
		cli->in_skip = true;
		cli->in_len = cli->in_pos = 0;
		return false;
	}
	cli->in_pos += len;
	if (!cli->in_skip)
		cli_line_run(cli, start, len);
	cli->in_skip = false;
	return true;
}

/* Reads more, unless what is there is enough to go on with. */
static void
input_read(struct cli *cli, int timeout_ms)
{
	struct pollfd pfd = {.fd = cli->in_fd, .events = POLLIN};
	size_t rest = cli->in_len - cli->in_pos;
	ssize_t n;

	if (cli->in_eof || (rest > 0 && (cli->tty || memchr(cli->in + cli->in_pos, '\n', rest))))
		return;
	memmove(cli->in, cli->in + cli->in_pos, rest);
	cli->in_pos = 0;
	cli->in_len = rest;
	if (poll(&pfd, 1, timeout_ms) <= 0)
		return;
	n = read(cli->in_fd, cli->in + rest, sizeof(cli->in) - rest);
	if (n > 0)
		cli->in_len += (size_t)n;
	else if (n == 0 || (errno != EINTR && errno != EAGAIN))
		cli->in_eof = true;
}

/* ---- sessions ---- */

static int
insts_build(struct cli *cli)
{
	unsigned i, j, n = 0;

	for (i = 0; i < tables_n; i++)
		n += tables[i].n;
	cli->insts = calloc(n, sizeof(*cli->insts));
	cli->ctx = calloc(n + 1, sizeof(*cli->ctx));
	if (cli->insts == NULL || cli->ctx == NULL)
		return -ENOMEM;
	for (i = 0; i < tables_n; i++) {
		for (j = 0; j < tables[i].n; j++) {
			struct cli_inst *inst = &cli->insts[cli->insts_n];

			cli_inst_init(inst, cli, &tables[i].rows[j]);
			cli->ctx[cli->insts_n++] = &inst->cmd.inst;
		}
	}
	cli->cl = cmdline_new(cli->ctx, "", -1, -1);
	return cli->cl != NULL ? 0 : -ENOMEM;
}

int
cli_new(int in_fd, int out_fd, const char *prompt, void *user, struct cli **out)
{
	struct cli *cli = calloc(1, sizeof(*cli));
	int rc;

	if (cli == NULL)
		return -ENOMEM;
	*cli = (struct cli){.in_fd = in_fd,
		.out_fd = out_fd,
		.prompt = prompt,
		.user = user,
		.in_eof = in_fd < 0};
	rc = cli_register(cli_base_rows, cli_base_rows_n);
	if (rc == 0)
		rc = insts_build(cli);
	if (rc == 0 && in_fd >= 0 && isatty(in_fd))
		rc = cli_tty_open(cli);
	if (rc < 0) {
		cli_free(cli);
		return rc;
	}
	*out = cli;
	return 0;
}

void
cli_free(struct cli *cli)
{
	if (cli == NULL)
		return;
	cli_tty_close(cli);
	if (cli->cl != NULL)
		cmdline_free(cli->cl);
	free(cli->ctx);
	free(cli->insts);
	free(cli->queue);
	free(cli);
}

static int
queue_add(struct cli *cli, const char *lines, size_t len)
{
	char *grown = realloc(cli->queue, cli->queue_len + len + 1);

	if (grown == NULL)
		return -ENOMEM;
	memcpy(grown + cli->queue_len, lines, len);
	cli->queue = grown;
	cli->queue_len += len;
	if (len > 0 && lines[len - 1] != '\n')
		cli->queue[cli->queue_len++] = '\n';
	return 0;
}

int
cli_queue(struct cli *cli, const char *lines)
{
	return queue_add(cli, lines, strlen(lines));
}

int
cli_queue_file(struct cli *cli, const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC), rc = 0;
	char *buf = malloc(SCRIPT_BYTES_MAX + 1);
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0 || buf == NULL)
		rc = fd < 0 ? -errno : -ENOMEM;
	while (rc == 0 && n > 0) {
		n = read(fd, buf + len, SCRIPT_BYTES_MAX + 1 - len);
		if (n < 0)
			rc = -errno;
		else if ((len += (size_t)n) > SCRIPT_BYTES_MAX)
			rc = -EFBIG;
	}
	if (rc == 0)
		rc = queue_add(cli, buf, len);
	free(buf);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* @return true if a queued line ran */
static bool
queue_run(struct cli *cli)
{
	const char *line = cli->queue + cli->queue_pos;
	const char *end;

	if (cli->queue_pos == cli->queue_len)
		return false;
	end = memchr(line, '\n', cli->queue_len - cli->queue_pos);
	cli->queue_pos += (size_t)(end - line) + 1;
	cli->typed = false;
	cli_line_run(cli, line, (size_t)(end - line));
	if (cli->queue_pos == cli->queue_len)
		cli->queue_pos = cli->queue_len = 0;
	return true;
}

/* @return true while a command goes on */
static bool
wait_run(struct cli *cli, int timeout_ms)
{
	cli_wait_fn fn = cli->wait;
	int rc;

	if (fn == NULL)
		return false;
	cli->wait = NULL;
	rc = fn(cli, cli->wait_ctx);
	if (rc < 0)
		failure_count(cli);
	if (rc <= 0)
		return cli->wait != NULL; /* it may have begun another wait */
	if (cli->wait == NULL)
		cli->wait = fn;
	if (timeout_ms < 0 || timeout_ms > WAIT_SLICE_MS)
		timeout_ms = WAIT_SLICE_MS;
	poll(NULL, 0, timeout_ms);
	return true;
}

enum cli_state
cli_poll(struct cli *cli, int timeout_ms)
{
	if (cli->state != CLI_RUNNING || wait_run(cli, timeout_ms) || queue_run(cli))
		return cli->state;
	cli_tty_prompt(cli);
	input_read(cli, timeout_ms);
	if (cli->tty)
		cli_tty_feed(cli);
	else if (pipe_feed(cli))
		return cli->state;
	if (cli->in_eof && cli->wait == NULL && cli->state == CLI_RUNNING)
		cli->state = CLI_EOF;
	return cli->state;
}
