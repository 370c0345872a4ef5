/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon's life: arguments, configuration, EAL, the parts, a transfer or commands, and the way
 * back, at the end of which every frame is in its pool.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "cli.h"
#include "cmd.h"
#include "config.h"
#include "config_doc.h"
#include "daemon.h"
#include "eal.h"
#include "transfer.h"

#define EXIT_FAILED 1
#define EXIT_BAD_INPUT 2
#define POLL_MS 10

static volatile sig_atomic_t stop;

static void
on_signal(int signum)
{
	stop = signum;
}

static void
signals_catch(void)
{
	struct sigaction sa = {.sa_handler = on_signal}, was;

	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	/* nohup stays nohup */
	if (sigaction(SIGHUP, NULL, &was) == 0 && was.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void
stop_words(char *text, unsigned size)
{
	snprintf(text, size, "interrupted by SIG%s", sigabbrev_np(stop));
}

/*
 * A file opened later must not be taken for standard output. In place of one that is closed stands
 * one that fails.
 */
static void
std_fds_fill(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
			return;
}

/* What was printed is out, or somebody hears that it is not. @return status */
static int
stdout_check(int status)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "dpdk-mrc: standard output: %s\n",
		errno != 0 ? strerror(errno) : "something could not be written");
	return status == 0 ? EXIT_FAILED : status;
}

static int
scripts_queue(struct cli *cli, const struct args *a)
{
	int rc = 0;

	for (unsigned i = 0; i < a->scripts_n && rc == 0; i++) {
		const struct args_script *s = &a->scripts[i];

		rc = s->is_file ? cli_queue_file(cli, s->text) : cli_queue(cli, s->text);
		if (rc < 0)
			fprintf(stderr, "dpdk-mrc: %s: %s\n", s->text, strerror(-rc));
	}
	return rc;
}

static int
commands_run(struct daemon *d, const struct args *a)
{
	bool input = !a->no_input && (a->interactive || a->scripts_n == 0 || isatty(STDIN_FILENO));
	char why[64] = "ended";
	struct cli *cli;
	unsigned failed;
	int rc;

	rc = cmd_register();
	if (rc == 0)
		rc = cli_new(input ? STDIN_FILENO : -1, STDOUT_FILENO, "dpdk-mrc> ", d, &cli);
	if (rc < 0) {
		fprintf(stderr, "dpdk-mrc: commands: %s\n", strerror(-rc));
		return EXIT_FAILED;
	}
	rc = scripts_queue(cli, a);
	while (rc == 0 && cli_poll(cli, POLL_MS) == CLI_RUNNING) {
		daemon_poll(d);
		cmd_run_poll(cli);
		/* Ctrl-C ends what the person waits for; where nothing is, it ends the daemon */
		if (stop == SIGINT && isatty(STDIN_FILENO) && cmd_run_abort())
			stop = 0;
		if (stop)
			break;
	}
	failed = cli_failures(cli);
	if (cli_output_error(cli) < 0) {
		fprintf(stderr, "dpdk-mrc: standard output: %s\n",
			strerror(-cli_output_error(cli)));
		failed++;
	}
	cli_free(cli);
	if (stop)
		stop_words(why, sizeof(why));
	if (cmd_run_end(why) < 0)
		failed++;
	return rc < 0 || failed > 0 ? EXIT_FAILED : 0;
}

/* What a transfer leaves to say when everything is taken down. */
struct job_result {
	char ok[256];
	char err[512];
};

static void
job_progress(struct transfer *t)
{
	unsigned columns = transfer_columns(STDOUT_FILENO);
	char line[512];

	if (!transfer_progress(t, columns, line, sizeof(line)))
		return;
	printf(columns > 0 ? "\r%s\033[K" : "%s\n", line);
	fflush(stdout);
}

static int
job_run(struct daemon *d, const struct args_job *job, struct job_result *res)
{
	static struct transfer t;
	char why[64];
	int rc = transfer_start(&t, d, job);

	if (rc == 0) {
		transfer_intro(&t, stdout);
		rc = 1;
		while (!stop && (rc = transfer_turn(&t)) > 0) {
			job_progress(&t);
			daemon_poll(d);
		}
		if (rc > 0) {
			stop_words(why, sizeof(why));
			transfer_fail(&t, -EINTR, "%s after %.1f MB", why, (double)t.done / 1e6);
		}
		if (transfer_columns(STDOUT_FILENO) > 0)
			fputs("\r\033[K", stdout);
		transfer_report(&t, stdout);
		fflush(stdout);
	}
	if (rc == 0)
		transfer_ok_text(&t, res->ok, sizeof(res->ok));
	else
		snprintf(res->err, sizeof(res->err), "%s", t.err);
	transfer_end(&t);
	return rc == 0 ? 0 : EXIT_FAILED;
}

static int
run(const struct args *a, const struct cfg *cfg)
{
	static struct daemon d;
	static struct job_result res;
	uint64_t bytes =
		daemon_bytes(cfg) + daemon_capture_bytes(cfg, a->pcap_dir, a->pcap_snaplen_bytes);
	char err[1024];
	unsigned mbufs, lost;
	bool huge;
	int rc;

	signals_catch();
	rc = eal_start(&(struct eal_params){.cfg = cfg,
			       .bytes_needed = bytes,
			       .no_huge = a->no_huge,
			       .log_level = a->log_level},
		&huge, err, sizeof(err));
	if (rc == 0)
		rc = daemon_start(
			&d, cfg, huge, a->pcap_dir, a->pcap_snaplen_bytes, err, sizeof(err));
	if (rc < 0) {
		fprintf(stderr, "dpdk-mrc: %s\n", err);
		eal_stop();
		return EXIT_FAILED;
	}
	rc = a->job.file != NULL ? job_run(&d, &a->job, &res) : commands_run(&d, a);
	mbufs = d.pool->size;
	daemon_stop(&d, &lost);
	eal_stop();
	if (lost > 0) {
		fprintf(stderr, "dpdk-mrc: %u of %u mbufs did not come back to their pool\n", lost,
			mbufs);
		rc = EXIT_FAILED;
	} else {
		fprintf(stderr, "dpdk-mrc: all %u mbufs are back in their pool\n", mbufs);
	}
	if (res.err[0] != '\0')
		fprintf(stderr, "dpdk-mrc: transfer failed: %s\n", res.err);
	else if (rc == 0 && res.ok[0] != '\0')
		printf("%s\n", res.ok);
	return stdout_check(rc);
}

int
main(int argc, char **argv)
{
	static struct args a;
	static struct cfg cfg;
	char err[1024];
	int rc;

	std_fds_fill();
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
		return stdout_check(0);
	}
	if (cfg_load(a.config, &cfg, err, sizeof(err)) < 0) {
		fprintf(stderr, "%s\n", err);
		return EXIT_BAD_INPUT;
	}
	if (a.job.file != NULL && transfer_job_check(&a.job, &cfg, err, sizeof(err)) < 0) {
		fprintf(stderr, "dpdk-mrc: --send: %s\n", err);
		cfg_free(&cfg);
		return EXIT_BAD_INPUT;
	}
	rc = a.mode == ARGS_RUN ? run(&a, &cfg) : 0;
	cfg_free(&cfg);
	return rc;
}
