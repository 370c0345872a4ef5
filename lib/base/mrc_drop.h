/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drop reasons: an enum, a name and a text each, all from mrc_drop.def.
 * Every frame is sent, delivered, or dropped for one of these. Counters are plain words written by
 * their owning lcore and read relaxed by others.
 */
#ifndef MRC_DROP_H
#define MRC_DROP_H

#include <stdint.h>

enum mrc_drop {
	MRC_OK = 0, /* not a drop */
#define X(name, text) MRC_DROP_##name,
#include "mrc_drop.def"
#undef X
	MRC_DROP_NUM
};

/* worker: rw, others: read relaxed */
struct mrc_drops {
	uint64_t n[MRC_DROP_NUM];
};

/** @return the reason's short name in lower case ("icrc"), never NULL */
const char *mrc_drop_name(enum mrc_drop r);
/** @return one line that explains the reason, never NULL */
const char *mrc_drop_text(enum mrc_drop r);

#endif /* MRC_DROP_H */
