/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults by name: which egresses a link name means, and what is done to each.
 * Who calls it: app/dpdk-mrc (set link ...), app/mrc-sim, tests; always on the lcore that runs the
 * fabric.
 */
#include <errno.h>

#include "mrc_fabric_priv.h"

#define DIGITS_MAX 6

/* "pN", "pN/A" or "pN/A-B" with an optional direction */
struct selector {
	unsigned plane;
	unsigned ends; /* 0: a plane, 1: a node, 2: a link */
	enum fab_node a, b;
	uint32_t a_index, b_index;
	char dir; /* '>', '<' or 0 */
};

struct change {
	void (*apply)(struct mrc_fabric *fab, struct fab_egress *e, uint64_t value);
	uint64_t value;
};

static bool
number_parse(const char **s, uint32_t *v)
{
	unsigned n = 0;

	for (*v = 0; **s >= '0' && **s <= '9'; (*s)++) {
		if (++n > DIGITS_MAX)
			return false;
		*v = *v * 10 + (uint32_t)(**s - '0');
	}
	return n > 0;
}

/* hH, t0.I, t1.J */
static bool
node_parse(const char **s, enum fab_node *node, uint32_t *index)
{
	static const struct {
		const char *prefix;
		enum fab_node node;
	} kinds[] = {{"h", NODE_HOST}, {"t0.", NODE_T0}, {"t1.", NODE_T1}};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i].prefix);

		if (strncmp(*s, kinds[i].prefix, n) == 0) {
			*s += n;
			*node = kinds[i].node;
			return number_parse(s, index);
		}
	}
	return false;
}

static int
selector_parse(const char *s, struct selector *sel)
{
	*sel = (struct selector){0};
	if (*s++ != 'p' || !number_parse(&s, &sel->plane))
		return -EINVAL;
	if (*s == '/') {
		s++;
		if (!node_parse(&s, &sel->a, &sel->a_index))
			return -EINVAL;
		sel->ends = 1;
		if (*s == '-') {
			s++;
			/* Left is the lower tier: h - t0, t0 - t1. */
			if (!node_parse(&s, &sel->b, &sel->b_index) || sel->b != sel->a + 1)
				return -EINVAL;
			sel->ends = 2;
			if (*s == '>' || *s == '<')
				sel->dir = *s++;
		}
	}
	return *s == '\0' ? 0 : -EINVAL;
}

static bool
node_exists(const struct mrc_fabric *fab, enum fab_node node, uint32_t index)
{
	const uint32_t n[] = {
		[NODE_HOST] = fab->hosts, [NODE_T0] = fab->p.leaves, [NODE_T1] = fab->p.spines};

	return index < n[node];
}

/* Both directions of a pair of egresses, or the one asked for. */
static int
pair_apply(struct mrc_fabric *fab, uint32_t up, uint32_t down, char dir, const struct change *c)
{
	int n = 0;

	if (dir != '<') {
		c->apply(fab, &fab->egress[up], c->value);
		n++;
	}
	if (dir != '>') {
		c->apply(fab, &fab->egress[down], c->value);
		n++;
	}
	return n;
}

static int
host_apply(struct mrc_fabric *fab, unsigned plane, uint32_t host, char dir, const struct change *c)
{
	return pair_apply(
		fab, link_host_up(fab, plane, host), link_host_down(fab, plane, host), dir, c);
}

static int
fabric_apply(struct mrc_fabric *fab, unsigned plane, uint32_t leaf, uint32_t spine, char dir,
	const struct change *c)
{
	return pair_apply(fab, link_t0_t1(fab, plane, leaf, spine),
		link_t1_t0(fab, plane, leaf, spine), dir, c);
}

static int
leaf_apply(struct mrc_fabric *fab, unsigned plane, uint32_t leaf, const struct change *c)
{
	int n = 0;

	for (uint32_t i = 0; i < fab->p.hosts_per_leaf; i++)
		n += host_apply(fab, plane, leaf * fab->p.hosts_per_leaf + i, 0, c);
	for (uint32_t j = 0; j < fab->p.spines; j++)
		n += fabric_apply(fab, plane, leaf, j, 0, c);
	return n;
}

static int
node_apply(
	struct mrc_fabric *fab, unsigned plane, const struct selector *sel, const struct change *c)
{
	int n = 0;

	switch (sel->a) {
	case NODE_HOST:
		return host_apply(fab, plane, sel->a_index, 0, c);
	case NODE_T0:
		return leaf_apply(fab, plane, sel->a_index, c);
	default:
		for (uint32_t i = 0; i < fab->p.leaves; i++)
			n += fabric_apply(fab, plane, i, sel->a_index, 0, c);
		return n;
	}
}

static int
link_apply(
	struct mrc_fabric *fab, unsigned plane, const struct selector *sel, const struct change *c)
{
	if (!node_exists(fab, sel->b, sel->b_index))
		return -ENOENT;
	if (sel->a == NODE_T0)
		return fabric_apply(fab, plane, sel->a_index, sel->b_index, sel->dir, c);
	if (fab->egress[link_host_up(fab, plane, sel->a_index)].to_index != sel->b_index)
		return -ENOENT;
	return host_apply(fab, plane, sel->a_index, sel->dir, c);
}

static int
change_apply(struct mrc_fabric *fab, const char *name, const struct change *c)
{
	struct selector sel;
	int n = 0;

	if (name == NULL || selector_parse(name, &sel) != 0)
		return -EINVAL;
	if (sel.plane < 1 || sel.plane > fab->p.planes)
		return -ENOENT;
	if (sel.ends == 0) {
		for (uint32_t i = 0; i < fab->p.leaves; i++)
			n += leaf_apply(fab, sel.plane - 1, i, c);
		return n;
	}
	if (!node_exists(fab, sel.a, sel.a_index))
		return -ENOENT;
	if (sel.ends == 1)
		return node_apply(fab, sel.plane - 1, &sel, c);
	return link_apply(fab, sel.plane - 1, &sel, c);
}

static void
state_apply(struct mrc_fabric *fab, struct fab_egress *e, uint64_t value)
{
	if (value == MRC_LINK_DOWN && e->state != MRC_LINK_DOWN)
		egress_flush(fab, e);
	e->state = (uint8_t)value;
}

static void
loss_apply(struct mrc_fabric *fab, struct fab_egress *e, uint64_t value)
{
	e->loss_ppm = (uint32_t)value;
}

static void
rate_apply(struct mrc_fabric *fab, struct fab_egress *e, uint64_t value)
{
	egress_rate(fab, e, value);
}

int
mrc_fabric_link_set(struct mrc_fabric *fab, const char *name, enum mrc_link_state state)
{
	struct change c = {state_apply, state};

	if ((unsigned)state > MRC_LINK_BLACKHOLE)
		return -EINVAL;
	return change_apply(fab, name, &c);
}

int
mrc_fabric_loss_set(struct mrc_fabric *fab, const char *name, uint32_t ppm)
{
	struct change c = {loss_apply, ppm};

	return ppm > 1000000 ? -EINVAL : change_apply(fab, name, &c);
}

int
mrc_fabric_rate_set(struct mrc_fabric *fab, const char *name, uint64_t rate_bps)
{
	struct change c = {rate_apply, rate_bps};

	return rate_bps < RATE_BPS_MIN ? -EINVAL : change_apply(fab, name, &c);
}
