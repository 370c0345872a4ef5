/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of the daemon. Nothing is opened here.
 * Who calls it: main.c.
 */
#ifndef ARGS_H
#define ARGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define ARGS_SCRIPTS_MAX 64

enum args_mode {
	ARGS_RUN,   /* load the configuration and run */
	ARGS_CHECK, /* check the configuration, exit */
	ARGS_HELP,
	ARGS_CONFIG_HELP,
	ARGS_VERSION,
};

/* A line, or a file of lines, run before standard input; in the order given. */
struct args_script {
	const char *text;
	bool is_file;
};

/* The plane turns into a silent black hole and is made whole again. */
struct args_fault {
	unsigned plane;	 /* 0-based */
	double down_pct; /* of the bytes to send */
	double up_pct;	 /* above 100: never */
};

struct args_job {
	const char *file; /* NULL: no job */
	const char *from, *to;
	const char *out; /* NULL: received bytes are hashed and not kept */
	double min_s;	 /* the file repeats for at least that long */
	bool fault_set;
	struct args_fault fault;
};

struct args {
	enum args_mode mode;
	const char *config;
	unsigned scripts_n;
	struct args_script scripts[ARGS_SCRIPTS_MAX];
	bool interactive;     /* read commands from standard input though it is no terminal */
	bool no_input;	      /* never read standard input */
	const char *pcap_dir; /* NULL: no capture */
	unsigned pcap_snaplen_bytes;
	bool no_huge;
	unsigned log_level; /* RTE_LOG_* */
	struct args_job job;
};

/**
 * Parses. Strings point into argv.
 * @param[out] err on failure one line without line end
 * @return 0 or -EINVAL
 */
int args_parse(int argc, char **argv, struct args *a, char *err, unsigned err_size);
void args_help(FILE *out);

#endif /* ARGS_H */
