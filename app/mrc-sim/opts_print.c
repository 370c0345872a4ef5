/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the table of options prints: help, and the settings of a run as JSON. Who calls it: main.c,
 * report.c.
 */
#include "opts_priv.h"

void
sim_opts_help(FILE *f)
{
	fprintf(f, "mrc-sim: the transport under a discrete-event loop, on multi-plane Clos "
		   "networks.\n\nusage: mrc-sim [OPTION]...\n\n");
	for (unsigned i = 0; i < sim_rows_n; i++) {
		const struct sim_row *r = &sim_rows[i];
		char left[64];

		snprintf(left, sizeof(left), "--%s%s%s", r->name, r->arg != NULL ? " " : "",
			r->arg != NULL ? r->arg : "");
		fprintf(f, "  %-28s %s", left, r->help);
		if (r->value[0] != '\0' && r->kind != KIND_FLAG)
			fprintf(f, " [%s]", r->value);
		fprintf(f, "\n");
	}
	fprintf(f, "  %-28s %s\n", "--chaos [--seeds A..B]",
		"random networks, loads and faults instead of an experiment [1..100]");
	fprintf(f, "  %-28s %s\n  %-28s %s\n\nexperiments:\n", "--help", "this text", "--version",
		"version and commit");
	for (unsigned i = 0; sim_experiments[i] != NULL; i++) {
		fprintf(f, "  %-10s %s", sim_experiments[i], sim_presets[i].help);
		for (unsigned k = 0; k < 4 && sim_presets[i].set[k][0] != NULL; k++)
			fprintf(f, "%s--%s %s", k == 0 ? " (" : " ", sim_presets[i].set[k][0],
				sim_presets[i].set[k][1]);
		fprintf(f, "%s\n", sim_presets[i].set[0][0] != NULL ? ")" : "");
	}
	fprintf(f, "\nexit status: 0 all flows completed, 1 not all did, 2 wrong options\n");
}

/* Text as a JSON string. */
static void
json_text(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			fprintf(f, "\\u%04x", *s);
		else
			fputc(*s, f);
	}
	fputc('"', f);
}

static void
settings_row(const struct sim_opts *o, const struct sim_row *r, FILE *f)
{
	const void *p = sim_row_field(o, r);
	const struct sim_at *at = p;

	switch (r->kind) {
	case KIND_U32:
		if (*(const uint32_t *)p == SIM_NONE)
			fprintf(f, "\"auto\"");
		else
			fprintf(f, "%u", *(const uint32_t *)p);
		break;
	case KIND_NUM:
	case KIND_WHOLE:
		fprintf(f, "%.15g", *(const double *)p);
		break;
	case KIND_ENUM:
	case KIND_FLAG:
		fprintf(f, "\"%s\"", r->names[*(const uint32_t *)p]);
		break;
	case KIND_TEXT:
		json_text(f, p);
		break;
	default:
		if (at->index == SIM_NONE)
			fprintf(f, "\"\"");
		else if (r->kind == KIND_SPAN && at->b >= 0)
			fprintf(f, "\"%u@%.15g:%.15g\"", at->index, at->a, at->b);
		else
			fprintf(f, "\"%u%c%.15g\"", at->index, r->kind == KIND_FACTOR ? ':' : '@',
				at->a);
		break;
	}
}

void
sim_opts_settings(const struct sim_opts *o, FILE *f)
{
	fputc('{', f);
	for (unsigned i = 0; i < sim_rows_n; i++) {
		fprintf(f, "%s\"%s\":", i > 0 ? "," : "", sim_rows[i].name);
		settings_row(o, &sim_rows[i], f);
	}
	fputc('}', f);
}
