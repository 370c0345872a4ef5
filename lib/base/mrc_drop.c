/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and texts of the drop reasons, built from mrc_drop.def. */
#include "mrc_drop.h"

#include <ctype.h>

#define NAME_MAX_LEN 24

static const char *const texts[MRC_DROP_NUM] = {
	[MRC_OK] = "not dropped",
#define X(name, text) [MRC_DROP_##name] = text,
#include "mrc_drop.def"
#undef X
};

static const char *const names[MRC_DROP_NUM] = {
	[MRC_OK] = "OK",
#define X(name, text) [MRC_DROP_##name] = #name,
#include "mrc_drop.def"
#undef X
};

const char *
mrc_drop_name(enum mrc_drop r)
{
	static _Thread_local char lower[MRC_DROP_NUM][NAME_MAX_LEN];
	unsigned i;

	if ((unsigned)r >= MRC_DROP_NUM)
		return "unknown";
	for (i = 0; i < NAME_MAX_LEN - 1 && names[r][i] != '\0'; i++)
		lower[r][i] = (char)tolower((unsigned char)names[r][i]);
	lower[r][i] = '\0';
	return lower[r];
}

const char *
mrc_drop_text(enum mrc_drop r)
{
	return (unsigned)r < MRC_DROP_NUM ? texts[r] : "unknown";
}
