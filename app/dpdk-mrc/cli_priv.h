/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of the command line: what cli_parse.c makes of rows, and cli.c runs.
 */
#ifndef CLI_PRIV_H
#define CLI_PRIV_H

#include <termios.h>

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

/* A session. Thread contract: control. */
struct cli {
	int in_fd, out_fd;
	bool tty;
	bool in_eof;
	bool in_skip;	 /* the rest of a line that was too long */
	bool typed;	 /* the command comes from a terminal */
	bool prompt_due; /* tty */
	struct termios tty_saved;
	enum cli_state state;
	unsigned failures;
	int out_error; /* the first; 0: all that was said went out */
	cli_wait_fn wait;
	void *wait_ctx;
	void *user;
	const char *prompt;
	struct cli_inst *insts;
	unsigned insts_n;
	cmdline_parse_ctx_t *ctx;
	struct cmdline *cl; /* parses and completes; reads and writes nothing */
	struct rdline *rdl; /* tty: the editor */
	char *queue;	    /* lines of scripts */
	size_t queue_len, queue_pos;
	size_t in_len, in_pos;
	char in[CLI_LINE_MAX];
};

/** Reads a row's syntax into tokens. @return 0 or -EINVAL */
int cli_inst_init(struct cli_inst *i, struct cli *cli, const struct cli_row *row);

/** Choice number i of a CLI_CHOICE. @return its length, 0 past the end */
unsigned cli_choice_get(const struct cli_token *t, unsigned i, const char **word);

/** @return the length of a word (up to a blank, '#' or the end) that the token takes, or -1 */
int cli_token_takes(const struct cli_token *t, const char *word);

/** Says which word of a refused line was wrong, and what may stand there. */
void cli_hint_refuse(struct cli *cli, const char *line);

/**
 * Completes the last word of a line, or lists what may stand there: rdline's callback.
 * @param[in,out] state 0: the first call; -1: list at once; else as it was left
 * @return CMDLINE_PARSE_COMPLETED_BUFFER: dst is to be added; CMDLINE_PARSE_COMPLETE_AGAIN: dst is
 * a line to show, call again; 0: no more
 */
int
cli_hint_complete(const struct cli *cli, const char *buf, char *dst, unsigned int size, int *state);

/** help, quit, sleep, version */
extern const struct cli_row cli_base_rows[];
extern const unsigned cli_base_rows_n;

/** Calls a command's function and counts what it says. */
void cli_run(struct cli *cli, const struct cli_args *a);

/** Runs one line, with or without its end, or says what is wrong with it. */
void cli_line_run(struct cli *cli, const char *line, size_t len);

/** Writes all; gives up on a reader that takes nothing for a second. @return 0 or -errno */
int cli_write(int fd, const char *p, size_t n);

/** Takes the terminal over. @return 0 or -errno */
int cli_tty_open(struct cli *cli);
/** Gives it back; nothing to do for other sessions. */
void cli_tty_close(struct cli *cli);
/** Shows the prompt if it is due. */
void cli_tty_prompt(struct cli *cli);
/** Feeds what was read until a line ran: what is behind it waits for its turn. */
void cli_tty_feed(struct cli *cli);

/** All rows of a session, in order of registration. @return NULL past the end */
const struct cli_row *cli_row_get(const struct cli *cli, unsigned i);

#endif /* CLI_PRIV_H */
