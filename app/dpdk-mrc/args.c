/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of the daemon, by getopt_long. See args.h.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <rte_log.h>

#include "args.h"
#include "mrc_limits.h"

enum {
	OPT_CHECK = 256,
	OPT_CMD,
	OPT_CMD_FILE,
	OPT_NO_INPUT,
	OPT_PCAP,
	OPT_PCAP_SNAPLEN,
	OPT_NO_HUGE,
	OPT_SEND,
	OPT_FROM,
	OPT_TO,
	OPT_OUT,
	OPT_MIN_SECONDS,
	OPT_FAULT,
	OPT_LOG_LEVEL,
	OPT_CONFIG_HELP,
	OPT_VERSION,
};

static const struct option options[] = {{"config", required_argument, NULL, 'c'},
	{"check", no_argument, NULL, OPT_CHECK}, {"cmd", required_argument, NULL, OPT_CMD},
	{"cmd-file", required_argument, NULL, OPT_CMD_FILE},
	{"interactive", no_argument, NULL, 'i'}, {"no-input", no_argument, NULL, OPT_NO_INPUT},
	{"pcap", required_argument, NULL, OPT_PCAP},
	{"pcap-snaplen", required_argument, NULL, OPT_PCAP_SNAPLEN},
	{"no-huge", no_argument, NULL, OPT_NO_HUGE}, {"send", required_argument, NULL, OPT_SEND},
	{"from", required_argument, NULL, OPT_FROM}, {"to", required_argument, NULL, OPT_TO},
	{"out", required_argument, NULL, OPT_OUT},
	{"min-seconds", required_argument, NULL, OPT_MIN_SECONDS},
	{"fault", required_argument, NULL, OPT_FAULT},
	{"log-level", required_argument, NULL, OPT_LOG_LEVEL},
	{"config-help", no_argument, NULL, OPT_CONFIG_HELP},
	{"version", no_argument, NULL, OPT_VERSION}, {"help", no_argument, NULL, 'h'}, {0}};

static const char *const log_levels[] = {[RTE_LOG_EMERG] = "emergency",
	[RTE_LOG_ALERT] = "alert",
	[RTE_LOG_CRIT] = "critical",
	[RTE_LOG_ERR] = "error",
	[RTE_LOG_WARNING] = "warning",
	[RTE_LOG_NOTICE] = "notice",
	[RTE_LOG_INFO] = "info",
	[RTE_LOG_DEBUG] = "debug"};

static const char help[] =
	"Usage: dpdk-mrc [options] CONFIG\n"
	"\n"
	"Runs the nodes of CONFIG (JSON; see --config-help) and the network between them: "
	"Multipath Reliable\n"
	"Connection over DPDK. Commands come from --cmd, --cmd-file and standard input; `help` "
	"lists them.\n"
	"\n"
	"  -c, --config FILE     the configuration, instead of the last argument\n"
	"      --check           check the configuration and exit; nothing is touched\n"
	"      --config-help     print all configuration keys with their defaults\n"
	"      --cmd 'LINE'      run a command before standard input; may be repeated\n"
	"      --cmd-file FILE   run the commands of a file, one a line, '#' begins a comment\n"
	"  -i, --interactive     read commands from standard input (the default where it is a "
	"terminal)\n"
	"      --no-input        never read standard input\n"
	"\n"
	"One transfer, then exit:\n"
	"      --send FILE       send FILE ...\n"
	"      --from NODE       ... from this node\n"
	"      --to NODE         ... to that node, and compare SHA-256 of both sides\n"
	"      --out FILE        where the receiver writes it: a regular file, replaced at the "
	"end, or a new one\n"
	"      --min-seconds S   send it again and again for at least S seconds\n"
	"      --fault 'plane=N,down=P[,up=Q]'\n"
	"                        at P percent of the bytes plane N becomes a silent black hole, at "
	"Q percent it\n"
	"                        is whole again; with --min-seconds, of what the links carry in S "
	"seconds\n"
	"\n"
	"      --pcap DIR        capture what every node sends: DIR/plane1.pcapng, ...\n"
	"      --pcap-snaplen N  bytes kept of each frame (default 256)\n"
	"      --no-huge         leave huge pages alone\n"
	"      --log-level L     of DPDK: emergency alert critical error warning notice info "
	"debug\n"
	"                        (default warning)\n"
	"      --version         print the version\n"
	"  -h, --help            print this\n"
	"\n"
	"Exit status: 0 fine; 1 a command or transfer failed; 2 bad arguments or configuration.\n";

void
args_help(FILE *out)
{
	fputs(help, out);
}

static int __attribute__((format(printf, 3, 4)))
fail(char *err, unsigned err_size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, err_size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* A finite number, all of the text; min .. max. */
static int
number(const char *text, double min, double max, double *value)
{
	char *end;
	double d = strtod(text, &end);

	if (end == text || *end != '\0' || !(d >= min && d <= max))
		return -EINVAL;
	*value = d;
	return 0;
}

static int
whole(const char *text, double min, double max, unsigned *value)
{
	double d;

	if (text[strspn(text, "0123456789")] != '\0' || number(text, min, max, &d) < 0)
		return -EINVAL;
	*value = (unsigned)d;
	return 0;
}

/* plane=2,down=30,up=60 */
static int
fault_parse(const char *text, struct args_fault *f)
{
	char copy[96], *save, *part;
	unsigned plane = 0;

	if (strlen(text) >= sizeof(copy))
		return -EINVAL;
	strcpy(copy, text);
	*f = (struct args_fault){.down_pct = -1, .up_pct = INFINITY};
	for (part = strtok_r(copy, ",", &save); part != NULL; part = strtok_r(NULL, ",", &save)) {
		int rc = -EINVAL;

		if (strncmp(part, "plane=", 6) == 0)
			rc = whole(part + 6, 1, MRC_PLANES_MAX, &plane);
		else if (strncmp(part, "down=", 5) == 0)
			rc = number(part + 5, 0, 100, &f->down_pct);
		else if (strncmp(part, "up=", 3) == 0)
			rc = number(part + 3, 0, 100, &f->up_pct);
		if (rc < 0)
			return rc;
	}
	if (plane == 0 || f->down_pct < 0 || f->up_pct <= f->down_pct)
		return -EINVAL;
	f->plane = plane - 1;
	return 0;
}

static int
log_level_parse(const char *text, unsigned *level)
{
	unsigned i;

	for (i = RTE_LOG_EMERG; i <= RTE_LOG_DEBUG; i++) {
		if (strcmp(text, log_levels[i]) == 0) {
			*level = i;
			return 0;
		}
	}
	return whole(text, RTE_LOG_EMERG, RTE_LOG_DEBUG, level);
}

static int
script_add(struct args *a, const char *text, bool is_file, char *err, unsigned err_size)
{
	if (a->scripts_n == ARGS_SCRIPTS_MAX)
		return fail(err, err_size,
			"more than %u --cmd and --cmd-file, allowed: %u; write a --cmd-file",
			ARGS_SCRIPTS_MAX, ARGS_SCRIPTS_MAX);
	a->scripts[a->scripts_n++] = (struct args_script){text, is_file};
	return 0;
}

static int
job_option(int opt, struct args_job *j, char *err, unsigned err_size)
{
	switch (opt) {
	case OPT_SEND:
		j->file = optarg;
		return 0;
	case OPT_FROM:
		j->from = optarg;
		return 0;
	case OPT_TO:
		j->to = optarg;
		return 0;
	case OPT_OUT:
		j->out = optarg;
		return 0;
	case OPT_MIN_SECONDS:
		if (number(optarg, 0, 86400, &j->min_s) < 0)
			return fail(
				err, err_size, "--min-seconds: '%s', allowed: 0 .. 86400", optarg);
		return 0;
	default:
		if (fault_parse(optarg, &j->fault) < 0)
			return fail(err, err_size,
				"--fault: '%s', allowed: plane=N,down=P[,up=Q] with plane 1 .. %u "
				"and "
				"0 <= P < Q <= 100 percent",
				optarg, MRC_PLANES_MAX);
		j->fault_set = true;
		return 0;
	}
}

static int
option(int opt, struct args *a, char *err, unsigned err_size)
{
	switch (opt) {
	case 'c':
		a->config = optarg;
		return 0;
	case OPT_CHECK:
		a->mode = ARGS_CHECK;
		return 0;
	case OPT_CMD:
		return script_add(a, optarg, false, err, err_size);
	case OPT_CMD_FILE:
		return script_add(a, optarg, true, err, err_size);
	case 'i':
		a->interactive = true;
		return 0;
	case OPT_NO_INPUT:
		a->no_input = true;
		return 0;
	case OPT_PCAP:
		a->pcap_dir = optarg;
		return 0;
	case OPT_PCAP_SNAPLEN:
		if (whole(optarg, 64, MRC_FRAME_BYTES_MAX, &a->pcap_snaplen_bytes) < 0)
			return fail(err, err_size, "--pcap-snaplen: '%s', allowed: 64 .. %u bytes",
				optarg, MRC_FRAME_BYTES_MAX);
		return 0;
	case OPT_NO_HUGE:
		a->no_huge = true;
		return 0;
	case OPT_LOG_LEVEL:
		if (log_level_parse(optarg, &a->log_level) < 0)
			return fail(err, err_size,
				"--log-level: '%s', allowed: emergency .. debug or %u .. %u",
				optarg, RTE_LOG_EMERG, RTE_LOG_DEBUG);
		return 0;
	default:
		return job_option(opt, &a->job, err, err_size);
	}
}

/* What holds between options. */
static int
check(const struct args *a, char *err, unsigned err_size)
{
	const struct args_job *j = &a->job;
	bool part =
		j->from != NULL || j->to != NULL || j->out != NULL || j->min_s > 0 || j->fault_set;

	if (a->config == NULL)
		return fail(err, err_size,
			"no configuration, allowed: dpdk-mrc [options] CONFIG (see --help)");
	if (j->file == NULL && part)
		return fail(err, err_size,
			"--from, --to, --out, --min-seconds and --fault belong to --send FILE");
	if (j->file != NULL && (j->from == NULL || j->to == NULL))
		return fail(err, err_size, "--send: needs --from NODE and --to NODE");
	if (a->interactive && a->no_input)
		return fail(err, err_size, "--interactive and --no-input exclude each other");
	return 0;
}

int
args_parse(int argc, char **argv, struct args *a, char *err, unsigned err_size)
{
	int opt, rc;

	*a = (struct args){.pcap_snaplen_bytes = 256, .log_level = RTE_LOG_WARNING};
	opterr = 0;
	optind = 0; /* getopt starts afresh: tests parse more than once */
	while ((opt = getopt_long(argc, argv, ":c:ih", options, NULL)) != -1) {
		if (opt == 'h' || opt == OPT_VERSION || opt == OPT_CONFIG_HELP) {
			a->mode = opt == 'h'	       ? ARGS_HELP
				  : opt == OPT_VERSION ? ARGS_VERSION
						       : ARGS_CONFIG_HELP;
			return 0;
		}
		if (opt == ':')
			return fail(
				err, err_size, "%s: needs a value (see --help)", argv[optind - 1]);
		if (opt == '?' && optopt > ' ' && optopt < 0x7f)
			return fail(err, err_size, "-%c: unknown option (see --help)", optopt);
		if (opt == '?')
			return fail(err, err_size,
				"%s: unknown option, or one that takes no value (see --help)",
				argv[optind - 1]);
		rc = option(opt, a, err, err_size);
		if (rc < 0)
			return rc;
	}
	if (optind < argc && a->config == NULL)
		a->config = argv[optind++];
	if (optind < argc)
		return fail(err, err_size, "%s: one configuration too many, allowed: one",
			argv[optind]);
	return check(a, err, err_size);
}
