/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of configuration values: how each is described, checked and stored. See config_read.h.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "config_read.h"

static void
fail_write(struct cfg_reader *r, struct cfg_pos pos, const char *name, const char *fmt, va_list ap)
{
	int n = snprintf(r->err, r->err_size, "%s:%u:%u: %s: ", r->file, pos.line, pos.col,
		*name != '\0' ? name : "(top level)");

	if (n > 0 && (unsigned)n < r->err_size)
		vsnprintf(r->err + n, r->err_size - n, fmt, ap);
}

int
cfg_fail(struct cfg_reader *r, const struct cfg_key *k, const char *fmt, ...)
{
	char name[CFG_POS_TEXT_MAX], what[256], *allowed = NULL;
	size_t allowed_size = 0;
	FILE *out = open_memstream(&allowed, &allowed_size);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (out != NULL) {
		k->type->describe(k, out);
		fclose(out);
	}
	cfg_pos_name(&r->path, name, sizeof(name));
	cfg_fail_at(r, name, "%s, allowed: %s", what, allowed != NULL ? allowed : "?");
	free(allowed);
	return -EINVAL;
}

int
cfg_fail_at(struct cfg_reader *r, const char *name, const char *fmt, ...)
{
	char parts[CFG_POS_TEXT_MAX];
	struct cfg_pos_path path;
	va_list ap;

	snprintf(parts, sizeof(parts), "%s", name);
	cfg_pos_path_parse(parts, &path);
	va_start(ap, fmt);
	fail_write(r, cfg_pos_find(r->text, r->len, &path, false), name, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static const char *
json_kind(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return "is an object";
	case JSON_ARRAY:
		return "is a list";
	case JSON_STRING:
		return "is a string";
	case JSON_INTEGER:
		return "is an integer";
	case JSON_REAL:
		return "is a number with a fraction";
	case JSON_NULL:
		return "is null";
	default:
		return json_is_true(v) ? "is true" : "is false";
	}
}

static void
uint_store(const struct cfg_key *k, void *base, uint64_t value)
{
	void *field = (char *)base + k->offset;

	switch (k->size) {
	case 1:
		*(uint8_t *)field = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)field = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)field = (uint32_t)value;
		break;
	case 8:
		*(uint64_t *)field = value;
		break;
	}
}

static void
uint_describe(const struct cfg_key *k, FILE *out)
{
	fprintf(out, "%s %.0f .. %.0f", k->pow2 ? "a power of two" : "an integer", k->min, k->max);
}

static int
uint_read(struct cfg_reader *r, const struct cfg_key *k, json_t *v, void *base)
{
	json_int_t i = json_integer_value(v);

	if (!json_is_integer(v))
		return cfg_fail(r, k, "%s", json_kind(v));
	if ((double)i < k->min || (double)i > k->max)
		return cfg_fail(r, k, "%lld is out of range", (long long)i);
	if (k->pow2 && (i & (i - 1)) != 0)
		return cfg_fail(r, k, "%lld is not a power of two", (long long)i);
	uint_store(k, base, (uint64_t)i - k->bias);
	return 0;
}

const struct cfg_type cfg_type_uint = {uint_describe, uint_read};

static void
number_describe(const struct cfg_key *k, FILE *out)
{
	fprintf(out, "a number %g .. %g", k->min, k->max);
}

static int
number_read(struct cfg_reader *r, const struct cfg_key *k, json_t *v, void *base)
{
	double d = json_number_value(v);

	if (!json_is_number(v))
		return cfg_fail(r, k, "%s", json_kind(v));
	if (!(d >= k->min && d <= k->max))
		return cfg_fail(r, k, "%g is out of range", d);
	*(double *)(void *)((char *)base + k->offset) = d;
	return 0;
}

const struct cfg_type cfg_type_number = {number_describe, number_read};

static void
bool_describe(const struct cfg_key *k, FILE *out)
{
	fprintf(out, "true or false");
}

static int
bool_read(struct cfg_reader *r, const struct cfg_key *k, json_t *v, void *base)
{
	if (!json_is_boolean(v))
		return cfg_fail(r, k, "%s", json_kind(v));
	*(bool *)((char *)base + k->offset) = json_is_true(v);
	return 0;
}

const struct cfg_type cfg_type_bool = {bool_describe, bool_read};

static void
choice_describe(const struct cfg_key *k, FILE *out)
{
	unsigned i;

	for (i = 0; k->choices[i] != NULL; i++)
		fprintf(out, "%s\"%s\"", i > 0 ? ", " : "", k->choices[i]);
}

static int
choice_read(struct cfg_reader *r, const struct cfg_key *k, json_t *v, void *base)
{
	unsigned i;

	if (!json_is_string(v))
		return cfg_fail(r, k, "%s", json_kind(v));
	for (i = 0; k->choices[i] != NULL; i++) {
		if (strcmp(k->choices[i], json_string_value(v)) == 0) {
			uint_store(k, base, i);
			return 0;
		}
	}
	return cfg_fail(r, k, "\"%.40s\" is unknown", json_string_value(v));
}

const struct cfg_type cfg_type_choice = {choice_describe, choice_read};

#define NAME_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

static void
name_describe(const struct cfg_key *k, FILE *out)
{
	fprintf(out, "a name of 1 .. %zu letters, digits, '_' and '-'", k->size - 1);
}

static int
name_read(struct cfg_reader *r, const struct cfg_key *k, json_t *v, void *base)
{
	const char *s = json_string_value(v);

	if (s == NULL)
		return cfg_fail(r, k, "%s", json_kind(v));
	/* Names become arguments of commands: no spaces. */
	if (*s == '\0' || strlen(s) >= k->size || s[strspn(s, NAME_CHARS)] != '\0')
		return cfg_fail(r, k, "\"%.40s\" is no name", s);
	memcpy((char *)base + k->offset, s, strlen(s) + 1);
	return 0;
}

const struct cfg_type cfg_type_name = {name_describe, name_read};

static void
group_describe(const struct cfg_key *k, FILE *out)
{
	const struct cfg_key *s;

	fprintf(out, "an object of ");
	for (s = k->sub; s->name != NULL; s++)
		fprintf(out, "%s%s", s > k->sub ? ", " : "", s->name);
}

static int
group_unknown_fail(struct cfg_reader *r, const struct cfg_key *k, const char *key)
{
	char name[CFG_POS_TEXT_MAX];
	const struct cfg_key *s;
	struct cfg_pos pos;
	unsigned used;

	r->path.step[r->path.n++] = (struct cfg_pos_step){.key = key};
	cfg_pos_name(&r->path, name, sizeof(name));
	pos = cfg_pos_find(r->text, r->len, &r->path, true);
	r->path.n--;
	used = snprintf(r->err, r->err_size, "%s:%u:%u: %s: unknown key, allowed: ", r->file,
		pos.line, pos.col, name);
	for (s = k->sub; s->name != NULL && used < r->err_size; s++)
		used += snprintf(
			r->err + used, r->err_size - used, "%s%s", s > k->sub ? ", " : "", s->name);
	return -EINVAL;
}

static int
group_unknown(struct cfg_reader *r, const struct cfg_key *k, json_t *v)
{
	const struct cfg_key *s;
	const char *key;
	json_t *member;

	json_object_foreach (v, key, member) {
		for (s = k->sub; s->name != NULL && strcmp(s->name, key) != 0; s++)
			;
		if (s->name == NULL)
			return group_unknown_fail(r, k, key);
	}
	return 0;
}

/* A key that the file lacks. */
static int
group_default(struct cfg_reader *r, const struct cfg_key *k, void *base)
{
	json_t *v;
	int rc;

	if (k->def == NULL)
		return cfg_fail(r, k, "is missing");
	if (k->def[0] == '(') {
		if (k->size > 0)
			uint_store(k, base, k->unset);
		return 0;
	}
	v = json_loads(k->def, JSON_DECODE_ANY, NULL);
	if (v == NULL)
		return -ENOMEM;
	rc = k->type->read(r, k, v, base);
	json_decref(v);
	return rc;
}

static int
group_read(struct cfg_reader *r, const struct cfg_key *k, json_t *v, void *base)
{
	const struct cfg_key *s;
	int rc;

	if (!json_is_object(v))
		return cfg_fail(r, k, "%s", json_kind(v));
	rc = group_unknown(r, k, v);
	for (s = k->sub; rc == 0 && s->name != NULL; s++) {
		json_t *member = json_object_get(v, s->name);
		void *sub_base = (char *)base + k->offset;

		r->path.step[r->path.n++] = (struct cfg_pos_step){.key = s->name};
		if (member != NULL)
			rc = s->type->read(r, s, member, sub_base);
		else
			rc = group_default(r, s, sub_base);
		r->path.n--;
	}
	return rc;
}

const struct cfg_type cfg_type_group = {group_describe, group_read};

static void
list_describe(const struct cfg_key *k, FILE *out)
{
	fprintf(out, "a list of %.0f .. %.0f, each ", k->min, k->max);
	k->sub->type->describe(k->sub, out);
}

static int
list_read(struct cfg_reader *r, const struct cfg_key *k, json_t *v, void *base)
{
	size_t i, n = json_array_size(v);
	char *array = (char *)base + k->offset;
	int rc = 0;

	if (!json_is_array(v))
		return cfg_fail(r, k, "%s", json_kind(v));
	if ((double)n < k->min || (double)n > k->max)
		return cfg_fail(r, k, "has %zu elements", n);
	if (k->heap && n > 0) {
		char *mem = calloc(n, k->elem_size);

		if (mem == NULL)
			return -ENOMEM;
		memcpy(array, &mem, sizeof(mem));
		array = mem;
	}
	for (i = 0; rc == 0 && i < n; i++) {
		r->path.step[r->path.n++] = (struct cfg_pos_step){.index = i};
		rc = k->sub->type->read(r, k->sub, json_array_get(v, i), array + i * k->elem_size);
		r->path.n--;
	}
	*(unsigned *)((char *)base + k->count_offset) = (unsigned)n;
	return rc;
}

const struct cfg_type cfg_type_list = {list_describe, list_read};
