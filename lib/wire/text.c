/* SPDX-License-Identifier: BSD-3-Clause */
/* Appending to a line of bounded length. Who calls it: hdr_dump.c, view_dump.c. */
#include <stdarg.h>
#include <stdio.h>

#include "wire_priv.h"

void
wire_text_add(struct text *t, const char *fmt, ...)
{
	size_t used = (size_t)t->len < t->size ? (size_t)t->len : t->size;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(used < t->size ? t->buf + used : NULL, t->size - used, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->len += n;
}
