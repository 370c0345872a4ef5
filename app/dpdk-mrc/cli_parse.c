/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a syntax to librte_cmdline's tokens, and from a line to arguments. Who calls it: cli.c.
 */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_priv.h"

static_assert(CLI_SLOTS_MAX * sizeof(struct cli_slot) <= CMDLINE_PARSE_RESULT_BUFSIZE,
	"the slots of one command share cmdline's result buffer");

unsigned
cli_choice_get(const struct cli_token *t, unsigned i, const char **word)
{
	const char *p = t->text, *end = t->text + t->len;

	for (; p < end; i--) {
		unsigned n = strcspn(p, "|)");

		if (i == 0) {
			*word = p;
			return n;
		}
		p += n + 1;
	}
	return 0;
}

static int
choice_parse(const struct cli_token *t, const char *buf, unsigned len, struct cli_slot *slot)
{
	const char *word;
	unsigned i, n;

	for (i = 0; (n = cli_choice_get(t, i, &word)) > 0; i++) {
		if (n == len && memcmp(word, buf, len) == 0) {
			if (slot != NULL)
				slot->u = i;
			return (int)len;
		}
	}
	return -1;
}

static int
number_parse(const struct cli_token *t, const char *text, struct cli_slot *slot)
{
	unsigned long long u;
	char *end;

	errno = 0;
	if (t->kind == CLI_F64) {
		slot->f = strtod(text, &end);
		return *end == '\0' && isfinite(slot->f) ? 0 : -1;
	}
	/* strtoull would take a sign. */
	if (*text < '0' || *text > '9')
		return -1;
	u = strtoull(text, &end, text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10);
	if (*end != '\0' || errno != 0 || (t->kind == CLI_U32 && u > UINT32_MAX))
		return -1;
	slot->u = u;
	return 0;
}

static int
token_parse(cmdline_parse_token_hdr_t *hdr, const char *buf, void *res, unsigned int res_size)
{
	const struct cli_token *t = (const struct cli_token *)hdr;
	struct cli_slot *slot = res, local;
	unsigned len = 0;

	while (!cmdline_isendoftoken(buf[len]))
		len++;
	if (t->kind == CLI_WORD)
		return len == t->len && memcmp(buf, t->text, len) == 0 ? (int)len : -1;
	if (slot != NULL && res_size < sizeof(*slot))
		return -1;
	if (slot == NULL)
		slot = &local; /* completion: is it valid? */
	if (t->kind == CLI_CHOICE)
		return choice_parse(t, buf, len, slot);
	if (len == 0 || len >= CLI_TEXT_MAX)
		return -1;
	memcpy(slot->text, buf, len);
	slot->text[len] = '\0';
	if (t->kind != CLI_STR && number_parse(t, slot->text, slot) < 0)
		return -1;
	return (int)len;
}

/* Completion and its help are ours (cli_hint.c): cmdline only parses. */
static struct cmdline_token_ops token_ops = {.parse = token_parse};

int
cli_token_takes(const struct cli_token *t, const char *word)
{
	return token_parse((cmdline_parse_token_hdr_t *)(uintptr_t)&t->hdr, word, NULL, 0);
}

/* "<name:type>" without its brackets */
static int
value_init(struct cli_token *t)
{
	static const struct {
		const char *name;
		enum cli_kind kind;
	} type[] = {{"u32", CLI_U32}, {"u64", CLI_U64}, {"f64", CLI_F64}, {"str", CLI_STR},
		{"file", CLI_STR}};
	const char *colon = memchr(t->text, ':', t->len);
	unsigned i, n;

	if (colon == NULL || colon == t->text)
		return -EINVAL;
	n = t->len - (unsigned)(colon + 1 - t->text);
	t->len = (unsigned)(colon - t->text);
	for (i = 0; i < sizeof(type) / sizeof(type[0]); i++) {
		if (strlen(type[i].name) == n && memcmp(type[i].name, colon + 1, n) == 0) {
			t->kind = type[i].kind;
			return 0;
		}
	}
	return -EINVAL;
}

static int
token_init(struct cli_token *t, const char *text, unsigned len)
{
	bool value = *text == '<', choice = *text == '(';

	*t = (struct cli_token){.hdr.ops = &token_ops, .text = text, .len = len};
	if (!value && !choice)
		return 0;
	if (len < 3 || text[len - 1] != (value ? '>' : ')'))
		return -EINVAL;
	t->text++;
	t->len -= 2;
	t->kind = CLI_CHOICE;
	return value ? value_init(t) : 0;
}

static void
inst_call(void *res, struct cmdline *cl, void *data)
{
	const struct cli_inst *i = data;
	const struct cli_args a = {.inst = i, .slot = res};

	cli_run(i->cli, &a);
}

int
cli_inst_init(struct cli_inst *i, struct cli *cli, const struct cli_row *row)
{
	const char *p = row->syntax;
	unsigned slots = 0;

	*i = (struct cli_inst){.cli = cli, .row = row};
	for (p += strspn(p, " "); *p != '\0'; p += strspn(p, " ")) {
		struct cli_token *t = &i->token[i->tokens_n];
		unsigned len = strcspn(p, " ");

		if (i->tokens_n == CLI_TOKENS_MAX || token_init(t, p, len) < 0)
			return -EINVAL;
		if (t->kind != CLI_WORD) {
			if (slots == CLI_SLOTS_MAX)
				return -EINVAL;
			t->hdr.offset = slots++ * sizeof(struct cli_slot);
		}
		i->cmd.tokens[i->tokens_n++] = &t->hdr;
		p += len;
	}
	i->cmd.inst.f = inst_call;
	i->cmd.inst.data = i;
	i->cmd.inst.help_str = row->help;
	/* A command is found by its first word. */
	return i->tokens_n > 0 && i->token[0].kind == CLI_WORD ? 0 : -EINVAL;
}

static const struct cli_slot *
arg_find(const struct cli_args *a, const char *name, enum cli_kind kind)
{
	unsigned i;

	for (i = 0; i < a->inst->tokens_n; i++) {
		const struct cli_token *t = &a->inst->token[i];

		if (t->kind == kind && strlen(name) == t->len && memcmp(name, t->text, t->len) == 0)
			return &a->slot[t->hdr.offset / sizeof(struct cli_slot)];
	}
	fprintf(stderr, "command \"%s\" has no argument %s of that type\n", a->inst->row->syntax,
		name);
	abort();
}

uint32_t
cli_u32(const struct cli_args *a, const char *name)
{
	return (uint32_t)arg_find(a, name, CLI_U32)->u;
}

uint64_t
cli_u64(const struct cli_args *a, const char *name)
{
	return arg_find(a, name, CLI_U64)->u;
}

double
cli_f64(const struct cli_args *a, const char *name)
{
	return arg_find(a, name, CLI_F64)->f;
}

const char *
cli_str(const struct cli_args *a, const char *name)
{
	return arg_find(a, name, CLI_STR)->text;
}

bool
cli_is(const struct cli_args *a, const char *word)
{
	unsigned i;

	for (i = 0; i < a->inst->tokens_n; i++) {
		const struct cli_token *t = &a->inst->token[i];
		const char *choice;
		unsigned n;

		if (t->kind != CLI_CHOICE)
			continue;
		n = cli_choice_get(t, a->slot[t->hdr.offset / sizeof(struct cli_slot)].u, &choice);
		if (n == strlen(word) && memcmp(choice, word, n) == 0)
			return true;
	}
	return false;
}
