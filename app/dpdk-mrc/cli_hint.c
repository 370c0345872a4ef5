/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What may stand at a place of a line: said to who wrote something else, listed or completed for
 * who presses Tab. Both follow from the tokens of all commands. Who calls it: cli.c, cli_tty.c.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli_priv.h"

#define ITEMS_MAX 64
#define COLUMN 12
#define SHOWN_MAX 40 /* characters of a wrong word */

/* The words of a line, one more than any command has at most. */
struct words {
	unsigned n;
	const char *text[CLI_TOKENS_MAX + 1];
	unsigned len[CLI_TOKENS_MAX + 1];
	bool open; /* the line ends in the last word */
};

static struct words
words_split(const char *line)
{
	struct words w = {.n = 0};

	for (line += strspn(line, " \t"); w.n <= CLI_TOKENS_MAX && !cmdline_isendoftoken(*line);
		line += strspn(line, " \t")) {
		unsigned len = 0;

		while (!cmdline_isendoftoken(line[len]))
			len++;
		w.text[w.n] = line;
		w.len[w.n++] = len;
		line += len;
		w.open = *line == '\0';
	}
	return w;
}

/* @return how many words, of the first n, the command takes */
static unsigned
words_taken(const struct cli_inst *inst, const struct words *w, unsigned n)
{
	unsigned i;

	for (i = 0; i < n && i < inst->tokens_n; i++)
		if (cli_token_takes(&inst->token[i], w->text[i]) < 0)
			break;
	return i;
}

/* ---- refusals ---- */

/* A list of what is allowed, each once. */
struct list {
	char text[1024];
	unsigned used;
};

static void
list_add(struct list *l, const char *text, unsigned len)
{
	const char *p = l->text;
	unsigned n;

	for (; *p != '\0'; p += n + (p[n] == '|')) {
		n = strcspn(p, "|");
		if (n == len && memcmp(p, text, len) == 0)
			return;
	}
	if (l->used + len + 2 >= sizeof(l->text))
		return;
	l->used += snprintf(l->text + l->used, sizeof(l->text) - l->used, "%s%.*s",
		l->used > 0 ? "|" : "", (int)len, text);
}

static void
list_add_token(struct list *l, const struct cli_token *t, bool ranges)
{
	static const char *const range[] = {[CLI_U32] = " 0 .. 4294967295",
		[CLI_U64] = " 0 .. 18446744073709551615",
		[CLI_F64] = " a number",
		[CLI_STR] = ""};
	char text[128];

	if (t->kind == CLI_WORD || t->kind == CLI_CHOICE) {
		list_add(l, t->text, t->len);
		return;
	}
	snprintf(
		text, sizeof(text), "<%.*s>%s", (int)t->len, t->text, ranges ? range[t->kind] : "");
	list_add(l, text, (unsigned)strlen(text));
}

/* What all commands that take the first n words want next. */
static struct list
list_next(const struct cli *cli, const struct words *w, unsigned n)
{
	struct list l = {.used = 0};
	unsigned i;

	for (i = 0; i < cli->insts_n; i++) {
		const struct cli_inst *inst = &cli->insts[i];

		if (inst->tokens_n > n && words_taken(inst, w, n) == n)
			list_add_token(&l, &inst->token[n], true);
	}
	return l;
}

static bool
is_number(const char *text, unsigned len)
{
	unsigned i = len > 2 && text[0] == '0' && (text[1] | 0x20) == 'x' ? 2 : 0;
	const char *digits = i > 0 ? "0123456789abcdefABCDEF" : "0123456789";

	for (; i < len && strchr(digits, text[i]) != NULL;)
		i++;
	return i == len;
}

/* What is wrong with the word behind the first n, by what is wanted there. */
static const char *
fault_text(const struct cli *cli, const struct words *w, unsigned n)
{
	bool number = is_number(w->text[n], w->len[n]);
	const char *text = "unknown";
	unsigned i;

	for (i = 0; i < cli->insts_n; i++) {
		const struct cli_inst *inst = &cli->insts[i];

		if (inst->tokens_n <= n || words_taken(inst, w, n) < n)
			continue;
		if (inst->token[n].kind == CLI_STR)
			return "too long";
		if (inst->token[n].kind == CLI_F64)
			text = "no number that fits";
		else if (inst->token[n].kind != CLI_WORD && inst->token[n].kind != CLI_CHOICE)
			text = number ? "out of range" : "no number";
	}
	return text;
}

void
cli_hint_refuse(struct cli *cli, const char *line)
{
	struct words w = words_split(line);
	struct list allowed;
	unsigned i, n, best = 0;
	int shown;

	for (i = 0; i < cli->insts_n; i++) {
		n = words_taken(&cli->insts[i], &w, w.n);
		best = n > best ? n : best;
	}
	allowed = list_next(cli, &w, best);
	for (i = 0; i < best; i++)
		cli_printf(cli, "%s%.*s", i > 0 ? " " : "", (int)w.len[i], w.text[i]);
	if (best == w.n) {
		cli_printf(cli, ": what? %s\n", allowed.text);
		return;
	}
	shown = w.len[best] < SHOWN_MAX ? (int)w.len[best] : SHOWN_MAX;
	if (allowed.used == 0)
		cli_printf(cli, ": '%.*s' is one word too many\n", shown, w.text[best]);
	else
		cli_printf(cli, ": '%.*s' is %s, allowed: %s\n", shown, w.text[best],
			fault_text(cli, &w, best), allowed.text);
}

/* ---- completion ---- */

/* One thing that may follow. */
struct item {
	const char *word; /* NULL: the line may end here */
	unsigned len;
	bool value; /* word is the name of a value */
	unsigned rows;
	const struct cli_inst *inst; /* the first of them */
};

struct items {
	unsigned n;
	struct item item[ITEMS_MAX];
};

static void
item_add(struct items *s, const struct cli_inst *inst, const char *word, unsigned len, bool value)
{
	unsigned i;

	for (i = 0; i < s->n; i++) {
		struct item *it = &s->item[i];

		if (it->len == len && it->value == value && word != NULL && it->word != NULL &&
			memcmp(it->word, word, len) == 0) {
			it->rows++;
			return;
		}
	}
	if (s->n < ITEMS_MAX)
		s->item[s->n++] = (struct item){word, len, value, 1, inst};
}

static bool
begins(const char *word, unsigned len, const char *part, unsigned part_len)
{
	return len >= part_len && memcmp(word, part, part_len) == 0;
}

static void
items_of_token(struct items *s, const struct cli_inst *inst, const struct cli_token *t,
	const char *part, unsigned part_len)
{
	const char *word;
	unsigned i, n;

	if (t->kind == CLI_WORD && begins(t->text, t->len, part, part_len))
		item_add(s, inst, t->text, t->len, false);
	for (i = 0; t->kind == CLI_CHOICE && (n = cli_choice_get(t, i, &word)) > 0; i++)
		if (begins(word, n, part, part_len))
			item_add(s, inst, word, n, false);
	if (t->kind > CLI_CHOICE && (part_len == 0 || cli_token_takes(t, part) >= 0))
		item_add(s, inst, t->text, t->len, true);
}

/* What may follow n words, the next of which begins with part. */
static struct items
items_get(const struct cli *cli, const struct words *w, unsigned n, const char *part,
	unsigned part_len)
{
	struct items s = {.n = 0};
	unsigned i;

	for (i = 0; i < cli->insts_n; i++) {
		const struct cli_inst *inst = &cli->insts[i];

		if (words_taken(inst, w, n) < n)
			continue;
		if (inst->tokens_n > n)
			items_of_token(&s, inst, &inst->token[n], part, part_len);
		else if (inst->tokens_n == n && n > 0 && part_len == 0)
			item_add(&s, inst, NULL, 0, false);
	}
	return s;
}

/* What all items begin with, beyond part; a space behind it if there is one item. */
static unsigned
common_get(const struct items *s, unsigned part_len, char *dst, unsigned size)
{
	const struct item *first = &s->item[0];
	unsigned len = first->len, i, k;

	for (i = 0; i < s->n; i++) {
		if (s->item[i].word == NULL || s->item[i].value)
			return 0;
		for (k = 0; k < len && k < s->item[i].len; k++)
			if (s->item[i].word[k] != first->word[k])
				break;
		len = k;
	}
	if (s->n == 0 || len < part_len || len - part_len + 2 > size)
		return 0;
	memcpy(dst, first->word + part_len, len - part_len);
	len -= part_len;
	if (s->n == 1)
		dst[len++] = ' ';
	dst[len] = '\0';
	return len;
}

/* The words that follow an item which several commands share. */
static struct list
list_behind(const struct cli *cli, const struct words *w, unsigned n, const struct item *it)
{
	struct list l = {.used = 0};
	unsigned i;

	for (i = 0; i < cli->insts_n; i++) {
		const struct cli_inst *inst = &cli->insts[i];

		if (words_taken(inst, w, n) < n || inst->tokens_n <= n ||
			inst->token[n].len != it->len ||
			memcmp(inst->token[n].text, it->word, it->len) != 0)
			continue;
		if (inst->tokens_n == n + 1)
			list_add(&l, "<enter>", 7);
		else
			list_add_token(&l, &inst->token[n + 1], false);
	}
	return l;
}

static void
item_print(const struct cli *cli, const struct words *w, unsigned n, const struct item *it,
	char *dst, unsigned size)
{
	char left[128];

	if (it->word == NULL)
		snprintf(left, sizeof(left), "<enter>");
	else if (it->value)
		snprintf(left, sizeof(left), "<%.*s>", (int)it->len, it->word);
	else
		snprintf(left, sizeof(left), "%.*s", (int)it->len, it->word);
	if (it->rows > 1) {
		struct list l = list_behind(cli, w, n, it);

		snprintf(dst, size, " %-*s %s", COLUMN, left, l.text);
		return;
	}
	snprintf(dst, size, " %-*s %s", COLUMN, left, it->inst->row->help);
}

int
cli_hint_complete(const struct cli *cli, const char *buf, char *dst, unsigned int size, int *state)
{
	struct words w = words_split(buf);
	unsigned n = w.open ? w.n - 1 : w.n, part_len = w.open ? w.len[n] : 0;
	const char *part = w.open ? w.text[n] : "";
	struct items s;

	if (w.n > CLI_TOKENS_MAX || strchr(buf, '#') != NULL)
		return 0;
	s = items_get(cli, &w, n, part, part_len);
	if (*state == 0 && common_get(&s, part_len, dst, size) > 0)
		return CMDLINE_PARSE_COMPLETED_BUFFER;
	if (*state < 0)
		*state = 0; /* the help key: list at once */
	if ((unsigned)*state >= s.n)
		return 0;
	item_print(cli, &w, n, &s.item[(*state)++], dst, size);
	return CMDLINE_PARSE_COMPLETE_AGAIN;
}
