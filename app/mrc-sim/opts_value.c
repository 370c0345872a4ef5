/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of options: text in, checked against the row's type and range; what a row allows, in
 * words. Who calls it: opts.c.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "opts_priv.h"

/* @return false: no number, or not all of text */
static bool
number(const char *text, double *v, const char **end)
{
	char *e;

	errno = 0;
	*v = strtod(text, &e);
	if (e == text || errno != 0 || !isfinite(*v))
		return false;
	*end = e;
	return true;
}

static bool
parse_number(const struct sim_row *r, void *p, const char *text)
{
	const char *end;
	double v;

	if (r->kind == KIND_U32 && strcmp(r->value, "auto") == 0 && strcmp(text, "auto") == 0) {
		*(uint32_t *)p = SIM_NONE;
		return true;
	}
	if (!number(text, &v, &end) || *end != '\0' || v < r->min || v > r->max)
		return false;
	if (r->kind != KIND_NUM && v != floor(v))
		return false;
	if (r->kind == KIND_U32)
		*(uint32_t *)p = (uint32_t)v;
	else
		*(double *)p = v;
	return true;
}

static bool
parse_at(const struct sim_row *r, struct sim_at *at, const char *text)
{
	struct sim_at v = {.b = -1};
	const char *end;
	double k;

	if (text[0] == '\0') {
		at->index = SIM_NONE;
		return true;
	}
	if (!number(text, &k, &end) || k < 0 || k > 65535 || k != floor(k) ||
		*end != (r->kind == KIND_FACTOR ? ':' : '@'))
		return false;
	v.index = (uint32_t)k;
	if (!number(end + 1, &v.a, &end) || v.a < r->min || v.a > r->max)
		return false;
	if (r->kind == KIND_SPAN && *end == ':' && (!number(end + 1, &v.b, &end) || v.b <= v.a))
		return false;
	if (*end != '\0')
		return false;
	*at = v;
	return true;
}

static bool
parse_enum(const struct sim_row *r, uint32_t *p, const char *text)
{
	for (uint32_t i = 0; r->names[i] != NULL; i++)
		if (strcmp(r->names[i], text) == 0) {
			*p = i;
			return true;
		}
	return false;
}

bool
sim_row_parse(struct sim_opts *o, const struct sim_row *r, const char *text)
{
	switch (r->kind) {
	case KIND_U32:
	case KIND_NUM:
	case KIND_WHOLE:
		return parse_number(r, sim_row_field(o, r), text);
	case KIND_ENUM:
	case KIND_FLAG:
		return parse_enum(r, sim_row_field(o, r), text);
	case KIND_TEXT:
		return snprintf(sim_row_field(o, r), SIM_PATH_MAX, "%s", text) < SIM_PATH_MAX;
	default:
		return parse_at(r, sim_row_field(o, r), text);
	}
}

void
sim_row_allowed(const struct sim_row *r, char *buf, unsigned size)
{
	unsigned n = 0;

	switch (r->kind) {
	case KIND_ENUM:
	case KIND_FLAG:
		for (unsigned i = 0; r->names[i] != NULL && n < size; i++)
			n += (unsigned)snprintf(
				buf + n, size - n, "%s%s", i > 0 ? ", " : "", r->names[i]);
		break;
	case KIND_U32:
	case KIND_WHOLE:
		snprintf(buf, size, "a whole number, %.15g to %.15g%s", r->min, r->max,
			strcmp(r->value, "auto") == 0 ? ", or auto" : "");
		break;
	case KIND_NUM:
		snprintf(buf, size, "a number, %.15g to %.15g", r->min, r->max);
		break;
	case KIND_TEXT:
		snprintf(buf, size, "at most %d characters", SIM_PATH_MAX - 1);
		break;
	default:
		snprintf(buf, size, "%s, the second %.15g to %.15g", r->arg, r->min, r->max);
		break;
	}
}
