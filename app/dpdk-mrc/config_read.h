/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machinery of the configuration: a key is a row of a table, a type is a pair of functions
 * (describe, read). Parsing, range checks, error texts and the printed reference all come from the
 * rows, so that they cannot differ. Who calls it: config.c and config_check.c (errors),
 * config_keys.c (rows), config_doc.c (reference).
 */
#ifndef CONFIG_READ_H
#define CONFIG_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "config.h"
#include "config_pos.h"

struct cfg_key;
struct cfg_reader;

struct cfg_type {
	/** What is allowed: "an integer 1 .. 13". */
	void (*describe)(const struct cfg_key *k, FILE *out);
	/**
	 * Checks a value and writes the field.
	 * @param base the structure that the row's offsets count in
	 * @return 0, or -EINVAL after cfg_fail, or -ENOMEM
	 */
	int (*read)(struct cfg_reader *r, const struct cfg_key *k, json_t *v, void *base);
};

struct cfg_key {
	const char *name;
	const struct cfg_type *type;
	size_t offset; /* of the field */
	size_t size;   /* of the field: integers 1, 2, 4, 8; strings: the array's */
	double min, max;
	bool pow2;		    /* integers: powers of two only */
	unsigned bias;		    /* what a user counts from 1 is kept from 0 */
	const char *const *choices; /* ends with NULL; the field gets the index */
	const struct cfg_key *sub;  /* groups: rows up to one without a name; lists: the element */
	size_t count_offset;	    /* lists: unsigned, number of elements */
	size_t elem_size;
	bool heap; /* lists: the field is a pointer, memory comes from calloc */
	const char *
		def; /* JSON text; "(…)": prose, the field gets unset; NULL: the key is mandatory */
	uint64_t unset;
	const char *help;
};

extern const struct cfg_type cfg_type_uint, cfg_type_number, cfg_type_bool, cfg_type_choice,
	cfg_type_name, cfg_type_group, cfg_type_list;

/* The whole file: a group, and struct cfg its base. */
extern const struct cfg_key cfg_root;

struct cfg_reader {
	const char *file;
	const char *text;
	size_t len;
	struct cfg_pos_path path; /* where reading stands */
	char *err;
	unsigned err_size;
};

/** Reports the value that is being read. @return -EINVAL */
int cfg_fail(struct cfg_reader *r, const struct cfg_key *k, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * Reports a value by name, for checks between keys.
 * @param name "nodes[1].gid"; where the file lacks it, the position is that of the deepest part it
 * has
 * @return -EINVAL
 */
int cfg_fail_at(struct cfg_reader *r, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** Checks between keys, and the defaults that follow from other keys. @return 0 or -EINVAL */
int cfg_check(struct cfg_reader *r, struct cfg *c);

/** The same inside profile p of EVs. @return 0 or -EINVAL */
int cfg_check_profile(struct cfg_reader *r, struct cfg *c, unsigned p);

#endif /* CONFIG_READ_H */
