/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of options and what derives from it. See opts.h. */
#include "opts.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "mrc_limits.h"

enum kind {
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

struct row {
	const char *name;
	enum kind kind;
	size_t off;
	const char *value; /* default; "": none */
	double min, max;
	const char *const *names; /* of an enum, ends with NULL */
	const char *arg, *help;
};

static const char *const experiments[] = {"shift", "perm", "incast", "victim", "single", "slow",
	"blackhole", "loss", "planes", "allreduce", "alltoall", "cold", "flap", "evloss", NULL};
static const char *const lbs[] = {"mrc", "oblivious", "single", NULL};
static const char *const ccs[] = {"nscc", "swift", "fixed", "none", NULL};
static const char *const maps[] = {"hash", "srv6", NULL};
static const char *const switches[] = {"off", "on", NULL};

#define AT(field) offsetof(struct sim_opts, field)
#define U32_MAX 4294967294.0

static const struct row rows[] = {
	{"experiment", KIND_ENUM, AT(experiment), "shift", 0, 0, experiments, "NAME",
		"what to run; a list with descriptions stands below"},
	{"hosts", KIND_U32, AT(hosts), "64", 2, 65536, NULL, "N", "hosts"},
	{"hosts-per-leaf", KIND_U32, AT(hosts_per_leaf), "8", 1, 256, NULL, "M",
		"hosts on a leaf switch"},
	{"spines", KIND_U32, AT(spines), "8", 1, 2048, NULL, "S", "spine switches in a plane"},
	{"planes", KIND_U32, AT(planes), "1", 1, MRC_PLANES_MAX, NULL, "P", "planes"},
	{"gbps", KIND_NUM, AT(gbps), "100", 0.001, 10000, NULL, "R", "rate of every link, Gb/s"},
	{"link-ns", KIND_NUM, AT(link_ns), "1000", 0, 1e9, NULL, "L", "delay of every link, ns"},
	{"bytes", KIND_WHOLE, AT(bytes), "2097152", 1, MRC_MSG_BYTES_MAX, NULL, "B",
		"payload of a flow (allreduce: of the vector)"},
	{"incast", KIND_U32, AT(incast), "8", 1, 65535, NULL, "N", "senders of an incast"},
	{"evs", KIND_U32, AT(evs), "128", 1, MRC_EVS_MAX, NULL, "E", "active EVs of a path set"},
	{"backup-evs", KIND_U32, AT(backup_evs), "auto", 0, MRC_EVS_MAX, NULL, "B",
		"EVs held back; auto: a quarter of evs"},
	{"lb", KIND_ENUM, AT(lb), "mrc", 0, 0, lbs, "NAME",
		"mrc; oblivious: rotation without feedback; single: one random EV a flow"},
	{"cc", KIND_ENUM, AT(cc), "nscc", 0, 0, ccs, "NAME", "congestion control"},
	{"window", KIND_WHOLE, AT(window_bytes), "0", 0, 1e12, NULL, "BYTES",
		"of --cc fixed; 0: 1.5 BDP"},
	{"ev-map", KIND_ENUM, AT(ev_map), "hash", 0, 0, maps, "NAME",
		"hash: switches choose up-links by (flow, EV); srv6: EVs name spines, evenly"},
	{"sack-threshold", KIND_U32, AT(sack_threshold), "4096", 1, 1e9, NULL, "B",
		"bytes received that ask for a SACK"},
	{"mtu", KIND_U32, AT(mtu), "4096", MRC_MTU_MIN, MRC_MTU_MAX, NULL, "B",
		"payload of a full packet, a power of two"},
	{"mpr", KIND_U32, AT(mpr), "auto", MRC_MPR_MIN, MRC_MPR_MAX, NULL, "N",
		"PSN window in units of 128 packets; auto: eight BDPs"},
	{"timeout", KIND_U32, AT(timeout), "14", 0, MRC_TIMEOUT_EXP_MAX, NULL, "T",
		"retransmission timeout, 1.024 us * 2^T; 0: never"},
	{"slow-spine", KIND_FACTOR, AT(slow_spine), "", 1e-3, 1, NULL, "K:F",
		"links of spine K run at share F of the rate"},
	{"blackhole-spine", KIND_AT, AT(blackhole_spine), "", 0, 1e9, NULL, "K@US",
		"spine K swallows everything from that time on"},
	{"loss", KIND_NUM, AT(loss), "0", 0, 1, NULL, "P",
		"share of packets lost at random on the way up"},
	{"plane-down", KIND_SPAN, AT(plane_down), "", 0, 1e9, NULL, "P@US[:US]",
		"plane P (from 1) dies silently, and comes back"},
	{"ev-loss", KIND_FACTOR, AT(ev_loss), "", 0, 1, NULL, "I:P",
		"EV I of each path set loses share P"},
	{"trim", KIND_ENUM, AT(trim), "on", 0, 0, switches, "on|off",
		"switches trim; off: queues of 5 BDP"},
	{"lasthop-ecn", KIND_ENUM, AT(lasthop_ecn), "on", 0, 0, switches, "on|off",
		"mark on leaf to host as well"},
	{"recycle", KIND_ENUM, AT(recycle), "on", 0, 0, switches, "on|off",
		"lb mrc: EVs that brought a packet through unmarked go first"},
	{"wire-overhead", KIND_U32, AT(wire_overhead), "0", 0, 1024, NULL, "B",
		"bytes beside the payload on the wire, and of a control packet; 0: true sizes"},
	{"perm", KIND_TEXT, AT(perm), "", 0, 0, NULL, "FILE",
		"perm: lines \"from to\" in place of the seed's permutation"},
	{"probe-rto-us", KIND_NUM, AT(probe_rto_us), "0", 0, 1e9, NULL, "US",
		"first back-off of a suspect EV; 0: 5 base RTTs"},
	{"probe-max-us", KIND_NUM, AT(probe_max_us), "0", 0, 1e9, NULL, "US",
		"longest back-off; 0: 50 base RTTs"},
	{"seed", KIND_WHOLE, AT(seed), "1", 0, 9007199254740991.0, NULL, "K",
		"one seed, byte-identical output"},
	{"limit-us", KIND_NUM, AT(limit_us), "10000000", 1, 1e12, NULL, "US",
		"give up at this virtual time"},
	{"verify", KIND_FLAG, AT(verify), "off", 0, 0, switches, NULL,
		"move real bytes, with ICRC, and compare them"},
	{"json", KIND_FLAG, AT(json), "off", 0, 0, switches, NULL,
		"a JSON line per flow and one for the run"},
	{"trace", KIND_TEXT, AT(trace), "", 0, 0, NULL, "FILE",
		"time series as JSON lines, for mrc-plot.py"},
	{"trace-us", KIND_NUM, AT(trace_us), "0", 0, 1e9, NULL, "US",
		"its interval; 0: one base RTT"},
	{"scenario", KIND_TEXT, AT(scenario), "", 0, 0, NULL, "FILE",
		"options as a JSON object, and \"faults\"; the command line wins"},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static_assert(ROWS <= 64, "sim_opts.given has a bit for each row");

/* What an experiment changes in the defaults, and what it is. */
static const struct {
	const char *set[4][2];
	const char *help;
} presets[] = {
	[SIM_SHIFT] = {{{NULL}}, "host i to host i + N/2, all at once"},
	[SIM_PERM] = {{{NULL}}, "a random permutation between leaves"},
	[SIM_INCAST] = {{{NULL}}, "--incast hosts into host 0"},
	[SIM_VICTIM] = {{{NULL}}, "an incast, and one flow to the neighbour of its target"},
	[SIM_SINGLE] = {{{NULL}}, "one flow alone: the closed form"},
	[SIM_SLOW] = {{{"slow-spine", "0:0.25"}}, "shift with one slow spine"},
	[SIM_BLACKHOLE] = {{{"bytes", "8388608"}, {"blackhole-spine", "0@50"}},
		"shift, and one spine swallows everything"},
	[SIM_LOSS] = {{{"loss", "0.01"}}, "shift with random loss, compared with none"},
	[SIM_PLANES] = {{{"planes", "8"}, {"bytes", "67108864"}, {"plane-down", "1@150:400"}},
		"shift; one plane dies and comes back"},
	[SIM_ALLREDUCE] = {{{NULL}}, "ring over all hosts, 2(N-1) dependent steps"},
	[SIM_ALLTOALL] = {{{"hosts", "16"}, {"bytes", "262144"}}, "every host to every other"},
	[SIM_COLD] = {{{"bytes", "8388608"}}, "shift; half of the EVs are dead from the start"},
	[SIM_FLAP] = {{{"bytes", "8388608"}}, "shift; links of leaf 0 go down and up in turn"},
	[SIM_EVLOSS] = {{{"evs", "16"}, {"bytes", "8388608"}, {"ev-loss", "1:0.2"}},
		"shift; one EV of each flow loses packets"},
};

const char *
sim_opts_experiment(const struct sim_opts *o)
{
	return experiments[o->experiment];
}

static void *
field(const struct sim_opts *o, const struct row *r)
{
	return (char *)(uintptr_t)o + r->off;
}

/* @return false: no number, or not all of text */
static bool
number(const char *text, double *v, const char **end)
{
	char *e;

	errno = 0;
	*v = strtod(text, &e);
	if (e == text || errno != 0 || !isfinite(*v))
		return false;
	*end = e;
	return true;
}

static bool
parse_number(const struct row *r, void *p, const char *text)
{
	const char *end;
	double v;

	if (r->kind == KIND_U32 && strcmp(r->value, "auto") == 0 && strcmp(text, "auto") == 0) {
		*(uint32_t *)p = SIM_NONE;
		return true;
	}
	if (!number(text, &v, &end) || *end != '\0' || v < r->min || v > r->max)
		return false;
	if (r->kind != KIND_NUM && v != floor(v))
		return false;
	if (r->kind == KIND_U32)
		*(uint32_t *)p = (uint32_t)v;
	else
		*(double *)p = v;
	return true;
}

static bool
parse_at(const struct row *r, struct sim_at *at, const char *text)
{
	struct sim_at v = {.b = -1};
	const char *end;
	double k;

	if (text[0] == '\0') {
		at->index = SIM_NONE;
		return true;
	}
	if (!number(text, &k, &end) || k < 0 || k > 65535 || k != floor(k) ||
		*end != (r->kind == KIND_FACTOR ? ':' : '@'))
		return false;
	v.index = (uint32_t)k;
	if (!number(end + 1, &v.a, &end) || v.a < r->min || v.a > r->max)
		return false;
	if (r->kind == KIND_SPAN && *end == ':' && (!number(end + 1, &v.b, &end) || v.b <= v.a))
		return false;
	if (*end != '\0')
		return false;
	*at = v;
	return true;
}

static bool
parse_enum(const struct row *r, uint32_t *p, const char *text)
{
	for (uint32_t i = 0; r->names[i] != NULL; i++)
		if (strcmp(r->names[i], text) == 0) {
			*p = i;
			return true;
		}
	return false;
}

static bool
parse_row(struct sim_opts *o, const struct row *r, const char *text)
{
	switch (r->kind) {
	case KIND_U32:
	case KIND_NUM:
	case KIND_WHOLE:
		return parse_number(r, field(o, r), text);
	case KIND_ENUM:
	case KIND_FLAG:
		return parse_enum(r, field(o, r), text);
	case KIND_TEXT:
		return snprintf(field(o, r), SIM_PATH_MAX, "%s", text) < SIM_PATH_MAX;
	default:
		return parse_at(r, field(o, r), text);
	}
}

static void
allowed(const struct row *r, char *buf, unsigned size)
{
	unsigned n = 0;

	switch (r->kind) {
	case KIND_ENUM:
	case KIND_FLAG:
		for (unsigned i = 0; r->names[i] != NULL && n < size; i++)
			n += (unsigned)snprintf(
				buf + n, size - n, "%s%s", i > 0 ? ", " : "", r->names[i]);
		break;
	case KIND_U32:
	case KIND_WHOLE:
		snprintf(buf, size, "a whole number, %.15g to %.15g%s", r->min, r->max,
			strcmp(r->value, "auto") == 0 ? ", or auto" : "");
		break;
	case KIND_NUM:
		snprintf(buf, size, "a number, %.15g to %.15g", r->min, r->max);
		break;
	case KIND_TEXT:
		snprintf(buf, size, "at most %d characters", SIM_PATH_MAX - 1);
		break;
	default:
		snprintf(buf, size, "%s, the second %.15g to %.15g", r->arg, r->min, r->max);
		break;
	}
}

static const struct row *
row_find(const char *name)
{
	for (unsigned i = 0; i < ROWS; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

int
sim_opts_set(struct sim_opts *o, const char *name, const char *value, char *err, unsigned err_size)
{
	const struct row *r = row_find(name);
	char what[256];

	if (r == NULL) {
		snprintf(err, err_size, "%s: no such option; --help lists them", name);
		return -EINVAL;
	}
	if (!parse_row(o, r, value)) {
		allowed(r, what, sizeof(what));
		snprintf(err, err_size, "%s: \"%.80s\" is not allowed; allowed: %s", name, value,
			what);
		return -EINVAL;
	}
	o->given |= UINT64_C(1) << (r - rows);
	return 0;
}

void
sim_opts_init(struct sim_opts *o)
{
	memset(o, 0, sizeof(*o));
	for (unsigned i = 0; i < ROWS; i++)
		parse_row(o, &rows[i], rows[i].value);
}

static const char *
cross_check(const struct sim_opts *o)
{
	uint32_t leaves = (o->hosts + o->hosts_per_leaf - 1) / o->hosts_per_leaf;

	if (leaves > 2048)
		return "hosts: more than 2048 leaves";
	if (leaves > 1 && o->hosts % o->hosts_per_leaf != 0)
		return "hosts: must fill the leaves, a multiple of hosts-per-leaf";
	if ((o->mtu & (o->mtu - 1)) != 0)
		return "mtu: a power of two";
	if (o->evs + (o->backup_evs == SIM_NONE ? o->evs / 4 : o->backup_evs) > MRC_EVS_MAX)
		return "evs: with backup-evs at most 1024";
	if (o->evs < o->planes && o->lb != SIM_LB_SINGLE)
		return "evs: at least one a plane";
	if ((o->experiment == SIM_INCAST || o->experiment == SIM_VICTIM) &&
		o->incast + 1u + 2u * (o->experiment == SIM_VICTIM) > o->hosts)
		return "incast: more senders than other hosts";
	if ((o->experiment == SIM_INCAST || o->experiment == SIM_VICTIM) &&
		o->incast >= MRC_PATH_SETS_MAX)
		return "incast: at most 255 senders to a host";
	if (o->experiment == SIM_ALLTOALL && o->hosts > MRC_PATH_SETS_MAX)
		return "alltoall: at most 256 hosts";
	if (o->experiment == SIM_ALLREDUCE && o->hosts > 2048)
		return "allreduce: at most 2048 hosts";
	if (o->experiment == SIM_PERM && leaves < 2 && o->perm[0] == '\0')
		return "perm: at least two leaves";
	if ((o->slow_spine.index != SIM_NONE && o->slow_spine.index >= o->spines) ||
		(o->blackhole_spine.index != SIM_NONE && o->blackhole_spine.index >= o->spines))
		return "slow-spine, blackhole-spine: no such spine";
	if (o->plane_down.index != SIM_NONE &&
		(o->plane_down.index < 1 || o->plane_down.index > o->planes))
		return "plane-down: no such plane; they count from 1";
	if (o->experiment == SIM_PLANES && o->plane_down.index == SIM_NONE)
		return "plane-down: the planes experiment needs it";
	if (o->ev_loss.index != SIM_NONE && o->ev_loss.index >= o->evs)
		return "ev-loss: no such EV";
	return NULL;
}

int
sim_opts_finish(struct sim_opts *o, char *err, unsigned err_size)
{
	const char *wrong;

	for (unsigned i = 0; i < 4; i++) {
		const char *name = presets[o->experiment].set[i][0];
		const struct row *r = name != NULL ? row_find(name) : NULL;

		if (r != NULL && !(o->given >> (r - rows) & 1))
			parse_row(o, r, presets[o->experiment].set[i][1]);
	}
	if (o->lb == SIM_LB_SINGLE) {
		o->evs = 1;
		o->backup_evs = 0;
	} else if (o->backup_evs == SIM_NONE) {
		o->backup_evs = o->evs / 4;
	}
	wrong = cross_check(o);
	if (wrong == NULL)
		return 0;
	snprintf(err, err_size, "%s", wrong);
	return -EINVAL;
}

/* One argument of the command line. @return how many words it took, 0 on an error */
static int
take(struct sim_opts *o, int left, char **argv, enum sim_opts_mode *mode, char *err,
	unsigned err_size)
{
	const char *a = argv[0], *eq;
	const struct row *r;
	char name[32];

	if (strcmp(a, "--help") == 0 || strcmp(a, "-h") == 0) {
		*mode = SIM_HELP;
		return 1;
	}
	if (strcmp(a, "--version") == 0) {
		*mode = SIM_VERSION;
		return 1;
	}
	eq = strchr(a, '=');
	snprintf(name, sizeof(name), "%.*s", eq != NULL ? (int)(eq - a) : (int)strlen(a), a);
	r = strncmp(name, "--", 2) == 0 ? row_find(name + 2) : NULL;
	if (r == NULL) {
		snprintf(err, err_size, "%.80s: no such option; --help lists them", a);
		return 0;
	}
	if (r->kind == KIND_FLAG && eq == NULL)
		return sim_opts_set(o, r->name, "on", err, err_size) == 0 ? 1 : 0;
	if (eq != NULL)
		return sim_opts_set(o, r->name, eq + 1, err, err_size) == 0 ? 1 : 0;
	if (left < 2) {
		snprintf(err, err_size, "%s: a value is missing", a);
		return 0;
	}
	return sim_opts_set(o, r->name, argv[1], err, err_size) == 0 ? 2 : 0;
}

static int
command_line(struct sim_opts *o, int argc, char **argv, enum sim_opts_mode *mode, char *err,
	unsigned err_size)
{
	for (int i = 1, n; i < argc; i += n) {
		n = take(o, argc - i, argv + i, mode, err, err_size);
		if (n == 0)
			return -EINVAL;
	}
	return 0;
}

int
sim_opts_parse(struct sim_opts *o, int argc, char **argv, enum sim_opts_mode *mode, char *err,
	unsigned err_size)
{
	char file[SIM_PATH_MAX];
	int rc;

	*mode = SIM_RUN;
	sim_opts_init(o);
	rc = command_line(o, argc, argv, mode, err, err_size);
	if (rc == 0 && *mode == SIM_RUN && o->scenario[0] != '\0') {
		/* the file first, then the command line once more: it wins */
		memcpy(file, o->scenario, sizeof(file));
		sim_opts_init(o);
		rc = sim_scenario_load(o, file, err, err_size);
		if (rc == 0)
			rc = command_line(o, argc, argv, mode, err, err_size);
	}
	if (rc == 0 && *mode == SIM_RUN)
		rc = sim_opts_finish(o, err, err_size);
	return rc;
}

void
sim_opts_help(FILE *f)
{
	fprintf(f, "mrc-sim: the transport under a discrete-event loop, on multi-plane Clos "
		   "networks.\n\nusage: mrc-sim [OPTION]...\n\n");
	for (unsigned i = 0; i < ROWS; i++) {
		const struct row *r = &rows[i];
		char left[64];

		snprintf(left, sizeof(left), "--%s%s%s", r->name, r->arg != NULL ? " " : "",
			r->arg != NULL ? r->arg : "");
		fprintf(f, "  %-28s %s", left, r->help);
		if (r->value[0] != '\0' && r->kind != KIND_FLAG)
			fprintf(f, " [%s]", r->value);
		fprintf(f, "\n");
	}
	fprintf(f, "  %-28s %s\n  %-28s %s\n\nexperiments:\n", "--help", "this text", "--version",
		"version and commit");
	for (unsigned i = 0; experiments[i] != NULL; i++) {
		fprintf(f, "  %-10s %s", experiments[i], presets[i].help);
		for (unsigned k = 0; k < 4 && presets[i].set[k][0] != NULL; k++)
			fprintf(f, "%s--%s %s", k == 0 ? " (" : " ", presets[i].set[k][0],
				presets[i].set[k][1]);
		fprintf(f, "%s\n", presets[i].set[0][0] != NULL ? ")" : "");
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
settings_row(const struct sim_opts *o, const struct row *r, FILE *f)
{
	const void *p = field(o, r);
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
	for (unsigned i = 0; i < ROWS; i++) {
		fprintf(f, "%s\"%s\":", i > 0 ? "," : "", rows[i].name);
		settings_row(o, &rows[i], f);
	}
	fputc('}', f);
}
