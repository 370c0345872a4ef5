/* SPDX-License-Identifier: BSD-3-Clause */
/* A parsed frame as a line of text. Who calls it: app (CLI, traces), tests. */
#include "mrc_encap.h"

#include "wire_priv.h"

int
mrc_view_dump(char *buf, size_t size, const struct mrc_view *v)
{
	static const char *const modes[] = {"udp", "stev", "srv6", "srv6+srh"};
	static const char *const ecns[] = {"not-ect", "ect1", "ect0", "ce"};
	char src[MRC_ADDR_TEXT_MAX], dst[MRC_ADDR_TEXT_MAX], odst[MRC_ADDR_TEXT_MAX];
	struct text t = {.buf = buf, .size = size};
	size_t used;

	wire_text_add(&t, "%s", modes[v->mode & 3]);
	if (v->mode == MRC_EV_SRV6 || v->mode == MRC_EV_SRV6_SRH)
		wire_text_add(&t, " via %s", mrc_addr_text(&v->odst, odst));
	wire_text_add(&t, " %s > %s ev 0x%x dscp %u %s", mrc_addr_text(&v->src, src),
		mrc_addr_text(&v->dst, dst), v->ev32, v->dscp, ecns[v->ecn & 3]);
	if (v->trimmed)
		wire_text_add(&t, " %s", v->lasthop ? "trimmed_lasthop" : "trimmed");
	wire_text_add(&t, " | ");
	used = (size_t)t.len < size ? (size_t)t.len : size;
	t.len += mrc_hdr_dump(used < size ? buf + used : NULL, size - used, &v->hdr);
	if (v->payload != NULL)
		wire_text_add(&t, " payload %u", v->payload_len);
	return t.len;
}
