/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses to and from text. Who calls it: app (config, CLI), the dumps. */
#include "mrc_encap.h"

#include <arpa/inet.h>
#include <errno.h>

#define V4_OFFSET 12 /* of the IPv4 address in a mapped one */

int
mrc_addr_parse(const char *text, struct mrc_addr *a)
{
	struct mrc_addr v = {.b = {[10] = 0xff, [11] = 0xff}};

	if (inet_pton(AF_INET, text, v.b + V4_OFFSET) != 1 && inet_pton(AF_INET6, text, v.b) != 1)
		return -EINVAL;
	*a = v;
	return 0;
}

const char *
mrc_addr_text(const struct mrc_addr *a, char *buf)
{
	bool v4 = mrc_addr_is_v4(a);

	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? a->b + V4_OFFSET : a->b, buf, MRC_ADDR_TEXT_MAX);
	return buf;
}
