/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options, a row each, and the experiments with their own defaults. Command line, scenario
 * keys, help text and the report's "settings" derive from these. Who calls it: opts*.c.
 */
#include <assert.h>

#include "mrc_limits.h"
#include "opts_priv.h"

const char *const sim_experiments[] = {"shift", "perm", "incast", "victim", "single", "slow",
	"blackhole", "loss", "planes", "allreduce", "alltoall", "cold", "flap", "evloss", NULL};
static const char *const lbs[] = {"mrc", "oblivious", "single", NULL};
static const char *const ccs[] = {"nscc", "swift", "fixed", "none", NULL};
static const char *const maps[] = {"hash", "srv6", NULL};
static const char *const switches[] = {"off", "on", NULL};

#define AT(field) offsetof(struct sim_opts, field)
#define U32_MAX 4294967294.0

const struct sim_row sim_rows[] = {
	{"experiment", KIND_ENUM, AT(experiment), "shift", 0, 0, sim_experiments, "NAME",
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

const unsigned sim_rows_n = sizeof(sim_rows) / sizeof(sim_rows[0]);

static_assert(sizeof(sim_rows) / sizeof(sim_rows[0]) <= SIM_ROWS_MAX, "a bit for each row");

const struct sim_preset sim_presets[] = {
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
