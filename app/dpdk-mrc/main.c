/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon's life: arguments, configuration, EAL, commands, end.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "cli.h"
#include "config.h"
#include "config_doc.h"
#include "eal.h"

#define EXIT_FAILED 1
#define EXIT_BAD_INPUT 2
#define MEMORY_BYTES (64ull << 20)
#define POLL_MS 100

static volatile sig_atomic_t stop;

static void
on_signal(int signum)
{
	stop = 1;
}

static int
scripts_queue(struct cli *cli, const struct args *a)
{
	unsigned i;
	int rc = 0;

	for (i = 0; i < a->scripts_n && rc == 0; i++) {
		const struct args_script *s = &a->scripts[i];

		rc = s->is_file ? cli_queue_file(cli, s->text) : cli_queue(cli, s->text);
		if (rc < 0)
			fprintf(stderr, "dpdk-mrc: %s: %s\n", s->text, strerror(-rc));
	}
	return rc;
}

static int
commands_run(const struct args *a)
{
	bool input = !a->no_input && (a->interactive || a->scripts_n == 0 || isatty(STDIN_FILENO));
	struct cli *cli;
	unsigned failed;
	int rc;

	rc = cli_new(input ? STDIN_FILENO : -1, STDOUT_FILENO, "dpdk-mrc> ", NULL, &cli);
	if (rc < 0) {
		fprintf(stderr, "dpdk-mrc: commands: %s\n", strerror(-rc));
		return EXIT_FAILED;
	}
	rc = scripts_queue(cli, a);
	while (rc == 0 && !stop && cli_poll(cli, POLL_MS) == CLI_RUNNING)
		;
	failed = cli_failures(cli);
	cli_free(cli);
	return rc < 0 || failed > 0 ? EXIT_FAILED : 0;
}

int
main(int argc, char **argv)
{
	static struct args a;
	static struct cfg cfg;
	char err[1024];
	int rc;

	if (args_parse(argc, argv, &a, err, sizeof(err)) < 0) {
		fprintf(stderr, "dpdk-mrc: %s\n", err);
		return EXIT_BAD_INPUT;
	}
	if (a.mode == ARGS_HELP || a.mode == ARGS_CONFIG_HELP || a.mode == ARGS_VERSION) {
		if (a.mode == ARGS_HELP)
			args_help(stdout);
		else if (a.mode == ARGS_CONFIG_HELP)
			cfg_doc_print(stdout);
		else
			printf("dpdk-mrc %s\n", MRC_VERSION);
		return 0;
	}
	if (cfg_load(a.config, &cfg, err, sizeof(err)) < 0) {
		fprintf(stderr, "%s\n", err);
		return EXIT_BAD_INPUT;
	}
	rc = 0;
	if (a.mode == ARGS_RUN) {
		signal(SIGINT, on_signal);
		signal(SIGTERM, on_signal);
		rc = eal_start(&(struct eal_params){.cfg = &cfg,
				       .bytes_needed = MEMORY_BYTES,
				       .no_huge = a.no_huge,
				       .log_level = a.log_level},
			NULL, err, sizeof(err));
		if (rc < 0)
			fprintf(stderr, "dpdk-mrc: %s\n", err);
		rc = rc < 0 ? EXIT_FAILED : commands_run(&a);
		eal_stop();
	}
	cfg_free(&cfg);
	return rc;
}
