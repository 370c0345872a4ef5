/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Positions of JSON values: a walk without recursion, container by container. See config_pos.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "config_pos.h"

static const char *
skip_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

/* p is at the opening quote; the result is behind the closing one. */
static const char *
skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < end ? p + 1 : end;
}

static const char *
skip_value(const char *p, const char *end)
{
	unsigned depth = 0;

	while (p < end) {
		if (*p == '"') {
			p = skip_string(p, end);
		} else if (*p == '{' || *p == '[') {
			depth++;
			p++;
		} else if (*p == '}' || *p == ']') {
			if (depth == 0)
				return p;
			depth--;
			p++;
		} else if (depth > 0) {
			p++;
			continue;
		} else {
			p += strcspn(p, ",]} \t\r\n");
			return p < end ? p : end;
		}
		if (depth == 0)
			return p;
	}
	return end;
}

/* The members of an object or elements of an array, one after the other. */
struct walk {
	const char *p, *end;
	bool object;
	size_t index;	 /* of the current one */
	const char *key; /* at its quote; objects only */
	const char *value;
};

static bool
walk_start(struct walk *w, const char *value, const char *end)
{
	if (value >= end || (*value != '{' && *value != '['))
		return false;
	*w = (struct walk){
		.p = value + 1, .end = end, .object = *value == '{', .index = (size_t)-1};
	return true;
}

static bool
walk_next(struct walk *w)
{
	const char *p = skip_space(w->p, w->end);

	if (w->index != (size_t)-1) {
		if (p >= w->end || *p != ',')
			return false;
		p = skip_space(p + 1, w->end);
	}
	if (p >= w->end || *p == ']' || *p == '}')
		return false;
	if (w->object) {
		if (*p != '"')
			return false;
		w->key = p;
		p = skip_space(skip_string(p, w->end), w->end);
		if (p < w->end && *p == ':')
			p = skip_space(p + 1, w->end);
	}
	w->value = p;
	w->p = skip_value(p, w->end);
	w->index++;
	return true;
}

/* A key may be written with escapes: jansson decodes them as it did the first time. */
static json_t *
key_decode(const char *key, const char *end)
{
	return json_loadb(key, skip_string(key, end) - key, JSON_DECODE_ANY, NULL);
}

static bool
key_is(const char *key, const char *end, const char *name)
{
	json_t *s = key_decode(key, end);
	bool same = json_is_string(s) && strcmp(json_string_value(s), name) == 0;

	json_decref(s);
	return same;
}

struct cfg_pos
cfg_pos_find(const char *text, size_t len, const struct cfg_pos_path *path, bool key_of)
{
	const char *end = text + len, *at = skip_space(text, end), *key = NULL;
	unsigned i;

	for (i = 0; i < path->n; i++) {
		const struct cfg_pos_step *s = &path->step[i];
		struct walk w;
		bool found = false;

		if (!walk_start(&w, at, end) || w.object != (s->key != NULL))
			break;
		while (!found && walk_next(&w))
			found = w.object ? key_is(w.key, end, s->key) : w.index == s->index;
		if (!found)
			break;
		at = w.value;
		key = w.object ? w.key : w.value;
	}
	if (key_of && i == path->n && key != NULL)
		at = key;
	return cfg_pos_of(text, len, at - text);
}

static size_t
name_add(char *name, size_t size, size_t used, const struct walk *w)
{
	json_t *s;
	int n;

	if (used >= size)
		return used;
	if (w->object) {
		s = key_decode(w->key, w->end);
		n = snprintf(name + used, size - used, "%s%s", used > 0 ? "." : "",
			s != NULL ? json_string_value(s) : "?");
		json_decref(s);
	} else {
		n = snprintf(name + used, size - used, "[%zu]", w->index);
	}
	return used + n;
}

static void
name_clean(char *name)
{
	for (; *name != '\0'; name++)
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			*name = '?';
}

bool
cfg_pos_key_at(const char *text, size_t len, size_t offset, char *name)
{
	const char *end = text + len, *target = text + offset;
	const char *at = skip_space(text, end);
	size_t used = 0;
	struct walk w;

	name[0] = '\0';
	while (walk_start(&w, at, end)) {
		bool inside = false;

		while (!inside && walk_next(&w)) {
			inside = target < w.p;
			if (inside)
				used = name_add(name, CFG_POS_TEXT_MAX, used, &w);
			if (w.object && w.key == target) {
				name_clean(name);
				return true;
			}
		}
		if (!inside)
			break;
		at = w.value;
	}
	return false;
}

struct cfg_pos
cfg_pos_of(const char *text, size_t len, size_t offset)
{
	struct cfg_pos pos = {1, 1};
	size_t i;

	for (i = 0; i < offset && i < len; i++) {
		if (text[i] == '\n') {
			pos.line++;
			pos.col = 1;
		} else if ((text[i] & 0xc0) != 0x80) { /* the first byte of a UTF-8 character */
			pos.col++;
		}
	}
	return pos;
}

void
cfg_pos_name(const struct cfg_pos_path *path, char *name, size_t size)
{
	size_t used = 0;
	unsigned i;

	name[0] = '\0';
	for (i = 0; i < path->n && used < size; i++) {
		const struct cfg_pos_step *s = &path->step[i];

		if (s->key != NULL)
			used += snprintf(
				name + used, size - used, "%s%s", i > 0 ? "." : "", s->key);
		else
			used += snprintf(name + used, size - used, "[%zu]", s->index);
	}
	name_clean(name);
}

void
cfg_pos_path_parse(char *text, struct cfg_pos_path *path)
{
	char *save, *part;

	path->n = 0;
	for (part = strtok_r(text, ".[", &save); part != NULL && path->n < CFG_POS_DEPTH_MAX;
		part = strtok_r(NULL, ".[", &save)) {
		struct cfg_pos_step *s = &path->step[path->n++];
		bool index = part[strlen(part) - 1] == ']';

		*s = (struct cfg_pos_step){
			.key = index ? NULL : part, .index = index ? strtoul(part, NULL, 10) : 0};
	}
}
