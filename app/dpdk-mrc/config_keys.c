/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The keys of the configuration: one row each, from which parsing, checks, error texts and
 * doc/config.md follow. Types that only one key has stand here too. Who calls it: config.c,
 * config_doc.c through cfg_root.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config_read.h"

static int
text_get(struct cfg_reader *r, const struct cfg_key *k, json_t *v, const char **text)
{
	*text = json_string_value(v);
	return *text != NULL ? 0 : cfg_fail(r, k, "is no string");
}

static void
gid_describe(const struct cfg_key *k, FILE *out)
{
	fprintf(out, "an IPv6 or IPv4 unicast address");
}

static int
gid_read(struct cfg_reader *r, const struct cfg_key *k, json_t *v, void *base)
{
	static const struct mrc_addr zero;
	const char *text;
	struct mrc_addr a;
	bool v4;

	if (text_get(r, k, v, &text) < 0)
		return -EINVAL;
	if (mrc_addr_parse(text, &a) < 0)
		return cfg_fail(r, k, "\"%.40s\" is no address", text);
	v4 = mrc_addr_is_v4(&a);
	if (mrc_addr_eq(&a, &zero) || a.b[0] == 0xff || (v4 && (a.b[12] >= 224 || a.b[12] == 0)))
		return cfg_fail(r, k, "\"%.40s\" is not unicast", text);
	memcpy((char *)base + k->offset, &a, sizeof(a));
	return 0;
}

static const struct cfg_type type_gid = {gid_describe, gid_read};

static void
locator_describe(const struct cfg_key *k, FILE *out)
{
	fprintf(out, "an IPv6 prefix of 32 bits");
}

static int
locator_read(struct cfg_reader *r, const struct cfg_key *k, json_t *v, void *base)
{
	char prefix[MRC_ADDR_TEXT_MAX];
	const char *text, *slash;
	struct mrc_addr a;
	unsigned i;

	if (text_get(r, k, v, &text) < 0)
		return -EINVAL;
	slash = strchr(text, '/');
	if (slash == NULL || strcmp(slash, "/32") != 0 || slash - text >= (long)sizeof(prefix))
		return cfg_fail(r, k, "\"%.40s\" does not end in /32", text);
	snprintf(prefix, sizeof(prefix), "%.*s", (int)(slash - text), text);
	if (mrc_addr_parse(prefix, &a) < 0 || mrc_addr_is_v4(&a))
		return cfg_fail(r, k, "\"%.40s\" is no IPv6 prefix", text);
	for (i = MRC_USID_BLOCK_BYTES; i < sizeof(a.b); i++)
		if (a.b[i] != 0)
			return cfg_fail(r, k, "\"%.40s\" has bits behind the prefix", text);
	if (a.b[0] == 0xff || (a.b[0] | a.b[1] | a.b[2] | a.b[3]) == 0)
		return cfg_fail(r, k, "\"%.40s\" is not unicast", text);
	memcpy((char *)base + k->offset, a.b, MRC_USID_BLOCK_BYTES);
	return 0;
}

static const struct cfg_type type_locator = {locator_describe, locator_read};

static void
usid_describe(const struct cfg_key *k, FILE *out)
{
	fprintf(out, "a uSID of four hex digits \"0001\" .. \"ffff\"");
}

static int
usid_read(struct cfg_reader *r, const struct cfg_key *k, json_t *v, void *base)
{
	const char *text;
	uint16_t usid;
	char *end;

	if (text_get(r, k, v, &text) < 0)
		return -EINVAL;
	usid = (uint16_t)strtoul(text, &end, 16);
	if (strlen(text) != 4 || *end != '\0' || !isxdigit((unsigned char)*text) || usid == 0)
		return cfg_fail(r, k, "\"%.40s\" is no uSID", text);
	*(uint16_t *)base = usid;
	return 0;
}

static const struct cfg_type type_usid = {usid_describe, usid_read};

static void
ev_address_describe(const struct cfg_key *k, FILE *out)
{
	fprintf(out, "an IPv6 address inside the locator");
}

static int
ev_address_read(struct cfg_reader *r, const struct cfg_key *k, json_t *v, void *base)
{
	struct cfg_ev *ev = base;
	const char *text;

	if (text_get(r, k, v, &text) < 0)
		return -EINVAL;
	if (mrc_addr_parse(text, &ev->address) < 0)
		return cfg_fail(r, k, "\"%.40s\" is no address", text);
	ev->complete = true;
	return 0;
}

static const struct cfg_type type_ev_address = {ev_address_describe, ev_address_read};

static void
algorithm_describe(const struct cfg_key *k, FILE *out)
{
	unsigned i;

	for (i = 0; mrc_cc_get(i) != NULL; i++)
		fprintf(out, "%s\"%s\"", i > 0 ? ", " : "", mrc_cc_get(i)->name);
}

static int
algorithm_read(struct cfg_reader *r, const struct cfg_key *k, json_t *v, void *base)
{
	const struct mrc_cc_ops *ops;
	const char *text;

	if (text_get(r, k, v, &text) < 0)
		return -EINVAL;
	ops = mrc_cc_find(text);
	if (ops == NULL)
		return cfg_fail(r, k, "\"%.40s\" is unknown", text);
	((struct cfg_cc *)base)->algorithm = ops->name;
	return 0;
}

static const struct cfg_type type_algorithm = {algorithm_describe, algorithm_read};

static const char *const link_names[] = {
	[CFG_LINK_FABRIC] = "fabric", [CFG_LINK_RING] = "ring", NULL};
static const char *const mode_names[] = {[MRC_EV_UDP] = "udp",
	[MRC_EV_STEV] = "stev",
	[MRC_EV_SRV6] = "srv6",
	[MRC_EV_SRV6_SRH] = "srv6-srh",
	NULL};
static const char *const layout_names[] = {
	[MRC_EV_FLOW_HIGH] = "flow-high", [MRC_EV_SPORT_HIGH] = "sport-high", NULL};

/* clang-format off */
#define FIELD(s, f) .offset = offsetof(struct s, f), .size = sizeof(((struct s *)0)->f)
#define UINT(lo, hi) .type = &cfg_type_uint, .min = (lo), .max = (hi)
#define POW2(lo, hi) UINT(lo, hi), .pow2 = true
#define NUMBER(lo, hi) .type = &cfg_type_number, .min = (lo), .max = (hi)
#define CHOICE(names) .type = &cfg_type_choice, .choices = (names)
#define GROUP(rows) .type = &cfg_type_group, .sub = (rows)
#define LIST(s, f, n, elem, lo, hi) .type = &cfg_type_list, .offset = offsetof(struct s, f), \
	.count_offset = offsetof(struct s, n), .elem_size = sizeof(((struct s *)0)->f[0]), .sub = &(elem), \
	.min = (lo), .max = (hi)
#define UNSET UINT32_MAX
#define CPU_MAX 1023
#define WORKERS_MAX (sizeof(((struct cfg *)0)->workers) / sizeof(unsigned))
#define SEED_MAX 9007199254740991. /* whole numbers that every JSON tool keeps exactly */

static const struct cfg_key node_keys[] = {
	{"name", .type = &cfg_type_name, FIELD(cfg_node, name), .help = "what commands call the node"},
	{"gid", .type = &type_gid, FIELD(cfg_node, gid),
		.help = "the node's address; outside the locator, IPv4 only with EV mode udp"},
	{"host", UINT(0, 524287), FIELD(cfg_node, host), .def = "(spread over the leaves: node i on leaf i % leaves)",
		.unset = UNSET, .help = "host number in the fabric; host h sits on leaf h / hosts_per_leaf"},
	{"worker", UINT(0, WORKERS_MAX - 1), FIELD(cfg_node, worker), .def = "0",
		.help = "index into workers: who runs the node's engine"},
	{0}};
static const struct cfg_key node_elem = {.type = &cfg_type_group, .sub = node_keys};

static const struct cfg_key via_elem = {.type = &type_usid};
static const struct cfg_key ev_keys[] = {
	{"plane", UINT(1, MRC_PLANES_MAX), FIELD(cfg_ev, plane), .bias = 1, .help = "plane of the EV, from 1"},
	{"via", LIST(cfg_ev, via, via_n, via_elem, 0, MRC_USID_VIA_MAX), .def = "[]",
		.help = "uSIDs on the way, e.g. T0 and T1; those of the destination are appended per peer"},
	{"address", .type = &type_ev_address, .offset = offsetof(struct cfg_ev, address),
		.def = "(built from via)", .help = "the whole uSID list instead, good for one destination"},
	{0}};
static const struct cfg_key ev_elem = {.type = &cfg_type_group, .sub = ev_keys};

static const struct cfg_key profile_keys[] = {
	{"name", .type = &cfg_type_name, FIELD(cfg_ev_profile, name), .help = "what commands call the profile"},
	{"mode", CHOICE(mode_names), FIELD(cfg_ev_profile, mode), .def = "\"srv6\"",
		.help = "encapsulation: where a packet's path is written"},
	{"count", UINT(1, MRC_EVS_MAX), FIELD(cfg_ev_profile, count), .def = "(as many as evs lists, else 128)",
		.help = "EVs in all: active and backups"},
	{"backups", UINT(0, MRC_EVS_MAX - 1), FIELD(cfg_ev_profile, backups), .def = "0",
		.help = "of them, held back until an active one of the same plane fails"},
	{"min_active", UINT(1, MRC_EVS_MAX), FIELD(cfg_ev_profile, min_active),
		.def = "(one a plane)", .help = "with as few EVs left, no more are taken out"},
	{"evs", LIST(cfg_ev_profile, evs, evs_n, ev_elem, 0, MRC_EVS_MAX), .heap = true, .def = "[]",
		.help = "explicit EVs (SRv6 modes); none: generated over planes and T1s"},
	{0}};
static const struct cfg_key profile_elem = {.type = &cfg_type_group, .sub = profile_keys};

static const struct cfg_key fabric_keys[] = {
	{"leaves", UINT(1, MRC_USID_INDEX_MAX), FIELD(cfg_fabric, leaves), .def = "2", .help = "T0 switches in each plane"},
	{"spines", UINT(1, MRC_USID_INDEX_MAX), FIELD(cfg_fabric, spines), .def = "2", .help = "T1 switches in each plane"},
	{"hosts_per_leaf", UINT(1, MRC_USID_PORT_MAX), FIELD(cfg_fabric, hosts_per_leaf), .def = "1",
		.help = "host ports of a T0"},
	{"rate_gbps", NUMBER(0.001, 1600), FIELD(cfg_fabric, rate_gbps), .def = "10", .help = "rate of every link"},
	{"latency_ns", UINT(0, 1e9), FIELD(cfg_fabric, latency_ns), .def = "1000", .help = "propagation over every link"},
	{"queue_packets", UINT(4, 65536), FIELD(cfg_fabric, queue_packets), .def = "512",
		.help = "full frames in the data queue of a switch port"},
	{"trim", .type = &cfg_type_bool, .offset = offsetof(struct cfg_fabric, trim), .def = "true",
		.help = "a full queue trims packets to their headers instead of dropping them"},
	{"ecn", .type = &cfg_type_bool, .offset = offsetof(struct cfg_fabric, ecn), .def = "true",
		.help = "switches mark congestion"},
	{"ecn_lasthop", .type = &cfg_type_bool, .offset = offsetof(struct cfg_fabric, ecn_lasthop), .def = "false",
		.help = "mark on the hop to the host too"},
	{"ecn_kmin_packets", UINT(1, 65536), FIELD(cfg_fabric, ecn_kmin_packets), .def = "(a quarter of the queue)",
		.help = "no marks below this queue"},
	{"ecn_kmax_packets", UINT(1, 65536), FIELD(cfg_fabric, ecn_kmax_packets), .def = "(three quarters of the queue)",
		.help = "every packet is marked above this queue"},
	{"ring_size", POW2(32, 32768), FIELD(cfg_fabric, ring_size), .def = "1024",
		.help = "frames in each ring between a node and the fabric"},
	{"seed", UINT(0, SEED_MAX), FIELD(cfg_fabric, seed), .def = "(the daemon's)", .unset = UINT64_MAX,
		.help = "of random loss and ECMP"},
	{"worker", UINT(0, WORKERS_MAX - 1), FIELD(cfg_fabric, worker), .def = "0",
		.help = "index into workers: who runs the switches"},
	{0}};

static const struct cfg_key qp_keys[] = {
	{"mtu_bytes", POW2(MRC_MTU_MIN, MRC_MTU_MAX), FIELD(cfg_qp, mtu_bytes), .def = "4096",
		.help = "path MTU: payload of a full packet; 8192 is an extension"},
	{"mpr", UINT(MRC_MPR_MIN, MRC_MPR_MAX), FIELD(cfg_qp, mpr), .def = "8",
		.help = "window of packet numbers, in units of 128"},
	{"timeout", UINT(0, MRC_TIMEOUT_EXP_MAX), FIELD(cfg_qp, timeout), .def = "14",
		.help = "retransmission timeout 1.024 us * 2^timeout; 0: never"},
	{"linear_cnt", UINT(0, MRC_LINEAR_CNT_MAX), FIELD(cfg_qp, linear_cnt), .def = "7",
		.help = "timeouts of the same length"},
	{"exp_cnt", UINT(0, MRC_EXP_CNT_MAX), FIELD(cfg_qp, exp_cnt), .def = "4",
		.help = "then timeouts that double; 25: for ever"},
	{"max_wimm", UINT(1, 4096), FIELD(cfg_qp, max_wimm), .def = "32", .help = "Write-Imms outstanding"},
	{"sq_depth", POW2(1, MRC_SQ_DEPTH_MAX), FIELD(cfg_qp, sq_depth), .def = "256", .help = "sends posted"},
	{"rq_depth", POW2(1, MRC_RQ_DEPTH_MAX), FIELD(cfg_qp, rq_depth), .def = "256", .help = "receives posted"},
	{"sack_threshold_bytes", UINT(1024, 64 * MRC_MTU_MAX), FIELD(cfg_qp, sack_threshold_bytes), .def = "(mtu_bytes)",
		.help = "bytes received between two SACKs"},
	{"psn_window_nack", .type = &cfg_type_bool, .offset = offsetof(struct cfg_qp, psn_window_nack), .def = "true",
		.help = "a packet past the window is answered by a NACK, not dropped silently"},
	{0}};

static const struct cfg_key cc_keys[] = {
	{"algorithm", .type = &type_algorithm, FIELD(cfg_cc, algorithm), .def = "\"fixed\"", .help = "congestion control"},
	{"window_bytes", UINT(4096, 4294967296.), FIELD(cfg_cc, window_bytes), .def = "262144",
		.help = "the window of algorithm fixed"},
	{"rate_gbps", NUMBER(0.001, 1600), .offset = offsetof(struct cfg_cc, rate_gbps),
		.def = "(the fabric's; mandatory for link ring unless the algorithm is fixed or none)",
		.help = "rate of a plane"},
	{"base_rtt_ns", UINT(1000, 1e9), FIELD(cfg_cc, base_rtt_ns),
		.def = "(computed from the fabric; 100000 for link ring)", .help = "round trip of a full packet, empty network"},
	{0}};

static const struct cfg_key path_keys[] = {
	{"probe_answers", UINT(1, 16), FIELD(cfg_path, probe_answers), .def = "3",
		.help = "consecutive answered probes that clear a suspected EV"},
	{"probe_backoff_max_ns", UINT(1e6, 60e9), FIELD(cfg_path, probe_backoff_max_ns), .def = "1000000000",
		.help = "longest pause between two probes of a suspect"},
	{"probe_gap_ns", UINT(0, 1e9), FIELD(cfg_path, probe_gap_ns), .def = "20000",
		.help = "least time between two probes to one peer"},
	{"recycle", .type = &cfg_type_bool, .offset = offsetof(struct cfg_path, recycle), .def = "true",
		.help = "EVs that brought a packet through unmarked are used again before the rotation moves on"},
	{"jitter_ns", UINT(0, 1e9), FIELD(cfg_path, jitter_ns), .def = "1000000",
		.help = "what a host may add to any delay: no packet is taken for lost sooner, and a worker kept from "
			"running for half of it does not count that time"},
	{0}};

#define DSCP(f, d, h) {#f, UINT(0, 63), FIELD(mrc_dscp, f), .def = d, .help = h}
static const struct cfg_key dscp_keys[] = {
	DSCP(no_trim, "0", "data that switches must not trim"),
	DSCP(trimmable, "4", "data that switches may trim"),
	DSCP(trimmable_rtx, "8", "retransmissions that switches may trim"),
	DSCP(trimmed, "12", "trimmed packets"),
	DSCP(trimmed_lasthop, "16", "packets trimmed on the last hop"),
	DSCP(control, "46", "SACK, NACK, ACK"),
	{0}};

static const struct cfg_key wire_keys[] = {
	{"udp_port", UINT(1, 65535), FIELD(mrc_wire_cfg, udp_port), .def = "4791", .help = "UDP destination port"},
	{"ev_layout", CHOICE(layout_names), FIELD(mrc_wire_cfg, layout), .def = "\"flow-high\"",
		.help = "which half of a 32-bit EV is in the flow label"},
	{"dscp", GROUP(dscp_keys), .offset = offsetof(struct mrc_wire_cfg, dscp), .def = "{}", .help = "traffic classes"},
	{0}};

static const struct cfg_key cpu_elem = {.type = &cfg_type_uint, .max = CPU_MAX, .size = sizeof(unsigned)};

static const struct cfg_key root_keys[] = {
	{"planes", UINT(1, MRC_PLANES_MAX), FIELD(cfg, planes),
		.help = "parallel networks; every node has one port in each; nodes x planes <= 32"},
	{"link", CHOICE(link_names), FIELD(cfg, link), .def = "\"fabric\"",
		.help = "fabric: ports hang on the built-in switches; ring: two nodes back to back"},
	{"locator", .type = &type_locator, .offset = offsetof(struct cfg, block), .def = "\"fcbb:bb00::/32\"",
		.help = "block of all uSIDs"},
	{"nodes", LIST(cfg, nodes, nodes_n, node_elem, 1, MRC_NODES_MAX), .help = "the ends of this process"},
	{"ev_profiles", LIST(cfg, profiles, profiles_n, profile_elem, 1, CFG_PROFILES_MAX),
		.def = "[{\"name\": \"default\"}]", .help = "sets of paths; the first is the default"},
	{"fabric", GROUP(fabric_keys), .offset = offsetof(struct cfg, fabric), .def = "{}",
		.help = "the built-in multi-plane Clos network"},
	{"qp", GROUP(qp_keys), .offset = offsetof(struct cfg, qp), .def = "{}", .help = "attributes of connections"},
	{"cc", GROUP(cc_keys), .offset = offsetof(struct cfg, cc), .def = "{}", .help = "congestion control"},
	{"path", GROUP(path_keys), .offset = offsetof(struct cfg, path), .def = "{}", .help = "probing of suspected paths"},
	{"workers", LIST(cfg, workers, workers_n, cpu_elem, 1, WORKERS_MAX), .def = "(one: the last CPU allowed)",
		.help = "CPUs, one polling thread each; a CPU may stand here twice"},
	{"main_cpu", UINT(0, CPU_MAX), FIELD(cfg, main_cpu), .def = "(the first CPU allowed)", .unset = UNSET,
		.help = "CPU of the control thread"},
	{"ring_size", POW2(32, 32768), FIELD(cfg, ring_size), .def = "1024", .help = "frames each way of a link ring"},
	{"mbufs", UINT(0, 4194304), FIELD(cfg, mbufs), .def = "0",
		.help = "packet buffers; 0: computed from rings, windows and queues"},
	{"hugepages", .type = &cfg_type_bool, .offset = offsetof(struct cfg, hugepages), .def = "true",
		.help = "use huge pages where enough are free"},
	{"seed", UINT(0, SEED_MAX), FIELD(cfg, seed), .def = "1", .help = "of everything random"},
	{"wire", GROUP(wire_keys), .offset = offsetof(struct cfg, wire), .def = "{}", .help = "choices of the wire format"},
	{0}};

const struct cfg_key cfg_root = {.type = &cfg_type_group, .sub = root_keys};
/* clang-format on */
