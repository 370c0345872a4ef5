/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session at a terminal: librte_cmdline's line editor, history, completion, and the terminal's
 * mode. Who calls it: cli.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli_priv.h"

static int
tty_write(struct rdline *rdl, char c)
{
	const struct cli *cli = rdline_get_opaque(rdl);

	cli_write(cli->out_fd, &c, 1);
	return 0;
}

static void
tty_validate(struct rdline *rdl, const char *buf, unsigned int size)
{
	struct cli *cli = rdline_get_opaque(rdl);

	cli->typed = true;
	cli_line_run(cli, buf, strnlen(buf, size));
}

static int
tty_complete(struct rdline *rdl, const char *buf, char *dst, unsigned int size, int *state)
{
	const struct cli *cli = rdline_get_opaque(rdl);

	return cli_hint_complete(cli, buf, dst, size, state);
}

/* The terminal to give back should the process end by exit(). */
static struct {
	int fd;
	struct termios saved;
} tty_exit = {.fd = -1};

static void
tty_restore(void)
{
	if (tty_exit.fd >= 0)
		tcsetattr(tty_exit.fd, TCSANOW, &tty_exit.saved);
	tty_exit.fd = -1;
}

int
cli_tty_open(struct cli *cli)
{
	static bool registered;
	struct termios raw;

	if (tcgetattr(cli->in_fd, &cli->tty_saved) < 0)
		return -errno;
	cli->rdl = rdline_new(tty_write, tty_validate, tty_complete, cli);
	if (cli->rdl == NULL)
		return -ENOMEM;
	raw = cli->tty_saved;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO); /* signals stay */
	tcsetattr(cli->in_fd, TCSANOW, &raw);
	if (tty_exit.fd < 0) {
		tty_exit.fd = cli->in_fd;
		tty_exit.saved = cli->tty_saved;
		if (!registered)
			registered = atexit(tty_restore) == 0;
	}
	cli->tty = true;
	cli->prompt_due = true;
	return 0;
}

static void
tty_history_add(struct cli *cli)
{
	const char *line = rdline_get_buffer(cli->rdl);
	const char *last = rdline_get_history_item(cli->rdl, 0);
	char copy[CLI_LINE_MAX];

	snprintf(copy, sizeof(copy), "%s", line);
	copy[strcspn(copy, "\r\n")] = '\0';
	if (copy[0] != '\0' && (last == NULL || strcmp(last, copy) != 0))
		rdline_add_history(cli->rdl, copy);
}

void
cli_tty_feed(struct cli *cli)
{
	while (cli->in_pos < cli->in_len) {
		int rc = rdline_char_in(cli->rdl, cli->in[cli->in_pos++]);

		if (rc == RDLINE_RES_EOF || rc == RDLINE_RES_EXITED) {
			cli_write(cli->out_fd, "\n", 1);
			cli->in_eof = true;
			return;
		}
		if (rc == RDLINE_RES_VALIDATED) {
			tty_history_add(cli);
			cli->prompt_due = true;
			return;
		}
	}
	cli->in_len = cli->in_pos = 0;
}

void
cli_tty_close(struct cli *cli)
{
	if (cli->tty) {
		tcsetattr(cli->in_fd, TCSANOW, &cli->tty_saved);
		if (tty_exit.fd == cli->in_fd)
			tty_exit.fd = -1;
	}
	rdline_free(cli->rdl);
}

void
cli_tty_prompt(struct cli *cli)
{
	if (cli->prompt_due)
		rdline_newline(cli->rdl, cli->prompt);
	cli->prompt_due = false;
}
