/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that change: planes, links of the fabric. */
#include <errno.h>
#include <string.h>

#include "cmd.h"

int
cmd_plane_get(struct cli *cli, const struct cli_args *a, unsigned *plane)
{
	struct daemon *d = cli_user(cli);
	uint32_t n = cli_u32(a, "plane");

	if (n == 0 || n > d->cfg->planes) {
		cli_printf(cli, "no plane %u, allowed: 1 .. %u\n", n, d->cfg->planes);
		return -1;
	}
	*plane = n - 1;
	return 0;
}

struct daemon_node *
cmd_node_get(struct cli *cli, const struct cli_args *a)
{
	struct daemon *d = cli_user(cli);
	struct daemon_node *n = daemon_node_find(d, cli_str(a, "node"));

	if (n != NULL)
		return n;
	cli_printf(cli, "no node %.40s, allowed:", cli_str(a, "node"));
	for (unsigned i = 0; i < d->nodes_n; i++)
		cli_printf(cli, " %s", d->nodes[i].cfg->name);
	cli_printf(cli, "\n");
	return NULL;
}

static int
set_plane(struct cli *cli, const struct cli_args *a)
{
	struct daemon *d = cli_user(cli);
	unsigned plane;

	if (cmd_plane_get(cli, a, &plane) < 0)
		return -1;
	for (unsigned i = 0; i < d->nodes_n; i++)
		daemon_plane_admin(d, &d->nodes[i], plane, cli_is(a, "up"));
	return 0;
}

static int
set_node_plane(struct cli *cli, const struct cli_args *a)
{
	struct daemon *d = cli_user(cli);
	struct daemon_node *n = cmd_node_get(cli, a);
	unsigned plane;

	if (n == NULL || cmd_plane_get(cli, a, &plane) < 0)
		return -1;
	daemon_plane_admin(d, n, plane, cli_is(a, "up"));
	return 0;
}

static int
link_result(struct cli *cli, const char *name, int rc)
{
	if (rc == -ENOTSUP)
		cli_printf(cli, "no fabric: the planes are joined back to back\n");
	else if (rc == -ENOENT)
		cli_printf(cli, "no link %s; `show fabric` lists them\n", name);
	else if (rc < 0)
		cli_printf(cli,
			"%s is no link, allowed: p2 (a plane), p2/t0.1, p2/t1.0, p2/h0 (all links "
			"of one), "
			"p2/t0.0-t1.1, p2/h0-t0.0 (one), with > or < behind one direction of it\n",
			name);
	return rc < 0 ? -1 : 0;
}

static int
set_link(struct cli *cli, const struct cli_args *a)
{
	enum mrc_link_state s = cli_is(a, "up")	    ? MRC_LINK_UP
				: cli_is(a, "down") ? MRC_LINK_DOWN
						    : MRC_LINK_BLACKHOLE;
	const char *name = cli_str(a, "link");

	return link_result(cli, name, daemon_link_set(cli_user(cli), name, s));
}

static int
set_loss(struct cli *cli, const struct cli_args *a)
{
	const char *name = cli_str(a, "link");
	double pct = cli_f64(a, "percent");

	if (!(pct >= 0 && pct <= 100)) {
		cli_printf(cli, "loss of %g %%, allowed: 0 .. 100\n", pct);
		return -1;
	}
	return link_result(
		cli, name, daemon_loss_set(cli_user(cli), name, (uint32_t)(pct * 10000)));
}

static const struct cli_row rows[] = {
	{"set plane <plane:u32> (up|down)", "takes a plane out at all nodes by hand, or in again",
		set_plane},
	{"set node <node:str> plane <plane:u32> (up|down)", "the same at one node", set_node_plane},
	{"set link <link:str> (up|down|blackhole)",
		"a link of the fabric: p2, p2/t1.0, p2/t0.0-t1.1, p2/h0-t0.0>", set_link},
	{"set loss <link:str> <percent:f64>",
		"random loss on links of the fabric, percent of frames", set_loss},
};

int
cmd_set_register(void)
{
	return cli_register(rows, sizeof(rows) / sizeof(rows[0]));
}
