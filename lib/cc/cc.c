/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of congestion control algorithms, and the start and rescaling of a context.
 * Called by lib/conn and the engine's control path; the per-packet calls are inline in mrc_cc.h.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "cc_priv.h"

static const struct mrc_cc_ops *const algorithms[] = {
	&mrc_cc_nscc,
	&mrc_cc_swift,
	&mrc_cc_fixed,
	&mrc_cc_none,
};

const struct mrc_cc_ops *
mrc_cc_get(unsigned i)
{
	return i < sizeof(algorithms) / sizeof(algorithms[0]) ? algorithms[i] : NULL;
}

const struct mrc_cc_ops *
mrc_cc_find(const char *name)
{
	const struct mrc_cc_ops *ops;
	unsigned i;

	for (i = 0; name != NULL && (ops = mrc_cc_get(i)) != NULL; i++) {
		if (strcmp(ops->name, name) == 0)
			return ops;
	}
	return NULL;
}

static const char *
params_check(const struct mrc_cc_params *p)
{
	if (p->ops == NULL)
		return "algorithm: none of the table was chosen";
	if (p->packet_bytes < CC_PACKET_BYTES_MIN || p->packet_bytes > CC_PACKET_BYTES_MAX)
		return "packet_bytes: 64 to 65535";
	return p->ops->check(p);
}

int
mrc_cc_init(struct mrc_cc *cc, const struct mrc_cc_params *p, const char **err)
{
	const char *wrong = params_check(p);

	if (wrong != NULL) {
		if (err != NULL)
			*err = wrong;
		return -EINVAL;
	}
	memset(cc, 0, sizeof(*cc));
	cc->ops = p->ops;
	cc->params = *p;
	cc->ops->init(cc);
	return 0;
}

int
mrc_cc_rescale(struct mrc_cc *cc, uint64_t rate_bps, uint64_t base_rtt_ns)
{
	struct mrc_cc_params old = cc->params;
	struct mrc_cc_params p = old;

	if (rate_bps != 0)
		p.rate_bps = rate_bps;
	if (base_rtt_ns != 0)
		p.base_rtt_ns = base_rtt_ns;
	/* The first window is history: a smaller maximum must not be refused for it. */
	p.initial_cwnd_bytes = 0;
	if (params_check(&p) != NULL)
		return -EINVAL;
	cc->params = p;
	cc->ops->on_rescale(cc, &old);
	return 0;
}
