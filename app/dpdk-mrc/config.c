/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads the configuration: reads the file, lets jansson parse it, walks the table of keys, checks
 * between keys. The result is copied out only when everything is right. See config.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config_read.h"

#define FILE_BYTES_MAX (4u << 20)
#define NUMBER_CHARS "0123456789+-.eE"

static int
file_fail(struct cfg_reader *r, int error)
{
	if (error == EFBIG)
		snprintf(r->err, r->err_size, "%s: larger than %u MiB", r->file,
			FILE_BYTES_MAX >> 20);
	else
		snprintf(r->err, r->err_size, "%s: %s", r->file, strerror(error));
	return -error;
}

/* The whole file, with a NUL behind. */
static int
file_read(struct cfg_reader *r, char **text)
{
	int fd = open(r->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char *buf;
	ssize_t n = 1;

	if (fd < 0)
		return file_fail(r, errno);
	if (fstat(fd, &st) < 0 || S_ISDIR(st.st_mode)) {
		close(fd);
		return file_fail(r, EISDIR);
	}
	/* Not st_size: the file may be a pipe. */
	buf = malloc(FILE_BYTES_MAX + 1);
	while (buf != NULL && n > 0 && r->len <= FILE_BYTES_MAX) {
		n = read(fd, buf + r->len, FILE_BYTES_MAX + 1 - r->len);
		r->len += n > 0 ? n : 0;
	}
	if (buf == NULL || n < 0 || r->len > FILE_BYTES_MAX) {
		int error = buf == NULL ? ENOMEM : n < 0 ? errno : EFBIG;

		free(buf);
		close(fd);
		return file_fail(r, error);
	}
	close(fd);
	buf[r->len] = '\0';
	*text = buf;
	return 0;
}

/* The key that jansson stopped behind. @return offset of its opening quote plus 1, or 0 */
static size_t
key_before(const struct cfg_reader *r, const json_error_t *e, char *name)
{
	size_t at = e->position > 0 ? (size_t)e->position : 0;

	for (at = at <= r->len ? at : r->len; at > 0; at--)
		if (r->text[at - 1] == '"' && cfg_pos_key_at(r->text, r->len, at - 1, name))
			break;
	return at;
}

/* jansson stops right behind the second of two equal keys: go back to its opening quote. */
static int
duplicate_fail(struct cfg_reader *r, const json_error_t *e)
{
	char name[CFG_POS_TEXT_MAX];
	size_t at = key_before(r, e, name);
	struct cfg_pos pos;

	if (at == 0)
		snprintf(name, sizeof(name), "(JSON)");
	pos = at > 0 ? cfg_pos_of(r->text, r->len, at - 1)
		     : (struct cfg_pos){(unsigned)e->line, (unsigned)e->column};
	snprintf(r->err, r->err_size,
		"%s:%u:%u: %s: stands here a second time, allowed: each key once", r->file,
		pos.line, pos.col, name);
	return -EINVAL;
}

/* The row of the table that a path leads to, or NULL. */
static const struct cfg_key *
key_find(const struct cfg_pos_path *path)
{
	const struct cfg_key *k = &cfg_root;

	for (unsigned i = 0; i < path->n; i++) {
		const char *name = path->step[i].key;

		if (k->sub == NULL || (name == NULL) != (k->type == &cfg_type_list))
			return NULL;
		for (k = k->sub; name != NULL && strcmp(k->name, name) != 0; k++)
			if (k[1].name == NULL)
				return NULL;
	}
	return k;
}

/* Digits that no number of C holds. @return 0 if it is not known whose they are */
static int
number_fail(struct cfg_reader *r, const json_error_t *e)
{
	char name[CFG_POS_TEXT_MAX];
	const char *token, *end;
	const struct cfg_key *k;

	if (key_before(r, e, name) == 0)
		return 0;
	cfg_pos_path_parse(name, &r->path);
	k = key_find(&r->path);
	if (k == NULL)
		return 0;
	end = r->text + (e->position > 0 && (size_t)e->position <= r->len ? e->position : 0);
	for (token = end; token > r->text && strchr(NUMBER_CHARS, token[-1]) != NULL;)
		token--;
	return cfg_fail(
		r, k, "%.*s is out of range", end - token < 40 ? (int)(end - token) : 40, token);
}

static int
syntax_fail(struct cfg_reader *r, const json_error_t *e)
{
	struct cfg_pos pos = {(unsigned)e->line, (unsigned)e->column};
	size_t i = strspn(r->text, " \t\r\n");

	if (json_error_code(e) == json_error_duplicate_key)
		return duplicate_fail(r, e);
	if (json_error_code(e) == json_error_numeric_overflow && number_fail(r, e) < 0)
		return -EINVAL;
	if (i == r->len) {
		snprintf(r->err, r->err_size, "%s:1:1: (file): is empty, allowed: one JSON object",
			r->file);
		return -EINVAL;
	}
	/* jansson speaks of lines and columns from 1, but says 0 before the first character. */
	pos.line += pos.line == 0;
	pos.col += pos.col == 0;
	i = snprintf(r->err, r->err_size, "%s:%u:%u: (JSON): %s, allowed: %s", r->file, pos.line,
		pos.col, e->text,
		json_error_code(e) == json_error_numeric_overflow
			? "numbers below 1.8e308, integers below 2^63"
			: "one JSON object and nothing behind it");
	/* The message may quote a piece of the file: keep it on one line. */
	for (i = 0; r->err[i] != '\0'; i++)
		if ((unsigned char)r->err[i] < ' ')
			r->err[i] = ' ';
	return -EINVAL;
}

static int
load(struct cfg_reader *r, struct cfg *c)
{
	json_error_t e;
	json_t *root = json_loadb(r->text, r->len, JSON_REJECT_DUPLICATES, &e);
	int rc;

	if (root == NULL)
		return syntax_fail(r, &e);
	rc = cfg_root.type->read(r, &cfg_root, root, c);
	json_decref(root);
	return rc < 0 ? rc : cfg_check(r, c);
}

int
cfg_load(const char *file, struct cfg *c, char *err, unsigned err_size)
{
	struct cfg_reader r = {.file = file, .err = err, .err_size = err_size};
	struct cfg *fresh = calloc(1, sizeof(*fresh));
	char *text = NULL;
	int rc;

	err[0] = '\0';
	rc = fresh != NULL ? file_read(&r, &text) : -ENOMEM;
	if (rc == 0) {
		r.text = text;
		snprintf(fresh->file, sizeof(fresh->file), "%s", file);
		rc = load(&r, fresh);
	}
	free(text);
	if (rc == 0)
		*c = *fresh;
	else if (fresh != NULL)
		cfg_free(fresh);
	free(fresh);
	if (rc == -ENOMEM && err[0] == '\0')
		snprintf(err, err_size, "%s: %s", file, strerror(ENOMEM));
	return rc;
}

void
cfg_free(struct cfg *c)
{
	unsigned i;

	for (i = 0; i < CFG_PROFILES_MAX; i++) {
		free(c->profiles[i].evs);
		c->profiles[i].evs = NULL;
	}
}
