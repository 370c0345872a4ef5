/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sessions say. A reader that stops reading or goes away holds nobody up; that its output is
 * lost is remembered. Who calls it: all commands, cli.c, cli_tty.c.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli_priv.h"

int
cli_write(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno == EAGAIN) {
			struct pollfd pfd = {.fd = fd, .events = POLLOUT};

			/* A reader that stopped reading does not stop control. */
			if (poll(&pfd, 1, 1000) <= 0)
				return -EAGAIN;
			continue;
		}
		if (done < 0)
			return -errno;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

void
cli_printf(struct cli *cli, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n, rc = 0;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n > 0)
		rc = cli_write(cli->out_fd, text, (size_t)n);
	if (rc < 0 && cli->out_error == 0)
		cli->out_error = rc;
	if (n >= 0)
		free(text);
}

int
cli_output_error(const struct cli *cli)
{
	return cli->out_error;
}
