/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands. A command is one row: a syntax, a help text, a function. From the syntax come parsing,
 * completion, usage and `help`:
 *
 *   { "show conn <id:u32> (stats|state)", "what it shows", fn }
 *
 *   word             stands as it is
 *   (a|b|c)          one of these words; cli_is(args, "a") tells
 *   <name:u32>       a number, decimal or 0x...; also u64
 *   <name:f64>       a number with a fraction
 *   <name:str>       one word; also <name:file>
 *
 * A session reads queued scripts first, then its input: a terminal (prompt, history, completion), a
 * pipe or a socket (line by line). It never blocks longer than asked, and a command that takes time
 * does not either: it hands a function to cli_wait, and the next command runs when that is done.
 *
 * Thread contract: control. Who calls it: main.c (sessions), every file with commands (rows).
 */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stdint.h>

struct cli;
struct cli_args;

struct cli_row {
	const char *syntax;
	const char *help;
	/** @return 0, or negative: the command failed (it has said why) */
	int (*fn)(struct cli *cli, const struct cli_args *a);
};

enum cli_state {
	CLI_RUNNING,
	CLI_EOF,  /* no more input; what was read has run */
	CLI_QUIT, /* the quit command */
};

/**
 * Adds a table of commands to all sessions opened later. Rows must stay valid.
 * @return 0, -EINVAL (a syntax that cannot be read), -ENOSPC
 */
int cli_register(const struct cli_row *rows, unsigned n);

/**
 * Opens a session.
 * @param in_fd  -1: only what is queued
 * @param user   for commands: cli_user
 * @return 0 and *cli, or -ENOMEM
 */
int cli_new(int in_fd, int out_fd, const char *prompt, void *user, struct cli **cli);
/** Gives a terminal back as it was. Does not close the fds. */
void cli_free(struct cli *cli);

/** Puts a line (or several) behind those queued. @return 0 or -ENOMEM */
int cli_queue(struct cli *cli, const char *lines);
/** Puts the lines of a file behind those queued. @return 0 or -errno */
int cli_queue_file(struct cli *cli, const char *file);

/** Runs at most one command; waits for input up to timeout_ms. */
enum cli_state cli_poll(struct cli *cli, int timeout_ms);
/** @return commands so far that were not understood or failed; those typed at a terminal do not
 * count */
unsigned cli_failures(const struct cli *cli);

/** @return 0, or -errno of the first output that could not be written */
int cli_output_error(const struct cli *cli);

/* For commands */

void *cli_user(const struct cli *cli);
void cli_printf(struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cli_quit(struct cli *cli);

/** @return positive: not yet; 0: done; negative: the command failed */
typedef int (*cli_wait_fn)(struct cli *cli, void *ctx);
/**
 * Holds the session's next command back until fn says so; fn is called at every cli_poll. A session
 * that ends before does not call fn again.
 */
void cli_wait(struct cli *cli, cli_wait_fn fn, void *ctx);

/* Arguments by name. A name that the row's syntax lacks is a bug: it aborts. */
uint32_t cli_u32(const struct cli_args *a, const char *name);
uint64_t cli_u64(const struct cli_args *a, const char *name);
double cli_f64(const struct cli_args *a, const char *name);
const char *cli_str(const struct cli_args *a, const char *name);
/** @return whether word was taken in one of the row's choices */
bool cli_is(const struct cli_args *a, const char *word);

#endif /* CLI_H */
