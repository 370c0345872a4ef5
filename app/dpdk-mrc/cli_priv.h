/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of the command line: what cli_parse.c makes of rows, and cli.c runs.
 */
#ifndef CLI_PRIV_H
#define CLI_PRIV_H

#include <cmdline.h>

#include "cli.h"

#define CLI_LINE_MAX 4096
#define CLI_TOKENS_MAX 16
#define CLI_SLOTS_MAX 7 /* tokens with a value: their slots share cmdline's result buffer */
#define CLI_TEXT_MAX 1016

/* Where cmdline stores the value of a token. */
struct cli_slot {
	union {
		uint64_t u;
		double f;
	};
	char text[CLI_TEXT_MAX];
};

enum cli_kind { CLI_WORD, CLI_CHOICE, CLI_U32, CLI_U64, CLI_F64, CLI_STR };

struct cli_token {
	cmdline_parse_token_hdr_t hdr; /* first: cmdline knows only this */
	enum cli_kind kind;
	const char *text; /* in the syntax: the word, "a|b|c", or the name */
	unsigned len;
};

/* One command as cmdline wants it. */
struct cli_inst {
	struct cli *cli;
	const struct cli_row *row;
	unsigned tokens_n;
	struct cli_token token[CLI_TOKENS_MAX];
	struct {
		cmdline_parse_inst_t inst;
		cmdline_parse_token_hdr_t *tokens[CLI_TOKENS_MAX + 1]; /* inst.tokens[] */
	} cmd;
};

struct cli_args {
	const struct cli_inst *inst;
	const struct cli_slot *slot;
};

/** Reads a row's syntax into tokens. @return 0 or -EINVAL */
int cli_inst_init(struct cli_inst *i, struct cli *cli, const struct cli_row *row);

/** help, quit, sleep, version */
extern const struct cli_row cli_base_rows[];
extern const unsigned cli_base_rows_n;

/** Calls a command's function and counts what it says. */
void cli_run(struct cli *cli, const struct cli_args *a);

/** All rows of a session, in order of registration. @return NULL past the end */
const struct cli_row *cli_row_get(const struct cli *cli, unsigned i);

#endif /* CLI_PRIV_H */
