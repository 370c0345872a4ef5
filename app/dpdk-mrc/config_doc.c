/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the reference of the configuration. See config_doc.h.
 */
#include <string.h>

#include "config_doc.h"
#include "config_read.h"

static const char intro[] =
	"<!-- SPDX-License-Identifier: BSD-3-Clause -->\n"
	"<!-- Written by `dpdk-mrc --config-help`; a test compares the two. -->\n"
	"# Configuration\n"
	"\n"
	"`dpdk-mrc CONFIG` reads one JSON object. It is checked as a whole before a port, a page "
	"or a thread is\n"
	"touched; `--check` stops after that. An error is one line\n"
	"\n"
	"    FILE:LINE:COLUMN: KEY: what is wrong, allowed: what is allowed\n"
	"\n"
	"and exit status 2; a file that cannot be read is named with the reason. Unknown keys and "
	"keys given twice are\n"
	"errors. JSON has no comments: give nodes and profiles telling names. Planes count from 1; "
	"elements of lists, as in `nodes[0]`, from 0. Units "
	"end a key's name.\n"
	"\n"
	"The smallest configuration, two nodes joined by the default fabric:\n"
	"\n"
	"    {\n"
	"      \"planes\": 4,\n"
	"      \"nodes\": [\n"
	"        {\"name\": \"A\", \"gid\": \"fd00::1\"},\n"
	"        {\"name\": \"B\", \"gid\": \"fd00::2\"}\n"
	"      ]\n"
	"    }\n"
	"\n"
	"Samples in `config/`:\n"
	"\n"
	"- `quickstart.json`: the main job. Two nodes, four planes, two T1s in each, links of 0.5 "
	"Gb/s with queues of 512\n"
	"  packets; 128 EVs, 32 of them backups; probe back-off capped at 50 ms, so that a plane "
	"that comes back is\n"
	"  used again at once; a window of 256 KiB, enough for all four planes.\n"
	"- `ring.json`: two nodes back to back over four ring planes, both on one worker.\n"
	"- `ring2.json`: the same with a worker a node.\n"
	"\n"
	"## EVs\n"
	"\n"
	"A profile without `evs` is generated: SRv6 modes cycle over planes and T1s, the other "
	"modes number their EVs. An\n"
	"explicit EV names its plane and either `via`, the uSIDs on the way (the destination's T0 "
	"and host port are\n"
	"appended for each peer), or `address`, a complete uSID list:\n"
	"\n"
	"    {\"name\": \"mine\", \"mode\": \"srv6\", \"backups\": 1, \"evs\": [\n"
	"      {\"plane\": 1, \"via\": [\"1800\"]},\n"
	"      {\"plane\": 1, \"via\": [\"1801\"]},\n"
	"      {\"plane\": 2, \"address\": \"fcbb:bb00:2000:2801:2001:e200::\"}\n"
	"    ]}\n"
	"\n"
	"uSIDs of the built-in fabric begin with the plane's digit: T0 number i is `P000 + i`, T1 "
	"number j is `P800 + j`,\n"
	"host port p of a T0 is `eP00 + p`. A T0 knows its T1s by route, so `via` may begin with "
	"the "
	"T1; one that begins\n"
	"with a T0 serves only the nodes of that leaf.\n";

static bool
is_group(const struct cfg_key *k)
{
	return k->type == &cfg_type_group ||
	       (k->type == &cfg_type_list && k->sub->type == &cfg_type_group);
}

static void
row_print(FILE *out, const struct cfg_key *k)
{
	fprintf(out, "| `%s` | ", k->name);
	if (k->type == &cfg_type_group)
		fprintf(out, "an object, see below");
	else if (is_group(k))
		fprintf(out, "a list of %.0f .. %.0f objects, see below", k->min, k->max);
	else
		k->type->describe(k, out);
	if (k->def == NULL)
		fprintf(out, " | mandatory");
	else if (k->def[0] == '(')
		fprintf(out, " | %.*s", (int)strlen(k->def) - 2, k->def + 1);
	else
		fprintf(out, " | `%s`", k->def);
	fprintf(out, " | %s |\n", k->help);
}

/* One table, then those of the objects in it: nested no deeper than the keys are. */
static void
group_print(FILE *out, const struct cfg_key *k, const char *name)
{
	const struct cfg_key *s;

	fprintf(out, "\n## %s\n\n| key | allowed | default | meaning |\n|---|---|---|---|\n", name);
	for (s = k->sub; s->name != NULL; s++)
		row_print(out, s);
	for (s = k->sub; s->name != NULL; s++) {
		const struct cfg_key *sub = s->type == &cfg_type_list ? s->sub : s;
		char sub_name[CFG_POS_TEXT_MAX];

		if (!is_group(s))
			continue;
		snprintf(sub_name, sizeof(sub_name), "%s%s%s%s", k == &cfg_root ? "" : name,
			k == &cfg_root ? "" : ".", s->name, sub == s ? "" : "[]");
		group_print(out, sub, sub_name);
	}
}

void
cfg_doc_print(FILE *out)
{
	fputs(intro, out);
	group_print(out, &cfg_root, "Top level");
}
