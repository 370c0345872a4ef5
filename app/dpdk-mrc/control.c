/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What control does to a running daemon: connections between its nodes, planes taken out by hand,
 * faults of the fabric, link changes. Everything that a worker owns is touched on that worker.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon.h"
#include "mrc_prng.h"

static uint32_t
packet_nominal(const struct cfg *cfg)
{
	return mrc_nominal_bytes(MRC_BTH_BYTES + MRC_METH_BYTES + MRC_TSETH_BYTES + MRC_RETH_BYTES +
				 cfg->qp.mtu_bytes + MRC_ICRC_BYTES);
}

/* One congestion context per (node, destination). */
static int
cc_get(struct daemon *d, struct daemon_node *n, unsigned dest, struct mrc_cc **cc)
{
	const struct cfg_cc *k = &d->cfg->cc;
	struct mrc_cc_params p = {.ops = mrc_cc_find(k->algorithm),
		.rate_bps = (uint64_t)(k->rate_gbps * 1e9) * d->cfg->planes,
		.base_rtt_ns = k->base_rtt_ns,
		.packet_bytes = packet_nominal(d->cfg),
		.trimming = d->cfg->fabric.trim,
		.window_bytes = k->window_bytes};
	int rc;

	if (n->cc[dest] == NULL) {
		n->cc[dest] = calloc(1, sizeof(struct mrc_cc));
		if (n->cc[dest] == NULL)
			return -ENOMEM;
		rc = mrc_cc_init(n->cc[dest], &p, NULL);
		if (rc < 0) {
			free(n->cc[dest]);
			n->cc[dest] = NULL;
			return rc;
		}
	}
	*cc = n->cc[dest];
	return 0;
}

struct attach_arg {
	struct daemon_node *n;
	struct mrc_conn *c;
};

static int
qpn_on_worker(void *arg, uint64_t now_ns)
{
	return (int)mrc_engine_qpn(((struct daemon_node *)arg)->eng);
}

static int
attach_on_worker(void *arg, uint64_t now_ns)
{
	struct attach_arg *a = arg;

	return mrc_engine_attach(a->n->eng, a->c, now_ns);
}

static int
detach_on_worker(void *arg, uint64_t now_ns)
{
	struct attach_arg *a = arg;

	mrc_engine_detach(a->n->eng, a->c);
	return 0;
}

/* One end. @return 0 or -errno; *c is attached */
static int
end_make(struct daemon *d, struct daemon_node *n, struct daemon_node *peer,
	struct mrc_conn_params *p, struct mrc_cq *cq, struct mrc_conn **c)
{
	const struct cfg_qp *q = &d->cfg->qp;
	struct attach_arg arg = {n, NULL};
	int rc;

	p->gid = n->cfg->gid;
	p->peer_gid = peer->cfg->gid;
	p->mtu_bytes = q->mtu_bytes;
	p->mpr = p->mpr_dest = q->mpr;
	p->max_wimm = p->max_wimm_dest = q->max_wimm;
	p->timeout = q->timeout;
	p->linear_cnt = q->linear_cnt;
	p->exp_cnt = q->exp_cnt;
	p->sq_depth = q->sq_depth;
	p->rq_depth = q->rq_depth;
	p->sack_threshold = p->peer_sack_threshold = q->sack_threshold_bytes;
	p->trim_nack = true;
	p->window_nack = q->psn_window_nack;
	p->ts_us = true;
	p->pd = n->pd;
	p->send_cq = p->recv_cq = cq;
	p->set = mrc_engine_peer(n->eng, &peer->cfg->gid);
	rc = cc_get(d, n, peer->index, &p->cc);
	if (rc == 0)
		rc = mrc_conn_create(p, &arg.c);
	if (rc < 0)
		return rc;
	rc = worker_call(n->worker, attach_on_worker, &arg);
	if (rc < 0) {
		mrc_conn_destroy(arg.c);
		return rc;
	}
	*c = arg.c;
	return 0;
}

int
daemon_connect(
	struct daemon *d, struct daemon_node *a, struct daemon_node *b, struct daemon_link *l)
{
	struct mrc_conn_params pa = {0}, pb = {0};
	uint32_t depth = d->cfg->qp.sq_depth + d->cfg->qp.rq_depth;
	struct mrc_prng prng;
	int rc;

	memset(l, 0, sizeof(*l));
	if (a == b)
		return -EINVAL;
	l->a = a;
	l->b = b;
	mrc_prng_seed(&prng, d->qp_seed++);
	pa.qpn = pb.peer_qpn = (uint32_t)worker_call(a->worker, qpn_on_worker, a);
	pb.qpn = pa.peer_qpn = (uint32_t)worker_call(b->worker, qpn_on_worker, b);
	pa.psn = pb.peer_psn = (uint32_t)mrc_prng_u64(&prng) & MRC_PSN_MASK;
	pb.psn = pa.peer_psn = (uint32_t)mrc_prng_u64(&prng) & MRC_PSN_MASK;
	if (pa.qpn == 0 || pb.qpn == 0)
		return -ENOSPC;
	rc = mrc_cq_create(depth, &l->cq_a);
	if (rc == 0)
		rc = mrc_cq_create(depth, &l->cq_b);
	/* the responder first: it must be there when data comes */
	if (rc == 0)
		rc = end_make(d, b, a, &pb, l->cq_b, &l->conn_b);
	if (rc == 0)
		rc = end_make(d, a, b, &pa, l->cq_a, &l->conn_a);
	if (rc < 0)
		daemon_disconnect(d, l);
	return rc;
}

static void
end_free(struct daemon_node *n, struct mrc_conn *c, struct mrc_cq *cq)
{
	struct attach_arg arg = {n, c};

	if (c != NULL) {
		worker_call(n->worker, detach_on_worker, &arg);
		mrc_conn_destroy(c);
	}
	mrc_cq_destroy(cq);
}

void
daemon_disconnect(struct daemon *d, struct daemon_link *l)
{
	if (l->a == NULL)
		return;
	end_free(l->a, l->conn_a, l->cq_a);
	end_free(l->b, l->conn_b, l->cq_b);
	memset(l, 0, sizeof(*l));
}

/* ---- planes and links ---- */

struct plane_arg {
	struct daemon_node *n;
	unsigned plane;
	bool up;
};

static int
plane_on_worker(void *arg, uint64_t now_ns)
{
	struct plane_arg *a = arg;

	mrc_engine_plane(a->n->eng, a->plane, a->up, now_ns);
	return 0;
}

static void
plane_update(struct daemon_node *n, unsigned plane)
{
	struct plane_arg arg = {n, plane, (n->admin_up & n->link_up) >> plane & 1};

	worker_call(n->worker, plane_on_worker, &arg);
}

void
daemon_plane_admin(struct daemon *d, struct daemon_node *n, unsigned plane, bool up)
{
	if (up)
		n->admin_up |= 1u << plane;
	else
		n->admin_up &= ~(1u << plane);
	plane_update(n, plane);
}

void
daemon_poll(struct daemon *d)
{
	for (unsigned i = 0; i < d->nodes_n; i++) {
		struct daemon_node *n = &d->nodes[i];

		for (unsigned pl = 0; pl < d->cfg->planes; pl++) {
			bool up = n->port[pl]->ops->link_up(n->port[pl]);

			if (up == ((n->link_up >> pl & 1) != 0))
				continue;
			n->link_up ^= 1u << pl;
			plane_update(n, pl);
		}
	}
}

struct link_arg {
	struct mrc_fabric *fab;
	const char *name;
	enum mrc_link_state state;
	uint32_t ppm;
};

static int
link_on_worker(void *arg, uint64_t now_ns)
{
	struct link_arg *a = arg;

	return mrc_fabric_link_set(a->fab, a->name, a->state);
}

static int
loss_on_worker(void *arg, uint64_t now_ns)
{
	struct link_arg *a = arg;

	return mrc_fabric_loss_set(a->fab, a->name, a->ppm);
}

int
daemon_link_set(struct daemon *d, const char *name, enum mrc_link_state state)
{
	struct link_arg arg = {.name = name, .state = state};

	if (d->fabric == NULL)
		return -ENOTSUP;
	arg.fab = mrc_drv_fabric_get(d->fabric);
	return worker_call(d->fabric_worker, link_on_worker, &arg);
}

int
daemon_loss_set(struct daemon *d, const char *name, uint32_t ppm)
{
	struct link_arg arg = {.name = name, .ppm = ppm};

	if (d->fabric == NULL)
		return -ENOTSUP;
	arg.fab = mrc_drv_fabric_get(d->fabric);
	return worker_call(d->fabric_worker, loss_on_worker, &arg);
}
