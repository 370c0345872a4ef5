/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that look. Counters are read while their owners run: each is exact, together they are of
 * about one moment. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cmd.h"
#include "mrc_usid.h"

static const char *
up_text(bool up)
{
	return up ? "up" : "down";
}

static int
show_port(struct cli *cli, const struct cli_args *a)
{
	struct daemon *d = cli_user(cli);

	cli_printf(cli, "%-6s %5s %4s  %-24s %-5s %12s %14s %12s %14s %9s\n", "node", "plane",
		"port", "device", "link", "rx packets", "rx bytes", "tx packets", "tx bytes",
		"refused");
	for (unsigned i = 0; i < d->nodes_n; i++) {
		for (unsigned pl = 0; pl < d->cfg->planes; pl++) {
			struct mrc_port *p = d->nodes[i].port[pl];
			const struct mrc_port_stats *s = &p->stats;

			cli_printf(cli, "%-6s %5u %4u  %-24s %-5s %12lu %14lu %12lu %14lu %9lu\n",
				d->nodes[i].cfg->name, pl + 1, p->id, p->name,
				up_text(p->ops->link_up(p)), (unsigned long)s->rx_packets,
				(unsigned long)s->rx_bytes, (unsigned long)s->tx_packets,
				(unsigned long)s->tx_bytes, (unsigned long)s->tx_refused);
		}
	}
	return 0;
}

static const char *const ev_states[] = {"good", "skip", "bad", "denied"};

static void
plane_row(struct cli *cli, const struct daemon *d, const struct daemon_node *n, unsigned peer,
	unsigned pl)
{
	struct mrc_addr gid;
	const struct mrc_path_set *set = mrc_engine_peer_get(n->eng, peer, &gid);
	const struct mrc_path_plane_stats *s = &set->plane[pl].stats;
	unsigned state[4] = {0};
	char text[MRC_ADDR_TEXT_MAX];

	for (unsigned i = 0; i < set->evs_n; i++)
		if (set->ev[i].plane == pl)
			state[set->ev[i].state]++;
	cli_printf(cli, "%-6s %-20s %5u %-5s %-5s %12lu %14lu %7lu %7lu %7lu %5u %5u %5u %6u\n",
		n->cfg->name, mrc_addr_text(&gid, text), pl + 1,
		n->admin_up >> pl & 1 ? up_text(n->link_up >> pl & 1) : "admin",
		up_text(set->peer_up >> pl & 1), (unsigned long)s->sent_packets,
		(unsigned long)s->sent_bytes, (unsigned long)s->trimmed, (unsigned long)s->gap,
		(unsigned long)s->timeout, state[0], state[1], state[2], state[3]);
}

static int
show_plane(struct cli *cli, const struct cli_args *a)
{
	struct daemon *d = cli_user(cli);
	struct mrc_addr gid;

	cli_printf(cli, "%-6s %-20s %5s %-5s %-5s %12s %14s %7s %7s %7s %5s %5s %5s %6s\n", "node",
		"to", "plane", "ours", "peer", "packets", "bytes", "trims", "gaps", "timeout",
		"good", "skip", "bad", "denied");
	for (unsigned i = 0; i < d->nodes_n; i++)
		for (unsigned k = 0; mrc_engine_peer_get(d->nodes[i].eng, k, &gid) != NULL; k++)
			for (unsigned pl = 0; pl < d->cfg->planes; pl++)
				plane_row(cli, d, &d->nodes[i], k, pl);
	return 0;
}

/* Walks the QPNs of an engine; the table is the worker's, its entries change only by control's own
 * calls. */
static void
conns_each(struct cli *cli, struct daemon_node *n,
	void (*fn)(struct cli *, struct daemon_node *, struct mrc_conn *))
{
	for (uint32_t q = MRC_QPN_RESERVED; q < 0x10000; q++) {
		struct mrc_conn *c = mrc_engine_conn(n->eng, q);

		if (c != NULL)
			fn(cli, n, c);
	}
}

static void
conn_row(struct cli *cli, struct daemon_node *n, struct mrc_conn *c)
{
	char text[MRC_ADDR_TEXT_MAX];

	cli_printf(cli, "%-6s 0x%06x 0x%06x %-20s %-5s %6u %12lu %14lu %8lu %10lu %10ld\n",
		n->cfg->name, c->p.qpn, c->p.peer_qpn, mrc_addr_text(&c->p.peer_gid, text),
		c->state == MRC_CONN_RTS ? "rts" : "error", c->p.mtu_bytes,
		(unsigned long)c->tx.stats.packets, (unsigned long)c->rx.stats.bytes,
		(unsigned long)c->tx.stats.rtx, (unsigned long)c->cc->cwnd_bytes,
		(long)c->tx.inflight);
}

static int
show_conns(struct cli *cli, const struct cli_args *a)
{
	struct daemon *d = cli_user(cli);

	cli_printf(cli, "%-6s %-8s %-8s %-20s %-5s %6s %12s %14s %8s %10s %10s\n", "node", "qpn",
		"peer qpn", "peer", "state", "mtu", "tx packets", "rx bytes", "rtx", "cwnd",
		"inflight");
	for (unsigned i = 0; i < d->nodes_n; i++)
		conns_each(cli, &d->nodes[i], conn_row);
	return 0;
}

static void
conn_detail(struct cli *cli, struct daemon_node *n, struct mrc_conn *c)
{
	const struct mrc_conn_tx_stats *t = &c->tx.stats;
	const struct mrc_conn_rx_stats *r = &c->rx.stats;
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{"tx packets", t->packets},
		{"tx bytes", t->bytes},
		{"tx messages", t->messages},
		{"tx message bytes", t->message_bytes},
		{"retransmissions", t->rtx},
		{"  for trims", t->trim},
		{"  for gaps", t->gap},
		{"  for timeouts", t->timeout},
		{"  for ports down", t->port},
		{"  for NACKs", t->nack},
		{"  not needed", t->spurious},
		{"reliability probes", t->probes},
		{"timeouts fired", t->rto_fires},
		{"refused by our port", t->unsent},
		{"rx packets", r->packets},
		{"rx bytes", r->bytes},
		{"rx messages", r->messages},
		{"rx duplicates", r->duplicates},
		{"rx trimmed", r->trimmed},
		{"rx marked", r->marks},
		{"SACKs sent", r->sacks},
		{"NACKs sent", r->nacks},
		{"ACKs sent", r->acks},
		{"una", mrc_psn_wire(c->tx.una)},
		{"next PSN", mrc_psn_wire(c->tx.psn_next)},
		{"in flight", c->tx.flight.n},
		{"queued", c->tx.queue.n},
		{"rcv next", mrc_psn_wire(c->rx.next)},
		{"held above cack", c->rx.ooo},
		{"smoothed RTT ns", c->set->srtt_ns},
		{"base RTT ns", c->set->p.base_rtt_ns},
		{"reorder window ns", mrc_path_reorder_ns(c->set) * (1 + c->tx.reo_steps)},
	};

	cli_printf(cli, "node %s qpn 0x%06x to 0x%06x, %s, cc %s\n", n->cfg->name, c->p.qpn,
		c->p.peer_qpn, c->state == MRC_CONN_RTS ? "rts" : "error", c->cc->ops->name);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cli_printf(cli, "  %-20s %14lu\n", rows[i].name, (unsigned long)rows[i].value);
}

static int
show_conn(struct cli *cli, const struct cli_args *a)
{
	struct daemon *d = cli_user(cli);
	uint32_t qpn = cli_u32(a, "qpn");
	bool found = false;

	for (unsigned i = 0; i < d->nodes_n; i++) {
		struct mrc_conn *c = mrc_engine_conn(d->nodes[i].eng, qpn);

		if (c != NULL) {
			conn_detail(cli, &d->nodes[i], c);
			found = true;
		}
	}
	if (!found)
		cli_printf(cli, "no connection with QPN 0x%06x; `show conn` lists them\n", qpn);
	return found ? 0 : -1;
}

static void
ev_row(struct cli *cli, const struct daemon_node *n, const struct mrc_path_set *set, unsigned i)
{
	const struct mrc_path_ev *e = &set->ev[i];
	struct mrc_addr addr;
	char text[MRC_ADDR_TEXT_MAX] = "";

	if (set->plane[e->plane].tmpl.mode >= MRC_EV_SRV6) {
		memcpy(addr.b, e->value, sizeof(addr.b));
		mrc_addr_text(&addr, text);
	}
	cli_printf(cli, "%-6s %5u %5u 0x%08x %-6s %-7s %10lu %8lu %8lu  %s\n", n->cfg->name, i,
		e->plane + 1, e->ev32, ev_states[e->state],
		e->slot == MRC_EV_NONE ? "backup" : "active", (unsigned long)e->sent,
		(unsigned long)e->lost, (unsigned long)e->skips, text);
}

#define ALL_PLANES UINT32_MAX

static void
evs_of_node(struct cli *cli, const struct daemon_node *n, unsigned plane)
{
	const struct mrc_path_set *set;
	struct mrc_addr gid;

	for (unsigned k = 0; (set = mrc_engine_peer_get(n->eng, k, &gid)) != NULL; k++)
		for (unsigned e = 0; e < set->evs_n; e++)
			if (plane == ALL_PLANES || set->ev[e].plane == plane)
				ev_row(cli, n, set, e);
}

/* node NULL: all */
static int
evs_print(struct cli *cli, const struct daemon_node *node, unsigned plane)
{
	const struct daemon *d = cli_user(cli);

	cli_printf(cli, "%-6s %5s %5s %-10s %-6s %-7s %10s %8s %8s  %s\n", "node", "ev", "plane",
		"value", "state", "use", "packets", "lost", "skips", "uSIDs");
	for (unsigned i = 0; i < d->nodes_n; i++)
		if (node == NULL || node == &d->nodes[i])
			evs_of_node(cli, &d->nodes[i], plane);
	return 0;
}

static int
show_ev(struct cli *cli, const struct cli_args *a)
{
	return evs_print(cli, NULL, ALL_PLANES);
}

static int
show_ev_node(struct cli *cli, const struct cli_args *a)
{
	const struct daemon_node *n = cmd_node_get(cli, a);

	return n == NULL ? -1 : evs_print(cli, n, ALL_PLANES);
}

static int
show_ev_node_plane(struct cli *cli, const struct cli_args *a)
{
	const struct daemon_node *n = cmd_node_get(cli, a);
	unsigned plane;

	if (n == NULL || cmd_plane_get(cli, a, &plane) < 0)
		return -1;
	return evs_print(cli, n, plane);
}

/* Links are numbered plane by plane, as many in each. */
static int
links_print(struct cli *cli, unsigned plane)
{
	static const char *const states[] = {"up", "down", "blackhole"};
	const struct daemon *d = cli_user(cli);
	struct mrc_fabric *f;
	unsigned each;

	if (d->fabric == NULL) {
		cli_printf(cli, "no fabric: the planes are joined back to back\n");
		return 0;
	}
	f = mrc_drv_fabric_get(d->fabric);
	each = mrc_fabric_links(f) / d->cfg->planes;
	cli_printf(cli, "%-20s %-9s %12s %14s %8s %8s %8s %8s %8s\n", "link", "state", "packets",
		"bytes", "trims", "marks", "drops", "queue", "queue max");
	for (unsigned i = 0; i < mrc_fabric_links(f); i++) {
		enum mrc_link_state state;
		struct mrc_link_stats s;
		char name[32];

		if ((plane != ALL_PLANES && i / each != plane) ||
			mrc_fabric_link_get(f, i, name, &state, &s) < 0)
			continue;
		cli_printf(cli, "%-20s %-9s %12lu %14lu %8lu %8lu %8lu %8u %8u\n", name,
			states[state], (unsigned long)s.packets, (unsigned long)s.bytes,
			(unsigned long)s.trims, (unsigned long)s.marks, (unsigned long)s.drops,
			s.queue_bytes, s.queue_bytes_max);
	}
	return 0;
}

static int
show_fabric(struct cli *cli, const struct cli_args *a)
{
	return links_print(cli, ALL_PLANES);
}

static int
show_fabric_plane(struct cli *cli, const struct cli_args *a)
{
	unsigned plane;

	return cmd_plane_get(cli, a, &plane) < 0 ? -1 : links_print(cli, plane);
}

static void
drops_print(struct cli *cli, const char *who, const struct mrc_drops *dr, bool all)
{
	for (unsigned r = 1; r < MRC_DROP_NUM; r++)
		if (all || dr->n[r] > 0)
			cli_printf(cli, "%-8s %-16s %12lu  %s\n", who, mrc_drop_name(r),
				(unsigned long)dr->n[r], mrc_drop_text(r));
}

static int
show_drops(struct cli *cli, const struct cli_args *a)
{
	struct daemon *d = cli_user(cli);

	cli_printf(cli, "%-8s %-16s %12s  %s\n", "where", "reason", "frames", "meaning");
	for (unsigned i = 0; i < d->nodes_n; i++)
		drops_print(cli, d->nodes[i].cfg->name, mrc_engine_drops(d->nodes[i].eng), false);
	if (d->fabric != NULL)
		drops_print(cli, "fabric", mrc_fabric_drops(mrc_drv_fabric_get(d->fabric)), false);
	return 0;
}

static int
show_worker(struct cli *cli, const struct cli_args *a)
{
	struct daemon *d = cli_user(cli);

	cli_printf(cli, "%6s %5s %4s %14s %7s %8s %12s %12s  %s\n", "worker", "lcore", "cpu",
		"turns", "busy %", "stops", "stopped ms", "longest us", "runs");
	for (unsigned i = 0; i < d->workers_n; i++) {
		const struct worker *w = &d->workers[i];
		const struct worker_stats *s = &w->stats;

		cli_printf(cli, "%6u %5u %4u %14lu %7.1f %8lu %12.1f %12.1f ", i, w->lcore,
			d->cfg->workers[i], (unsigned long)s->turns,
			s->turns == 0 ? 0 : (double)s->busy_turns * 100 / (double)s->turns,
			(unsigned long)s->gaps, (double)s->gap_ns / 1e6,
			(double)s->gap_max_ns / 1e3);
		for (unsigned k = 0; k < d->nodes_n; k++)
			if (d->nodes[k].worker == w)
				cli_printf(cli, " %s", d->nodes[k].cfg->name);
		cli_printf(cli, "%s\n", w->fabric != NULL ? " fabric" : "");
	}
	return 0;
}

static int
show_memory(struct cli *cli, const struct cli_args *a)
{
	struct daemon *d = cli_user(cli);

	cli_printf(cli, "pages     %s\n", d->huge ? "2 MiB" : "4 KiB");
	cli_printf(cli, "frames    %u, %u in use, %u bytes each\n", d->pool->size,
		rte_mempool_in_use_count(d->pool), d->pool->elt_size);
	return 0;
}

static const struct cli_row rows[] = {
	{"show port",
		"ports of all nodes: device, link, packets, bytes, frames refused by a full port",
		show_port},
	{"show plane", "per node, peer and plane: state, traffic, losses, EVs by state",
		show_plane},
	{"show conn", "connections (QPs), a line each", show_conns},
	{"show conn <qpn:u32>", "one connection in full", show_conn},
	{"show ev", "EVs: plane, value, state, use, packets, uSID list", show_ev},
	{"show ev <node:str>", "those of one node", show_ev_node},
	{"show ev <node:str> plane <plane:u32>", "those of one node over one plane",
		show_ev_node_plane},
	{"show fabric",
		"links of the fabric, both directions: state, traffic, trims, marks, drops, queue",
		show_fabric},
	{"show fabric plane <plane:u32>", "those of one plane", show_fabric_plane},
	{"show drops", "refused frames by reason, where there are any", show_drops},
	{"show worker", "polling lcores: turns, time that did not count, what runs there",
		show_worker},
	{"show memory", "pages and the frame pool", show_memory},
};

int
cmd_show_register(void)
{
	return cli_register(rows, sizeof(rows) / sizeof(rows[0]));
}
