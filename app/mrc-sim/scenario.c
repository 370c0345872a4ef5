/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scenario file: the options as one JSON object, and a schedule of faults:
 *   { "experiment": "shift", "hosts": 64,
 *     "faults": [ { "at_us": 50, "link": "p1/t1.0", "state": "blackhole" },
 *                 { "at_us": 90, "link": "p1/t0.0-t1.2", "loss": 0.01 },
 *                 { "at_us": 99, "link": "p1/t1.1", "gbps": 25 } ] }
 * Who calls it: opts.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "opts.h"

static int
wrong(char *err, unsigned size, const char *file, const char *where, const char *what)
{
	snprintf(err, size, "%s: %s: %s", file, where, what);
	return -EINVAL;
}

/* @return NULL, or what is wrong with this entry */
static const char *
fault_read(const json_t *j, struct sim_fault *f)
{
	const json_t *at = json_object_get(j, "at_us"), *link = json_object_get(j, "link");
	const json_t *state = json_object_get(j, "state"), *loss = json_object_get(j, "loss");
	const json_t *gbps = json_object_get(j, "gbps");
	static const char *const states[] = {"up", "down", "blackhole"};

	if (!json_is_number(at) || json_number_value(at) < 0)
		return "at_us: a number, not negative";
	if (!json_is_string(link) || strlen(json_string_value(link)) >= sizeof(f->link))
		return "link: a name such as p1/t0.0-t1.1";
	if ((state != NULL) + (loss != NULL) + (gbps != NULL) != 1 || json_object_size(j) != 3)
		return "at_us, link, and one of state, loss, gbps";
	f->at_us = json_number_value(at);
	strcpy(f->link, json_string_value(link));
	if (loss != NULL) {
		f->what = SIM_FAULT_LOSS;
		f->value = json_number_value(loss);
		return json_is_number(loss) && f->value >= 0 && f->value <= 1 ? NULL
									      : "loss: 0 to 1";
	}
	if (gbps != NULL) {
		f->what = SIM_FAULT_RATE;
		f->value = json_number_value(gbps);
		return json_is_number(gbps) && f->value >= 0.001 && f->value <= 10000
			       ? NULL
			       : "gbps: 0.001 to 10000";
	}
	for (unsigned i = 0; json_is_string(state) && i < 3; i++)
		if (strcmp(json_string_value(state), states[i]) == 0) {
			f->what = i;
			return NULL;
		}
	return "state: up, down or blackhole";
}

static int
faults_read(struct sim_opts *o, const json_t *list, const char *file, char *err, unsigned size)
{
	if (!json_is_array(list) || json_array_size(list) > SIM_FAULTS_MAX)
		return wrong(err, size, file, "faults", "an array of at most 256 objects");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *what = fault_read(json_array_get(list, i), &o->faults[i]);
		char where[32];

		snprintf(where, sizeof(where), "faults[%zu]", i);
		if (what != NULL)
			return wrong(err, size, file, where, what);
	}
	o->faults_n = (unsigned)json_array_size(list);
	return 0;
}

/* A value as the command line would have it. @return false: of no such type */
static bool
value_text(const json_t *v, char *buf, size_t size)
{
	if (json_is_string(v))
		return (size_t)snprintf(buf, size, "%s", json_string_value(v)) < size;
	if (json_is_boolean(v))
		snprintf(buf, size, "%s", json_is_true(v) ? "on" : "off");
	else if (json_is_integer(v))
		snprintf(buf, size, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else if (json_is_real(v))
		snprintf(buf, size, "%.17g", json_real_value(v));
	else
		return false;
	return true;
}

static int
object_read(struct sim_opts *o, json_t *root, const char *file, char *err, unsigned size)
{
	const char *key;
	json_t *v;

	if (!json_is_object(root))
		return wrong(err, size, file, "the file", "one JSON object");
	json_object_foreach (root, key, v) {
		char text[SIM_PATH_MAX], why[512];
		int rc;

		if (strcmp(key, "faults") == 0) {
			rc = faults_read(o, v, file, err, size);
			if (rc < 0)
				return rc;
			continue;
		}
		if (strcmp(key, "scenario") == 0)
			return wrong(err, size, file, key, "not inside a scenario");
		if (!value_text(v, text, sizeof(text)))
			return wrong(err, size, file, key, "a number, text or true, false");
		rc = sim_opts_set(o, key, text, why, sizeof(why));
		if (rc < 0) {
			snprintf(err, size, "%s: %s", file, why);
			return rc;
		}
	}
	return 0;
}

int
sim_scenario_load(struct sim_opts *o, const char *file, char *err, unsigned err_size)
{
	json_error_t e;
	json_t *root = json_load_file(file, JSON_REJECT_DUPLICATES, &e);
	int rc;

	if (root == NULL) {
		snprintf(err, err_size, "%s:%d:%d: %s", file, e.line, e.column, e.text);
		return -EINVAL;
	}
	rc = object_read(o, root, file, err, err_size);
	json_decref(root);
	return rc;
}
