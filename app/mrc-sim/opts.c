/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options from the command line, from a scenario and from the experiment, and the checks between
 * them. See opts.h.
 */
#include <errno.h>
#include <string.h>

#include "mrc_limits.h"
#include "opts_priv.h"

const char *
sim_opts_experiment(const struct sim_opts *o)
{
	return sim_experiments[o->experiment];
}

static const struct sim_row *
row_find(const char *name)
{
	for (unsigned i = 0; i < sim_rows_n; i++)
		if (strcmp(sim_rows[i].name, name) == 0)
			return &sim_rows[i];
	return NULL;
}

int
sim_opts_set(struct sim_opts *o, const char *name, const char *value, char *err, unsigned err_size)
{
	const struct sim_row *r = row_find(name);
	char what[256];

	if (r == NULL) {
		snprintf(err, err_size, "%s: no such option; --help lists them", name);
		return -EINVAL;
	}
	if (!sim_row_parse(o, r, value)) {
		sim_row_allowed(r, what, sizeof(what));
		snprintf(err, err_size, "%s: \"%.80s\" is not allowed; allowed: %s", name, value,
			what);
		return -EINVAL;
	}
	o->given |= UINT64_C(1) << (r - sim_rows);
	return 0;
}

void
sim_opts_init(struct sim_opts *o)
{
	memset(o, 0, sizeof(*o));
	for (unsigned i = 0; i < sim_rows_n; i++)
		sim_row_parse(o, &sim_rows[i], sim_rows[i].value);
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
		const char *name = sim_presets[o->experiment].set[i][0];
		const struct sim_row *r = name != NULL ? row_find(name) : NULL;

		if (r != NULL && !(o->given >> (r - sim_rows) & 1))
			sim_row_parse(o, r, sim_presets[o->experiment].set[i][1]);
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
	const struct sim_row *r;
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
