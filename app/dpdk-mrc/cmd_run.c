/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that move data: the generator (start, stop, bench) and the file transfer (send). */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "cmd.h"
#include "gen.h"
#include "transfer.h"

#define START_BYTES (1u << 20)
#define START_DEPTH 16
#define SEND_TURNS 2
#define BENCH_WARM_NS 200000000

static struct gen gen;
static bool gen_runs;
static bool gen_failure_said;
static struct transfer transfer;
static bool transfer_runs;
/* Somebody wants what the session waits for to end. */
static bool aborted;

static struct {
	bool runs;
	uint64_t warm_ns, end_ns;
	uint64_t from_ns, from_bytes;
} bench;

static void
gen_summary(struct cli *cli, uint64_t bytes, uint64_t writes, uint64_t ns)
{
	cli_printf(cli,
		"%.2f Gb/s goodput, %lu writes of %u bytes in %.2f s, %lu retransmissions\n",
		ns == 0 ? 0 : (double)bytes * 8 / (double)ns, (unsigned long)writes, gen.size,
		(double)ns / 1e9, (unsigned long)gen.link.conn_a->tx.stats.rtx);
}

static int
gen_begin(struct cli *cli, uint32_t size, uint32_t depth)
{
	struct daemon *d = cli_user(cli);
	int rc;

	if (gen_runs) {
		cli_printf(cli, "traffic runs already; `stop` ends it\n");
		return -1;
	}
	if (d->nodes_n < 2) {
		cli_printf(cli, "traffic needs two nodes, the configuration has %u\n", d->nodes_n);
		return -1;
	}
	rc = gen_start(&gen, d, &d->nodes[0], &d->nodes[1], size, depth);
	if (rc < 0) {
		if (rc == -EINVAL)
			cli_printf(cli,
				"size %u or depth %u out of range, allowed: 1 .. %u bytes, 1 .. %u "
				"(qp.sq_depth)\n",
				size, depth, MRC_MSG_BYTES_MAX, d->cfg->qp.sq_depth);
		else
			cli_printf(cli, "traffic not started: %s\n", strerror(-rc));
		return -1;
	}
	gen_runs = true;
	gen_failure_said = aborted = false;
	return 0;
}

static int
gen_finish(struct cli *cli, const char *what, uint64_t bytes, uint64_t ns)
{
	int rc = 0;

	cli_printf(cli, "%s", what);
	gen_summary(cli, bytes, bytes / gen.size, ns);
	if (gen.failed != 0) {
		cli_printf(cli, "a write failed: %s\n", transfer_status_text(gen.failed));
		rc = -1;
	}
	gen_stop(&gen);
	gen_runs = bench.runs = false;
	return rc;
}

static int
run_start(struct cli *cli, const struct cli_args *a)
{
	return gen_begin(cli, START_BYTES, START_DEPTH);
}

static int
run_stop(struct cli *cli, const struct cli_args *a)
{
	if (!gen_runs) {
		cli_printf(cli, "no traffic runs; `start` begins it\n");
		return -1;
	}
	return gen_finish(cli, "", gen.bytes, clock_ns() - gen.start_ns);
}

static int
bench_wait(struct cli *cli, void *ctx)
{
	uint64_t now = clock_ns();

	if (gen.failed != 0)
		return gen_finish(cli, "bench: ", gen.bytes, now - gen.start_ns);
	if (bench.from_ns == 0 && now >= bench.warm_ns) {
		bench.from_ns = now;
		bench.from_bytes = gen.bytes;
	}
	if (aborted) {
		gen_finish(cli, "bench interrupted: ", gen.bytes, now - gen.start_ns);
		return -1;
	}
	if (now < bench.end_ns)
		return 1;
	return gen_finish(cli, "bench: ", gen.bytes - bench.from_bytes, now - bench.from_ns);
}

static int
run_bench(struct cli *cli, const struct cli_args *a)
{
	uint32_t s = cli_u32(a, "seconds");

	if (s == 0 || s > 3600) {
		cli_printf(cli, "%u seconds, allowed: 1 .. 3600\n", s);
		return -1;
	}
	if (gen_begin(cli, cli_u32(a, "size"), cli_u32(a, "depth")) < 0)
		return -1;
	memset(&bench, 0, sizeof(bench));
	bench.runs = true;
	bench.warm_ns = clock_ns() + BENCH_WARM_NS;
	bench.end_ns = bench.warm_ns + s * UINT64_C(1000000000);
	cli_wait(cli, bench_wait, NULL);
	return 0;
}

static void
send_progress(struct cli *cli)
{
	unsigned columns = transfer_columns(STDOUT_FILENO);
	char line[512];

	if (columns > 0 && transfer_progress(&transfer, columns, line, sizeof(line)))
		cli_printf(cli, "\r%s\033[K", line);
}

static int
send_wait(struct cli *cli, void *ctx)
{
	char ok[256];
	int rc = 1;

	/* some slices a call: the session looks again only after a pause */
	for (unsigned i = 0; rc > 0 && i < SEND_TURNS && !aborted; i++)
		rc = transfer_turn(&transfer);
	if (rc > 0 && !aborted) {
		send_progress(cli);
		return 1;
	}
	if (transfer_columns(STDOUT_FILENO) > 0)
		cli_printf(cli, "\r\033[K");
	if (rc > 0) {
		cli_printf(cli, "send failed: interrupted after %.1f MB\n",
			(double)transfer.done / 1e6);
	} else if (rc < 0) {
		cli_printf(cli, "send failed: %s\n", transfer.err);
	} else {
		transfer_ok_text(&transfer, ok, sizeof(ok));
		cli_printf(cli, "%s\n", ok);
	}
	transfer_end(&transfer);
	transfer_runs = false;
	return rc == 0 ? 0 : -1;
}

static int
send_start(struct cli *cli, const char *file, const char *from, const char *to, const char *out)
{
	struct args_job job = {.file = file, .from = from, .to = to, .out = out};
	int rc;

	if (transfer_runs) {
		cli_printf(cli, "a transfer runs already\n");
		return -1;
	}
	rc = transfer_start(&transfer, cli_user(cli), &job);
	if (rc < 0) {
		cli_printf(cli, "send failed: %s\n", transfer.err);
		transfer_end(&transfer);
		return rc;
	}
	transfer_runs = true;
	aborted = false;
	cli_wait(cli, send_wait, NULL);
	return 0;
}

/* Arguments live until the command returns; the transfer needs them longer. */
static char send_text[4][4096];

static const char *
keep(unsigned i, const char *s)
{
	snprintf(send_text[i], sizeof(send_text[i]), "%s", s);
	return send_text[i];
}

static int
run_send(struct cli *cli, const struct cli_args *a)
{
	if (transfer_runs)
		return send_start(cli, NULL, NULL, NULL, NULL);
	return send_start(cli, keep(0, cli_str(a, "file")), keep(1, cli_str(a, "a")),
		keep(2, cli_str(a, "b")), NULL);
}

static int
run_send_to(struct cli *cli, const struct cli_args *a)
{
	if (transfer_runs)
		return send_start(cli, NULL, NULL, NULL, NULL);
	return send_start(cli, keep(0, cli_str(a, "file")), keep(1, cli_str(a, "a")),
		keep(2, cli_str(a, "b")), keep(3, cli_str(a, "out")));
}

static const struct cli_row rows[] = {
	{"start", "endless 1 MiB writes, 16 outstanding, from the first node to the second",
		run_start},
	{"stop", "ends them and says how much was moved", run_stop},
	{"bench write <size:u32> <depth:u32> <seconds:u32>",
		"writes of a size, so many outstanding, for some seconds", run_bench},
	{"send <file:file> from <a:str> to <b:str>",
		"sends a file between two nodes and compares SHA-256", run_send},
	{"send <file:file> from <a:str> to <b:str> out <out:file>",
		"the same, and keeps what arrived", run_send_to},
};

int
cmd_run_register(void)
{
	return cli_register(rows, sizeof(rows) / sizeof(rows[0]));
}

int
cmd_register(void)
{
	int rc = cmd_show_register();

	if (rc == 0)
		rc = cmd_set_register();
	if (rc == 0)
		rc = cmd_run_register();
	return rc;
}

void
cmd_run_poll(struct cli *cli)
{
	if (!gen_runs || bench.runs || gen.failed == 0 || gen_failure_said)
		return;
	gen_failure_said = true;
	cli_printf(cli, "traffic ended: a write failed: %s; `stop` says how much was moved\n",
		transfer_status_text(gen.failed));
}

bool
cmd_run_abort(void)
{
	aborted = transfer_runs || bench.runs;
	return aborted;
}

int
cmd_run_end(const char *why)
{
	int rc = 0;

	if (gen_runs) {
		if (gen.failed != 0 || bench.runs)
			rc = -EIO;
		if (bench.runs)
			fprintf(stderr, "dpdk-mrc: bench %s\n", why);
		gen_stop(&gen);
	}
	if (transfer_runs) {
		fprintf(stderr, "dpdk-mrc: send of %s %s after %.1f MB\n", transfer.job.file, why,
			(double)transfer.done / 1e6);
		transfer_end(&transfer);
		rc = -EINTR;
	}
	gen_runs = bench.runs = transfer_runs = false;
	return rc;
}
