/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The settings of one simulation. One table of options (opts_table.c) gives the command line, the
 * keys of a scenario file, the help text and the "settings" object of the report; an experiment
 * gives its own defaults to what was not named. Who calls it: main.c; everything else reads struct
 * sim_opts.
 */
#ifndef SIM_OPTS_H
#define SIM_OPTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum sim_experiment {
	SIM_SHIFT,
	SIM_PERM,
	SIM_INCAST,
	SIM_VICTIM,
	SIM_SINGLE,
	SIM_SLOW,
	SIM_BLACKHOLE,
	SIM_LOSS,
	SIM_PLANES,
	SIM_ALLREDUCE,
	SIM_ALLTOALL,
	SIM_COLD,
	SIM_FLAP,
	SIM_EVLOSS,
};
enum sim_lb { SIM_LB_MRC, SIM_LB_OBLIVIOUS, SIM_LB_SINGLE };
enum sim_cc { SIM_CC_NSCC, SIM_CC_SWIFT, SIM_CC_FIXED, SIM_CC_NONE };
enum sim_ev_map { SIM_EV_HASH, SIM_EV_SRV6 };

#define SIM_PATH_MAX 256
#define SIM_FAULTS_MAX 256
#define SIM_NONE UINT32_MAX

/* One entry of the fault schedule. */
struct sim_fault {
	double at_us;
	char link[32]; /* as mrc_fabric_link_set takes it */
	enum {
		SIM_FAULT_UP,
		SIM_FAULT_DOWN,
		SIM_FAULT_BLACKHOLE,
		SIM_FAULT_LOSS,
		SIM_FAULT_RATE
	} what;
	double value; /* share of loss; Gb/s */
};

/* "K:F", "K@US", "P@US[:US]": index SIM_NONE means not asked for */
struct sim_at {
	uint32_t index;
	double a, b; /* b < 0: never */
};

struct sim_opts {
	uint32_t experiment; /* enum sim_experiment */
	uint32_t hosts, hosts_per_leaf, spines, planes;
	double gbps;
	double link_ns;
	double bytes;
	uint32_t incast;
	uint32_t evs, backup_evs; /* backups SIM_NONE: a quarter of evs */
	uint32_t lb, cc, ev_map;
	double window_bytes; /* of --cc fixed; 0: 1.5 BDP */
	uint32_t sack_threshold, mtu, mpr, timeout;
	struct sim_at slow_spine, blackhole_spine, plane_down, ev_loss;
	double loss;
	uint32_t trim, lasthop_ecn, recycle, verify, json;
	char perm[SIM_PATH_MAX];
	uint32_t wire_overhead;
	double seed;
	double probe_rto_us, probe_max_us; /* 0: 5 and 50 base RTTs */
	double limit_us;
	char scenario[SIM_PATH_MAX], trace[SIM_PATH_MAX];
	double trace_us; /* 0: one base RTT */
	unsigned faults_n;
	struct sim_fault faults[SIM_FAULTS_MAX]; /* of the scenario */
	uint64_t given;				 /* bit i: row i of the table was named */
};

enum sim_opts_mode { SIM_RUN, SIM_HELP, SIM_VERSION };

/**
 * Command line, scenario file and the experiment's defaults, checked as a whole.
 * @param[out] err on failure one line without newline
 * @return 0, or -EINVAL
 */
int sim_opts_parse(struct sim_opts *o, int argc, char **argv, enum sim_opts_mode *mode, char *err,
	unsigned err_size);
/** One option by name, as the command line would. @return 0, or -EINVAL and err */
int
sim_opts_set(struct sim_opts *o, const char *name, const char *value, char *err, unsigned err_size);
/** Defaults of the table; then sim_opts_set, then sim_opts_finish. */
void sim_opts_init(struct sim_opts *o);
/** The experiment's defaults and the checks that need more than one option. */
int sim_opts_finish(struct sim_opts *o, char *err, unsigned err_size);
void sim_opts_help(FILE *f);
/** Every option as one JSON object. */
void sim_opts_settings(const struct sim_opts *o, FILE *f);
const char *sim_opts_experiment(const struct sim_opts *o);

/* scenario.c: a JSON object of options, and "faults" */
int sim_scenario_load(struct sim_opts *o, const char *file, char *err, unsigned err_size);

#endif /* SIM_OPTS_H */
