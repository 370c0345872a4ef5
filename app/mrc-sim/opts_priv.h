/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of the options: the rows of their table. Who includes it: opts*.c.
 */
#ifndef OPTS_PRIV_H
#define OPTS_PRIV_H

#include <stddef.h>

#include "opts.h"

#define SIM_ROWS_MAX 64 /* sim_opts.given has a bit for each row */
#define SIM_PRESETS_MAX 4

enum sim_kind {
	KIND_U32,
	KIND_NUM,   /* double */
	KIND_WHOLE, /* double without a fraction, up to 2^53 */
	KIND_ENUM,
	KIND_FLAG, /* no value on the command line */
	KIND_TEXT,
	KIND_FACTOR, /* K:F */
	KIND_AT,     /* K@US */
	KIND_SPAN,   /* P@US[:US] */
};

struct sim_row {
	const char *name;
	enum sim_kind kind;
	size_t off;
	const char *value; /* default; "": none */
	double min, max;
	const char *const *names; /* of an enum, ends with NULL */
	const char *arg, *help;
};

/* What an experiment changes in the defaults, and what it is. */
struct sim_preset {
	const char *set[SIM_PRESETS_MAX][2];
	const char *help;
};

extern const struct sim_row sim_rows[];
extern const unsigned sim_rows_n;
extern const char *const sim_experiments[];   /* by enum sim_experiment, ends with NULL */
extern const struct sim_preset sim_presets[]; /* by enum sim_experiment */

/* Where an option's value is kept. */
static inline void *
sim_row_field(const struct sim_opts *o, const struct sim_row *r)
{
	return (char *)(uintptr_t)o + r->off;
}

/** Reads a value as the command line gives it. @return false if it is not allowed */
bool sim_row_parse(struct sim_opts *o, const struct sim_row *r, const char *text);
/** Writes what the row allows. */
void sim_row_allowed(const struct sim_row *r, char *buf, unsigned size);

#endif /* OPTS_PRIV_H */
