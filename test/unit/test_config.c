/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration: samples load with the values they name, every bad file ends in one line with
 * the right place.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "config_doc.h"
#include "config_pos.h"
#include "mrc_check.h"

#define TOP TEST_VECTORS "/../../"
#define A "{\"name\":\"A\",\"gid\":\"fd00::1\"}"
#define B "{\"name\":\"B\",\"gid\":\"fd00::2\"}"
/* What follows stands on line 3. */
#define HEAD "{\"planes\":4,\n\"nodes\":[" A "," B "],\n"
#define EVS(rest) HEAD "\"ev_profiles\":[{\"name\":\"p\"," rest "}]}"
#define FABRIC(rest) HEAD "\"fabric\":{" rest "}}"

static char path[64];
static char err[1024];
static struct cfg cfg;

/* Writes text to a file of our own and loads it. */
static int
load_bytes(const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, len), (ssize_t)len);
	close(fd);
	return cfg_load(path, &cfg, err, sizeof(err));
}

static int
load(const char *text)
{
	return load_bytes(text, strlen(text));
}

static void
setup(void)
{
	snprintf(path, sizeof(path), "/tmp/mrc-config-%d.json", (int)getpid());
}

static void
teardown(void)
{
	unlink(path);
}

static void
same_addr(const struct mrc_addr *a, const char *text)
{
	struct mrc_addr b;

	ck_assert_int_eq(mrc_addr_parse(text, &b), 0);
	ck_assert(mrc_addr_eq(a, &b));
}

START_TEST(the_quickstart_sample_loads_with_its_values)
{
	ck_assert_int_eq(cfg_load(TOP "config/quickstart.json", &cfg, err, sizeof(err)), 0);
	ck_assert_uint_eq(cfg.planes, 4);
	ck_assert_uint_eq(cfg.link, CFG_LINK_FABRIC);
	ck_assert_mem_eq(cfg.block, "\xfc\xbb\xbb\x00", 4);
	ck_assert_uint_eq(cfg.nodes_n, 2);
	ck_assert_str_eq(cfg.nodes[0].name, "A");
	ck_assert_str_eq(cfg.nodes[1].name, "B");
	same_addr(&cfg.nodes[0].gid, "fd00::1");
	same_addr(&cfg.nodes[1].gid, "fd00::2");
	ck_assert_uint_eq(cfg.fabric.leaves, 2);
	ck_assert_uint_eq(cfg.fabric.spines, 2);
	ck_assert_uint_eq(cfg.fabric.hosts_per_leaf, 1);
	ck_assert_double_eq(cfg.fabric.rate_gbps, 0.5);
	ck_assert_uint_eq(cfg.fabric.latency_ns, 1000);
	ck_assert_uint_eq(cfg.fabric.queue_packets, 512);
	ck_assert_uint_eq(cfg.profiles_n, 1);
	ck_assert_uint_eq(cfg.profiles[0].mode, MRC_EV_SRV6);
	ck_assert_uint_eq(cfg.profiles[0].count, 128);
	ck_assert_uint_le(cfg.profiles[0].backups, 32);
	ck_assert_str_eq(cfg.cc.algorithm, "fixed");
	ck_assert_uint_eq(cfg.cc.window_bytes, 262144);
	ck_assert_uint_eq(cfg.path.probe_backoff_max_ns, 50000000);
	/* Nodes sit on different leaves, so that their packets cross a T1. */
	ck_assert_uint_eq(cfg.nodes[0].host, 0);
	ck_assert_uint_eq(cfg.nodes[1].host, 1);
	cfg_free(&cfg);
}
END_TEST

START_TEST(the_ring_sample_puts_both_nodes_on_one_worker)
{
	ck_assert_int_eq(cfg_load(TOP "config/ring.json", &cfg, err, sizeof(err)), 0);
	ck_assert_uint_eq(cfg.link, CFG_LINK_RING);
	ck_assert_uint_eq(cfg.planes, 4);
	ck_assert_uint_eq(cfg.workers_n, 1);
	ck_assert_uint_eq(cfg.nodes[0].worker, 0);
	ck_assert_uint_eq(cfg.nodes[1].worker, 0);
	cfg_free(&cfg);
}
END_TEST

START_TEST(defaults_fill_what_a_minimal_file_leaves_out)
{
	const struct mrc_dscp dscp = MRC_DSCP_DEFAULTS;
	cpu_set_t allowed;

	ck_assert_int_eq(load("{\"planes\":2,\"nodes\":[" A "]}"), 0);
	ck_assert_uint_eq(cfg.link, CFG_LINK_FABRIC);
	ck_assert_uint_eq(cfg.wire.udp_port, MRC_UDP_PORT);
	ck_assert(memcmp(&cfg.wire.dscp, &dscp, sizeof(dscp)) == 0);
	ck_assert_uint_eq(cfg.wire.layout, MRC_EV_FLOW_HIGH);
	ck_assert_uint_eq(cfg.profiles_n, 1);
	ck_assert_uint_eq(cfg.profiles[0].count, 128);
	ck_assert_uint_eq(cfg.profiles[0].backups, 0);
	ck_assert_uint_eq(cfg.profiles[0].min_active, 2);
	ck_assert_uint_eq(cfg.qp.mtu_bytes, 4096);
	ck_assert_uint_eq(cfg.qp.mpr, 8);
	ck_assert_uint_eq(cfg.qp.timeout, 14);
	ck_assert_uint_eq(cfg.qp.linear_cnt, 7);
	ck_assert_uint_eq(cfg.qp.exp_cnt, 4);
	ck_assert_uint_eq(cfg.qp.max_wimm, 32);
	ck_assert_uint_eq(cfg.qp.sack_threshold_bytes, 4096);
	ck_assert_uint_eq(cfg.path.probe_answers, 3);
	ck_assert_uint_eq(cfg.path.probe_backoff_max_ns, 1000000000);
	ck_assert(cfg.hugepages);
	ck_assert(cfg.qp.psn_window_nack);
	ck_assert_uint_eq(cfg.seed, 1);
	ck_assert_uint_eq(cfg.fabric.seed, 1);
	ck_assert_double_eq(cfg.cc.rate_gbps, cfg.fabric.rate_gbps);
	ck_assert_uint_eq(cfg.fabric.ecn_kmin_packets, 128);
	ck_assert_uint_eq(cfg.fabric.ecn_kmax_packets, 384);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	ck_assert_uint_eq(cfg.workers_n, 1);
	ck_assert(CPU_ISSET(cfg.workers[0], &allowed));
	ck_assert(CPU_ISSET(cfg.main_cpu, &allowed));
	cfg_free(&cfg);
}
END_TEST

START_TEST(the_base_rtt_of_the_fabric_counts_every_hop_both_ways)
{
	/* 4 links: 2 x 1000 ns, then (4096 + 142) and 154 bytes at 8 Gb/s, one byte a ns */
	ck_assert_int_eq(load(FABRIC("\"rate_gbps\":8,\"latency_ns\":1000")), 0);
	ck_assert_uint_eq(cfg.cc.base_rtt_ns, 4 * (2 * 1000 + 4096 + 142 + 154));
	/* One leaf: 2 links */
	ck_assert_int_eq(
		load(FABRIC("\"rate_gbps\":8,\"latency_ns\":0,\"leaves\":1,\"hosts_per_leaf\":2")),
		0);
	ck_assert_uint_eq(cfg.cc.base_rtt_ns, 2 * (4096 + 142 + 154));
}
END_TEST

START_TEST(nodes_without_a_host_spread_over_the_leaves)
{
	static const char text[] =
		"{\"planes\":1,\"fabric\":{\"leaves\":2,\"hosts_per_leaf\":2},\"nodes\":[" A "," B
		",{\"name\":\"C\",\"gid\":\"fd00::3\"},{\"name\":\"D\",\"gid\":\"fd00::4\"}]}";
	static const unsigned host[4] = {0, 2, 1, 3};
	unsigned i;

	ck_assert_int_eq(load(text), 0);
	for (i = 0; i < 4; i++)
		ck_assert_uint_eq(cfg.nodes[i].host, host[i]);
	cfg_free(&cfg);
}
END_TEST

START_TEST(explicit_evs_keep_plane_path_and_address)
{
	const struct cfg_ev_profile *p = &cfg.profiles[0];

	ck_assert_int_eq(
		load("{\"planes\":2,\"nodes\":[" A "," B "],\"ev_profiles\":[{\"name\":\"p\","
		     "\"mode\":\"srv6-srh\",\"backups\":1,\"evs\":["
		     "{\"plane\":1,\"via\":[\"1000\",\"1801\"]},"
		     "{\"plane\":2,\"address\":\"fcbb:bb00:2000:2801:2001:e200::\"}]}]}"),
		0);
	ck_assert_uint_eq(p->mode, MRC_EV_SRV6_SRH);
	ck_assert_uint_eq(p->count, 2);
	ck_assert_uint_eq(p->evs_n, 2);
	ck_assert_uint_eq(p->min_active, 1);
	ck_assert_uint_eq(p->evs[0].plane, 0);
	ck_assert(!p->evs[0].complete);
	ck_assert_uint_eq(p->evs[0].via_n, 2);
	ck_assert_uint_eq(p->evs[0].via[0], 0x1000);
	ck_assert_uint_eq(p->evs[0].via[1], 0x1801);
	ck_assert_uint_eq(p->evs[1].plane, 1);
	ck_assert(p->evs[1].complete);
	same_addr(&p->evs[1].address, "fcbb:bb00:2000:2801:2001:e200::");
	cfg_free(&cfg);
}
END_TEST

START_TEST(thirty_two_ports_fit_and_the_largest_values_are_taken)
{
	char text[2048];
	unsigned i, used = 0;

	used += snprintf(text, sizeof(text),
		"{\"planes\":4,\"fabric\":{\"hosts_per_leaf\":4},\"qp\":{\"mtu_bytes\":8192,"
		"\"mpr\":255},"
		"\"seed\":9007199254740991,\"nodes\":[");
	for (i = 0; i < 8; i++)
		used += snprintf(text + used, sizeof(text) - used,
			"%s{\"name\":\"n%u\",\"gid\":\"fd00::%u\"}", i > 0 ? "," : "", i, i + 1);
	snprintf(text + used, sizeof(text) - used, "]}");
	ck_assert_int_eq(load(text), 0);
	ck_assert_uint_eq(cfg.qp.mtu_bytes, 8192);
	ck_assert_uint_eq(cfg.qp.mpr, 255);
	ck_assert_uint_eq(cfg.seed, 9007199254740991);
	cfg_free(&cfg);
}
END_TEST

/* Each bad file, and where and what the one line must say behind the file's name. */
static const struct bad {
	const char *text;
	const char *place; /* line:col: key */
	const char *wrong;
	const char *allowed;
} bad[] = {
	/* the file */
	{"", "1:1: (file)", "is empty", "one JSON object"},
	{" \n\t", "1:1: (file)", "is empty", "one JSON object"},
	{"[1, 2]\n", "1:1: (top level)", "is a list", "an object of planes, link"},
	{"{\"planes\":4,", "1:12: (JSON)", "expected", "one JSON object"},
	{"{\"planes\":1,\"nodes\":[" A "]} x", "1:53: (JSON)", "end of file expected near 'x'",
		"nothing behind"},
	{"\xff\xfe", "1:1: (JSON)", "decode", "one JSON object"},
	/* keys */
	{"{\"planes\":4,\n  \"warp\": 9,\n\"nodes\":[" A "]}", "2:3: warp", "unknown key",
		"planes, link, locator"},
	{"{\"planes\":4,\n\"nodes\":[{\"name\":\"A\", \"gidd\":\"fd00::1\"}]}",
		"2:23: nodes[0].gidd", "unknown key", "name, gid, host, worker"},
	{FABRIC("\"speed\":1"), "3:11: fabric.speed", "unknown key", "leaves, spines"},
	{"{\"\\u0070lanez\":4}", "1:2: planez", "unknown key", "planes"},
	{"{\"planes\":4,\n \"planes\":4,\"nodes\":[" A "]}", "2:2: planes", "a second time",
		"each key once"},
	{"{\"planes\":4,\"nodes\":[" A ",\n{\"name\":\"B\",\"gid\":\"::1\", \"gid\" :\"::2\"}]}",
		"2:26: nodes[1].gid", "a second time", "each key once"},
	{"{\"planes\":4,\"nodes\":[{\"name\":\"B\",\"\\u0067id\":\"::1\",\"gid\":\"::2\"}]}",
		"1:51: nodes[0].gid", "a second time", "each key once"},
	{"{\"nodes\":[" A "]}", "1:1: planes", "is missing", "an integer 1 .. 13"},
	{"\n {\"planes\":4}", "2:2: nodes", "is missing", "a list of 1 .. 32"},
	{"{\"planes\":4,\"nodes\":[" A ",\n {\"name\":\"B\"}]}", "2:2: nodes[1].gid", "is missing",
		"address"},
	/* types and ranges */
	{"{\"planes\": \"four\",\"nodes\":[" A "]}", "1:12: planes", "is a string",
		"an integer 1 .. 13"},
	{"{\"planes\":4.0,\"nodes\":[" A "]}", "1:11: planes", "is a number with a fraction",
		"an integer 1 .. 13"},
	{"{\"planes\":null,\"nodes\":[" A "]}", "1:11: planes", "is null", "an integer 1 .. 13"},
	{"{\"planes\":0,\"nodes\":[" A "]}", "1:11: planes", "0 is out of range",
		"an integer 1 .. 13"},
	{"{\"planes\":14,\"nodes\":[" A "]}", "1:11: planes", "14 is out of range",
		"an integer 1 .. 13"},
	{"{\"planes\":-1,\"nodes\":[" A "]}", "1:11: planes", "-1 is out of range",
		"an integer 1 .. 13"},
	{"{\"planes\":99999999999999999999}", "1:11: planes",
		"99999999999999999999 is out of range", "an integer 1 .. 13"},
	{FABRIC("\"trim\":true,\"rate_gbps\": -1e+999"), "3:36: fabric.rate_gbps",
		"-1e+999 is out of range", "a number 0.001 .. 1600"},
	{HEAD "\"workers\":[0,1e999]}", "3:11: workers", "1e999 is out of range",
		"an integer 0 .. 1023"},
	{"{\"planes\":4,\"warp\":1e999}", "1:24: (JSON)", "overflow", "numbers below"},
	{"[1e999]", "1:6: (JSON)", "overflow", "numbers below"},
	{"{\"planes\":4,\"nodes\":[]}", "1:21: nodes", "has 0 elements", "a list of 1 .. 32"},
	{"{\"planes\":4,\"nodes\":{}}", "1:21: nodes", "is an object", "a list of 1 .. 32"},
	{"{\"planes\":4,\"nodes\":[3]}", "1:22: nodes[0]", "is an integer", "an object of name"},
	{HEAD "\"link\":\"wire\"}", "3:8: link", "\"wire\" is unknown", "\"fabric\", \"ring\""},
	{HEAD "\"link\":true}", "3:8: link", "is true", "\"fabric\", \"ring\""},
	{HEAD "\"hugepages\":1}", "3:13: hugepages", "is an integer", "true or false"},
	{HEAD "\"ring_size\":1000}", "3:13: ring_size", "1000 is not a power of two",
		"a power of two 32 .. 32768"},
	{HEAD "\"qp\":{\"mtu_bytes\":1500}}", "3:19: qp.mtu_bytes", "not a power of two",
		"a power of two 256 .. 8192"},
	{HEAD "\"qp\":{\"mpr\":7}}", "3:13: qp.mpr", "out of range", "an integer 8 .. 255"},
	{FABRIC("\"rate_gbps\":0"), "3:23: fabric.rate_gbps", "0 is out of range",
		"a number 0.001 .. 1600"},
	{FABRIC("\"rate_gbps\":\"fast\""), "3:23: fabric.rate_gbps", "is a string", "a number"},
	{HEAD "\"wire\":{\"dscp\":{\"control\":64}}}", "3:27: wire.dscp.control",
		"64 is out of range", "an integer 0 .. 63"},
	{HEAD "\"cc\":{\"algorithm\":\"magic\"}}", "3:19: cc.algorithm", "\"magic\" is unknown",
		"\"fixed\""},
	/* addresses and names */
	{"{\"planes\":1,\"nodes\":[{\"name\":\"\",\"gid\":\"::1\"}]}", "1:30: nodes[0].name",
		"is no name", "letters"},
	{"{\"planes\":1,\"nodes\":[{\"name\":\"a b\",\"gid\":\"::1\"}]}", "1:30: nodes[0].name",
		"is no name", "letters"},
	{"{\"planes\":1,\"nodes\":[{\"name\":\"a\",\"gid\":\"fd00::zz\"}]}", "1:40: nodes[0].gid",
		"is no address", "an IPv6 or IPv4 unicast address"},
	{"{\"planes\":1,\"nodes\":[{\"name\":\"a\",\"gid\":\"ff02::1\"}]}", "1:40: nodes[0].gid",
		"is not unicast", "unicast"},
	{"{\"planes\":1,\"nodes\":[{\"name\":\"a\",\"gid\":\"::\"}]}", "1:40: nodes[0].gid",
		"is not unicast", "unicast"},
	{"{\"planes\":1,\"nodes\":[{\"name\":\"a\",\"gid\":\"fcbb:bb00::1\"}]}",
		"1:40: nodes[0].gid", "inside the locator", "outside it"},
	{HEAD "\"locator\":\"fcbb:bb00::/48\"}", "3:11: locator", "/32",
		"an IPv6 prefix of 32 bits"},
	{HEAD "\"locator\":\"fcbb:bb00:1::/32\"}", "3:11: locator", "bits behind",
		"an IPv6 prefix of 32 bits"},
	{"{\"planes\":4,\n\"nodes\":[" A ",{\"name\":\"A\",\"gid\":\"fd00::2\"}]}",
		"2:47: nodes[1].name", "the name of nodes[0] too", "one name per node"},
	{"{\"planes\":4,\n\"nodes\":[" A ",{\"name\":\"B\",\"gid\":\"fd00:0::1\"}]}",
		"2:57: nodes[1].gid", "fd00::1 is the GID of node A too", "one GID per node"},
	{"{\"planes\":1,\n\"nodes\":[{\"name\":\"A\",\"gid\":\"10.0.0.1\"}]}", "2:28: nodes[0].gid",
		"is IPv4", "IPv6"},
	{"{\"planes\":1,\"ev_profiles\":[{\"name\":\"u\",\"mode\":\"udp\"}],\n\"nodes\":[" A
	 ",{\"name\":\"B\",\"gid\":\"10.0.0.1\"}]}",
		"2:57: nodes[1].gid", "another family", "all IPv6 or all IPv4"},
	/* planes and ports */
	{"{\"nodes\":[" A "," B ",{\"name\":\"C\",\"gid\":\"fd00::3\"}],\n\"planes\":13}",
		"2:10: planes", "13 planes x 3 nodes need 39 ports",
		"32 in one process (RTE_MAX_ETHPORTS"},
	{"{\"planes\":4,\"link\":\"ring\",\n\"nodes\":[" A "]}", "2:9: nodes", "joins 1 node,",
		"exactly 2"},
	{"{\"planes\":4,\"link\":\"ring\",\n\"nodes\":[" A "," B
	 ",{\"name\":\"C\",\"gid\":\"fd00::3\"}]}",
		"2:9: nodes", "joins 3 nodes", "exactly 2"},
	{"{\"planes\":4,\n\"nodes\":[{\"name\":\"A\",\"gid\":\"fd00::1\",\"host\":2}]}",
		"2:45: nodes[0].host", "no port for host 2 on any plane", "0 .. 1"},
	{"{\"planes\":4,\n\"nodes\":[" A "," B ",{\"name\":\"C\",\"gid\":\"fd00::3\"}]}",
		"2:68: nodes[2].host", "no host port left for the planes of node C", "2 nodes"},
	{"{\"planes\":4,\n\"nodes\":[" A ",{\"name\":\"B\",\"gid\":\"fd00::2\",\"host\":0}]}",
		"2:74: nodes[1].host", "host 0 carries node A already", "a free host of 0 .. 1"},
	{"{\"planes\":4,\n\"nodes\":[{\"name\":\"A\",\"gid\":\"fd00::1\",\"worker\":1}]}",
		"2:47: nodes[0].worker", "1 is no index into workers", "0 .. 0"},
	/* profiles */
	{EVS("\"count\":8,\"backups\":8"), "3:48: ev_profiles[0].backups", "8 backups of 8 EVs",
		"0 .. 7"},
	{EVS("\"count\":3"), "3:36: ev_profiles[0].count", "plane 4 has no EV", "4 .. 1024"},
	{EVS("\"evs\":[{\"plane\":1},{\"plane\":3},{\"plane\":4}]"), "3:34: ev_profiles[0].evs",
		"plane 2 has no EV", "each of 1 .. 4"},
	{EVS("\"count\":2000"), "3:36: ev_profiles[0].count", "2000 is out of range", "1 .. 1024"},
	{EVS("\"count\":8,\"min_active\":9"), "3:51: ev_profiles[0].min_active",
		"more than the active", "1 .. 8"},
	{EVS("\"count\":2,\"evs\":[{\"plane\":1}]"), "3:36: ev_profiles[0].count",
		"but evs lists 1", "the same number"},
	{EVS("\"mode\":\"stev\",\"evs\":[{\"plane\":1}]"), "3:48: ev_profiles[0].evs",
		"numbers its EVs itself", "srv6 and srv6-srh"},
	{EVS("\"mode\":\"mpls\""), "3:35: ev_profiles[0].mode", "\"mpls\" is unknown",
		"\"udp\", \"stev\", \"srv6\""},
	{EVS("\"evs\":[{\"plane\":5}]"), "3:44: ev_profiles[0].evs[0].plane", "there is no plane 5",
		"1 .. 4"},
	{EVS("\"evs\":[{\"plane\":0}]"), "3:44: ev_profiles[0].evs[0].plane", "0 is out of range",
		"1 .. 13"},
	{EVS("\"evs\":[{\"plane\":1,\"via\":[\"10\"]}]"), "3:53: ev_profiles[0].evs[0].via[0]",
		"is no uSID", "four hex digits"},
	{EVS("\"evs\":[{\"plane\":1,\"via\":[\"0000\"]}]"), "3:53: ev_profiles[0].evs[0].via[0]",
		"is no uSID", "four hex digits"},
	{EVS("\"evs\":[{\"plane\":1,\"via\":[\"1\",\"2\",\"3\",\"4\",\"5\"]}]"),
		"3:52: ev_profiles[0].evs[0].via", "has 5 elements", "0 .. 4"},
	{EVS("\"evs\":[{\"plane\":1,\"address\":\"fd00::1\"}]"),
		"3:56: ev_profiles[0].evs[0].address", "outside the locator", "inside it"},
	{EVS("\"evs\":[{\"plane\":1,\"via\":[\"1000\"],\"address\":\"fcbb:bb00::\"}]"),
		"3:71: ev_profiles[0].evs[0].address", "stands beside via", "one of the two"},
	{HEAD "\"ev_profiles\":[{\"name\":\"p\"},{\"name\":\"p\"}]}", "3:37: ev_profiles[1].name",
		"the name of ev_profiles[0] too", "one name per profile"},
	/* between other keys */
	{FABRIC("\"queue_packets\":8,\"ecn_kmax_packets\":9"), "3:48: fabric.ecn_kmax_packets",
		"more than the queue", "1 .. 8"},
	{FABRIC("\"ecn_kmin_packets\":9,\"ecn_kmax_packets\":8"), "3:30: fabric.ecn_kmin_packets",
		"above ecn_kmax_packets", "1 .. 8"},
	{FABRIC("\"worker\":3"), "3:20: fabric.worker", "no index into workers", "0 .. 0"},
	{HEAD "\"cc\":{\"window_bytes\":4096}}", "3:22: cc.window_bytes", "holds no full packet",
		"4238 .."},
	{HEAD "\"link\":\"ring\",\"cc\":{\"algorithm\":\"uet-1.0-nscc\"}}", "3:20: cc.rate_gbps",
		"is missing", "a number 0.001 .. 1600"},
	{HEAD "\"wire\":{\"dscp\":{\"trimmed\":46}}}", "3:27: wire.dscp.trimmed",
		"46 is the value of control too", "another 0 .. 63"},
	/* what the parts of the daemon refuse */
	{FABRIC("\"hosts_per_leaf\":255"), "3:28: fabric.hosts_per_leaf",
		"255 puts node B on host 255", "hosts 0 .. 7 with 4 planes"},
	{FABRIC("\"leaves\":2048,\"hosts_per_leaf\":200"), "3:42: fabric.hosts_per_leaf",
		"200 puts node B on host 200", "hosts 0 .. 7 with 4 planes"},
	{"{\"planes\":13,\"fabric\":{\"hosts_per_leaf\":9},\n\"nodes\":[{\"name\":\"A\","
	 "\"gid\":\"fd00::1\",\"host\":2}]}",
		"2:45: nodes[0].host", "hosts up to 2", "0 .. 1 with 13 planes"},
	{HEAD "\"mbufs\":100}", "3:9: mbufs", "100 are fewer than caches and ports hold",
		"0 or 896 .. 4194304"},
	{HEAD "\"qp\":{\"timeout\":1}}", "3:17: qp.timeout",
		"1, 0.002 ms, is below two round trips of 0.022 ms (cc.base_rtt_ns)",
		"0 (never) or 6 .. 24"},
	{HEAD "\"qp\":{\"timeout\":9},\"cc\":{\"base_rtt_ns\":262145}}", "3:17: qp.timeout",
		"below two round trips of 0.262 ms", "0 (never) or 10 .. 24"},
	{FABRIC("\"latency_ns\":1000000000,\"rate_gbps\":0.001"), "1:1: qp.timeout",
		"14, 16.777 ms, is below two round trips of 8140.", "0 (never) or 24 .. 24"},
	{FABRIC("\"latency_ns\":1000000000,\"rate_gbps\":0.001}, \"qp\":{\"mtu_bytes\":8192"),
		"3:60: qp.timeout", "below two round trips", "0 (never) or 24"},
	{HEAD "\"workers\":[1023]}", "3:12: workers[0]", "CPU 1023 is not open", "affinity"},
	{HEAD "\"main_cpu\":1023}", "3:12: main_cpu", "CPU 1023 is not open", "affinity"},
};

START_TEST(a_bad_file_ends_in_one_line_that_says_where_what_and_what_is_allowed)
{
	const struct bad *b = &bad[_i];
	char prefix[160];
	const char *wrong, *allowed;

	memset(&cfg, 0xa5, sizeof(cfg));
	ck_assert_int_eq(load(b->text), -EINVAL);
	snprintf(prefix, sizeof(prefix), "%s:%s: ", path, b->place);
	ck_assert_msg(strncmp(err, prefix, strlen(prefix)) == 0, "%s\nis not at %s", err, prefix);
	wrong = strstr(err + strlen(prefix), b->wrong);
	ck_assert_msg(wrong != NULL, "%s\nlacks %s", err, b->wrong);
	allowed = strstr(wrong, ", allowed: ");
	ck_assert_msg(allowed != NULL && strstr(allowed, b->allowed) != NULL, "%s\nlacks %s", err,
		b->allowed);
	ck_assert_ptr_null(strchr(err, '\n'));
	/* Outputs are set only on success. */
	ck_assert_uint_eq(((const unsigned char *)&cfg)[0], 0xa5);
	ck_assert_uint_eq(((const unsigned char *)&cfg)[sizeof(cfg) - 1], 0xa5);
}
END_TEST

/* Just inside what the table above has just outside. */
START_TEST(values_at_the_edge_of_what_the_daemon_takes_are_allowed)
{
	static const char *const texts[] = {
		HEAD "\"mbufs\":896}",
		HEAD "\"qp\":{\"timeout\":6}}",
		HEAD "\"qp\":{\"timeout\":0},\"cc\":{\"base_rtt_ns\":1000000000}}",
		HEAD "\"qp\":{\"timeout\":9},\"cc\":{\"base_rtt_ns\":262144}}",
		FABRIC("\"hosts_per_leaf\":7"),
		EVS("\"evs\":[{\"plane\":2},{\"plane\":1},{\"plane\":3},{\"plane\":4}]"),
	};

	ck_assert_msg(load(texts[_i]) == 0, "%s", err);
	cfg_free(&cfg);
}
END_TEST

START_TEST(more_buffers_than_the_machine_has_memory_for_are_refused)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	char text[512];

	/* 4194304 buffers of more than 4096 bytes */
	snprintf(text, sizeof(text), "%s", HEAD "\"mbufs\":4194304}");
	if (memory >= UINT64_C(4194304) * 8192) {
		ck_assert_int_eq(load(text), 0);
		cfg_free(&cfg);
		snprintf(text, sizeof(text), "%s",
			HEAD "\"qp\":{\"mtu_bytes\":8192},\"mbufs\":4194304}");
	}
	if (memory < UINT64_C(4194304) * 4096) {
		ck_assert_int_eq(load(text), -EINVAL);
		ck_assert_msg(strstr(err, ":3:9: mbufs: 4194304 of 4864 bytes take 20.4 GB, "
					  "allowed: 0 or 896 .. ") != NULL,
			"%s", err);
	}
}
END_TEST

START_TEST(a_missing_file_and_a_folder_are_named)
{
	char want[160];

	unlink(path);
	ck_assert_int_eq(cfg_load(path, &cfg, err, sizeof(err)), -ENOENT);
	snprintf(want, sizeof(want), "%s: No such file or directory", path);
	ck_assert_str_eq(err, want);
	ck_assert_int_eq(cfg_load("/", &cfg, err, sizeof(err)), -EISDIR);
	ck_assert_str_eq(err, "/: Is a directory");
	ck_assert_int_eq(cfg_load("/dev/zero", &cfg, err, sizeof(err)), -EFBIG);
	ck_assert_str_eq(err, "/dev/zero: larger than 4 MiB");
}
END_TEST

/* Every file that ends early or has one byte changed: an error or a configuration, and one line at
 * most. */
START_TEST(a_file_cut_or_damaged_anywhere_never_crashes)
{
	static char text[4096], damaged[4096];
	FILE *f = fopen(TOP "config/quickstart.json", "r");
	static const char bytes[] = "\"{}[]:,\\\n\xc3";
	size_t len, i, j;

	ck_assert_ptr_nonnull(f);
	len = fread(text, 1, sizeof(text), f);
	fclose(f);
	ck_assert_uint_lt(len, sizeof(text));
	for (i = 0; i < len - 2; i++) {
		ck_assert_int_eq(load_bytes(text, i), -EINVAL);
		ck_assert_ptr_null(strchr(err, '\n'));
	}
	for (i = 0; i < len; i++) {
		for (j = 0; j < sizeof(bytes); j++) {
			memcpy(damaged, text, len);
			damaged[i] = bytes[j];
			if (load_bytes(damaged, len) == 0)
				cfg_free(&cfg);
			else
				ck_assert_ptr_null(strchr(err, '\n'));
		}
	}
}
END_TEST

START_TEST(an_error_text_longer_than_its_buffer_is_cut)
{
	char small[40];

	ck_assert_int_eq(load("{\"warp\":1}"), -EINVAL);
	memset(small, 'x', sizeof(small));
	ck_assert_int_eq(cfg_load(path, &cfg, small, 20), -EINVAL);
	ck_assert_uint_eq(strlen(small), 19);
	ck_assert_int_eq(small[20], 'x');
}
END_TEST

START_TEST(columns_count_characters_not_bytes)
{
	struct cfg_pos p = cfg_pos_of("a\n\xc3\xa9x", 5, 4);

	ck_assert_uint_eq(p.line, 2);
	ck_assert_uint_eq(p.col, 2);
}
END_TEST

START_TEST(the_printed_reference_is_the_one_in_doc)
{
	static char doc[65536], printed[65536];
	FILE *f = fopen(TOP "doc/config.md", "r"), *out = fmemopen(printed, sizeof(printed), "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(out);
	ck_assert_uint_lt(fread(doc, 1, sizeof(doc) - 1, f), sizeof(doc) - 1);
	fclose(f);
	cfg_doc_print(out);
	fclose(out);
	ck_assert_msg(strcmp(doc, printed) == 0,
		"doc/config.md is old: dpdk-mrc --config-help > doc/config.md");
}
END_TEST

static Suite *
config_suite(void)
{
	Suite *s = suite_create("config");
	TCase *good = tcase_create("good"), *wrong = tcase_create("bad");

	tcase_add_checked_fixture(good, setup, teardown);
	tcase_add_test(good, the_quickstart_sample_loads_with_its_values);
	tcase_add_test(good, the_ring_sample_puts_both_nodes_on_one_worker);
	tcase_add_test(good, defaults_fill_what_a_minimal_file_leaves_out);
	tcase_add_test(good, the_base_rtt_of_the_fabric_counts_every_hop_both_ways);
	tcase_add_test(good, nodes_without_a_host_spread_over_the_leaves);
	tcase_add_test(good, explicit_evs_keep_plane_path_and_address);
	tcase_add_test(good, thirty_two_ports_fit_and_the_largest_values_are_taken);
	tcase_add_test(good, the_printed_reference_is_the_one_in_doc);
	suite_add_tcase(s, good);
	tcase_add_checked_fixture(wrong, setup, teardown);
	tcase_add_loop_test(wrong,
		a_bad_file_ends_in_one_line_that_says_where_what_and_what_is_allowed, 0,
		sizeof(bad) / sizeof(bad[0]));
	tcase_add_loop_test(wrong, values_at_the_edge_of_what_the_daemon_takes_are_allowed, 0, 6);
	tcase_add_test(wrong, more_buffers_than_the_machine_has_memory_for_are_refused);
	tcase_add_test(wrong, a_missing_file_and_a_folder_are_named);
	tcase_add_test(wrong, a_file_cut_or_damaged_anywhere_never_crashes);
	tcase_add_test(wrong, an_error_text_longer_than_its_buffer_is_cut);
	tcase_add_test(wrong, columns_count_characters_not_bytes);
	suite_add_tcase(s, wrong);
	return s;
}

MRC_CHECK_MAIN(config_suite)
