/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a value of a JSON text stands. jansson validates the text and builds the values but forgets
 * their positions; this finds them again by walking the text, only when there is an error to
 * report. The text may be invalid behind the place that is looked for: every step is bounded by its
 * end. Who calls it: config_read.c (all errors), config.c (duplicate keys).
 */
#ifndef CONFIG_POS_H
#define CONFIG_POS_H

#include <stdbool.h>
#include <stddef.h>

#define CFG_POS_DEPTH_MAX 8
#define CFG_POS_TEXT_MAX 160

/* One step down: a member of an object (key), or an element of an array (key NULL). */
struct cfg_pos_step {
	const char *key;
	size_t index;
};

struct cfg_pos_path {
	unsigned n;
	struct cfg_pos_step step[CFG_POS_DEPTH_MAX];
};

/* 1-based, columns in characters. */
struct cfg_pos {
	unsigned line, col;
};

/**
 * Finds a value by its path. Where the path leads nowhere (a missing key, a default), the deepest
 * value on the way to it is taken.
 * @param key_of the position of the last step's key instead of its value's
 */
struct cfg_pos
cfg_pos_find(const char *text, size_t len, const struct cfg_pos_path *path, bool key_of);

/**
 * Names the key whose opening quote is at a byte offset.
 * @param[out] name at least CFG_POS_TEXT_MAX bytes: "nodes[1].gid", cut if longer
 * @return false if no key starts there
 */
bool cfg_pos_key_at(const char *text, size_t len, size_t offset, char *name);

/** @return line and column of a byte offset (at most len) */
struct cfg_pos cfg_pos_of(const char *text, size_t len, size_t offset);

/** Writes "nodes[1].gid", cut to size; control characters become '?'. */
void cfg_pos_name(const struct cfg_pos_path *path, char *name, size_t size);

/**
 * The reverse of cfg_pos_name, for names in our own code: keys without '.', '[' or escapes.
 * @param text is cut into pieces, which path points into
 */
void cfg_pos_path_parse(char *text, struct cfg_pos_path *path);

#endif /* CONFIG_POS_H */
