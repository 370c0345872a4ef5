/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two algorithms that no feedback moves: "fixed", a window that the configuration gives, and
 * "none", a window that never closes (the connection's PSN window, MPR, remains). Called through
 * the table of cc.c.
 */
#include <stddef.h>

#include "cc_priv.h"

/* Above any inflight, and far enough below INT64_MAX that inflight + size cannot overflow. */
#define WINDOW_OPEN (UINT64_C(1) << 62)

static const char *
fixed_check(const struct mrc_cc_params *p)
{
	if (p->window_bytes < p->packet_bytes || p->window_bytes > CC_BYTES_MAX)
		return "window_bytes: one packet to 4 GiB";
	return NULL;
}

static void
fixed_init(struct mrc_cc *cc)
{
	cc->cwnd_bytes = cc->params.window_bytes;
}

static const char *
none_check(const struct mrc_cc_params *p)
{
	return NULL;
}

static void
none_init(struct mrc_cc *cc)
{
	cc->cwnd_bytes = WINDOW_OPEN;
}

static void
deaf_on_sack(struct mrc_cc *cc, const struct mrc_cc_ack *a)
{
}

static void
deaf_on_loss(struct mrc_cc *cc, uint32_t size, uint64_t now_ns)
{
}

static void
deaf_on_spurious(struct mrc_cc *cc, uint32_t size)
{
}

static void
deaf_on_rtt(struct mrc_cc *cc, uint64_t rtt_ns)
{
}

static void
deaf_on_rescale(struct mrc_cc *cc, const struct mrc_cc_params *old)
{
}

#define DEAF                                                                       \
	.on_sack = deaf_on_sack, .on_trim = deaf_on_loss, .on_loss = deaf_on_loss, \
	.on_spurious = deaf_on_spurious, .on_rtt = deaf_on_rtt, .on_rescale = deaf_on_rescale

const struct mrc_cc_ops mrc_cc_fixed = {
	.name = "fixed",
	.check = fixed_check,
	.init = fixed_init,
	DEAF,
};

const struct mrc_cc_ops mrc_cc_none = {
	.name = "none",
	.check = none_check,
	.init = none_init,
	DEAF,
};
