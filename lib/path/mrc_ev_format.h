/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EV formats and EV profiles: from what a controller configures to the EVs of a path set.
 * doc/protocol.md, "Paths". Names and meanings of fields follow the OCP control API (mrc_ctl.h).
 *
 * A format says how many bits the wire value has and where its fields lie. A profile says which EVs
 * there are: AUTO (ours, STEV and UDP only), EXP (a list), GEN (made from the ranges of its
 * fields). Expansion turns an EV into the wire value, field by field:
 *
 *   field:   init_val, then for each set bit of mask, from the most significant down, the next bit
 *            of the EV, most significant first, takes that bit's place
 *   wire:    the fields one after the other, most significant first; a format field wider than the
 *            profile's is filled with zeros on its left
 *
 * Both are bit strings that start at the most significant bit of byte 0. What a format leaves of
 * the mode's width, and format fields that the profile does not have, are zeros (a choice).
 *
 * Nothing is repaired: what does not fit is refused, with a text that names the field, what is
 * wrong and what is allowed. Sizes are -E2BIG, values -EINVAL.
 * Thread contract: control only; no state. Cost: O(count * fields), duplicates O(count^2).
 * Who calls it: the daemon's configuration and the control API.
 */
#ifndef MRC_EV_FORMAT_H
#define MRC_EV_FORMAT_H

#include <stdint.h>

#include "mrc_encap.h"
#include "mrc_limits.h"
#include "mrc_path.h"

/* Values as in the control API. */
enum mrc_ev_fmt_mode {
	MRC_EV_FMT_STEV = 1 << 0,
	MRC_EV_FMT_SRV6 = 1 << 1,
	MRC_EV_FMT_UDP = 1 << 2
};

enum mrc_ev_profile_mode {
	MRC_EV_PROFILE_AUTO = 1 << 0,
	MRC_EV_PROFILE_EXP = 1 << 1,
	MRC_EV_PROFILE_GEN = 1 << 2
};

#define MRC_EV_BITS (8 * MRC_EV_BYTES)
#define MRC_EV_FIELD_BITS_MAX 32     /* of a profile's field: init_val and mask are words */
#define MRC_EV_SPORT_FIRST 49152     /* UDP, AUTO: source ports from here (RFC 6335: dynamic) */
#define MRC_EV_SRV6_ECHO_FIRST 49152 /* SRv6: ev32 is this plus the index (mrc_encap.h) */

struct mrc_ev_fmt {
	enum mrc_ev_fmt_mode mode;
	unsigned fields_n;		  /* 1 .. MRC_EV_FIELDS_MAX; AUTO: 0 */
	uint8_t width[MRC_EV_FIELDS_MAX]; /* bits, at least 1 each */
};

struct mrc_ev_field {
	uint32_t width;	   /* bits, 1 .. MRC_EV_FIELD_BITS_MAX */
	uint32_t init_val; /* before the EV's bits are laid over it */
	uint32_t min_val;  /* GEN: range of the bits under the mask, both ends included; */
	uint32_t max_val;  /* at most 2^popcount(mask) - 1 */
	uint32_t mask;	   /* which bits the EV gives */
};

/* An EV as a controller lists it: before expansion. */
struct mrc_ev_entry {
	uint8_t value[MRC_EV_BYTES]; /* the bits under the masks; the rest zero */
	uint8_t port;		     /* 1-based */
};

struct mrc_ev_profile {
	enum mrc_ev_profile_mode mode;
	struct mrc_ev_fmt fmt;
	unsigned count;	     /* EVs, backups included: 1 .. MRC_EVS_MAX */
	unsigned min_active; /* at most count */
	uint32_t event_mask; /* enum mrc_ev_event_bit */
	unsigned fields_n; /* GEN: at least 1; EXP: 0 means that values are wire values; AUTO: 0 */
	struct mrc_ev_field fields[MRC_EV_FIELDS_MAX];
	const struct mrc_ev_entry *entries; /* EXP: count of them; not owned */
};

/* What was wrong and what is allowed, for a person. Empty when all is well. */
struct mrc_ev_error {
	char text[160];
};

/** @return bits of the wire value: the sum of the format's fields */
unsigned mrc_ev_fmt_bits(const struct mrc_ev_fmt *fmt);

/** @return how frames of this format look: SRH is used exactly above 128 bits */
enum mrc_ev_mode mrc_ev_fmt_encap(const struct mrc_ev_fmt *fmt);

/**
 * @param err filled when refused, emptied when not; may be NULL, as everywhere here
 * @return 0; -EINVAL: unknown mode, no field, a field of 0 bits; -E2BIG: more than
 * MRC_EV_FIELDS_MAX fields, or wider than 32 (STEV), 16 (UDP), 256 (SRv6) bits
 */
int mrc_ev_fmt_check(const struct mrc_ev_fmt *fmt, struct mrc_ev_error *err);

/**
 * Format, fields and numbers; not the entries of an explicit profile (mrc_ev_profile_expand).
 * @param planes ports there are, 1 .. MRC_PLANES_MAX
 * @return 0; -E2BIG: more fields than the format has, wider than it, a field wider than its own or
 * than 32 bits, more EVs than MRC_EVS_MAX or than the ranges give; -EINVAL: init_val wider than its
 * field, mask outside of it, max_val over the mask's bits, min over max, AUTO with fields or for
 * SRv6, min_active over count, event mask with other bits, no EV, EXP without entries
 */
int mrc_ev_profile_check(const struct mrc_ev_profile *p, unsigned planes, struct mrc_ev_error *err);

/**
 * One EV to its wire value. The profile has passed mrc_ev_profile_check and is not AUTO.
 * @param ev   MRC_EV_BYTES bytes
 * @param wire MRC_EV_BYTES bytes, set only on success
 * @return 0, or -EINVAL: the EV has bits set behind those that the masks take
 */
int mrc_ev_expand(
	const struct mrc_ev_profile *p, const uint8_t *ev, uint8_t *wire, struct mrc_ev_error *err);

/**
 * The EVs of AUTO and GEN as a controller would list them: EXP's are its entries. Ports take turns.
 * GEN walks the combinations of the ranges by steps of the golden ratio, so that few EVs of many
 * differ in every field and on every port (a choice). SRv6: each port walks them all, for its
 * paths are its own; otherwise no value comes twice, since feedback knows an EV by its value.
 * @param i 0 .. count - 1; the profile has passed mrc_ev_profile_check with the same planes
 */
void mrc_ev_profile_entry(
	const struct mrc_ev_profile *p, unsigned planes, unsigned i, struct mrc_ev_entry *entry);

/**
 * Checks the profile and makes all of its EVs, expanded, for mrc_path_set_create.
 * @param evs p->count of them; undefined after an error
 * @return 0; as mrc_ev_profile_check; -EINVAL: an entry's port outside 1 .. planes, a value with
 * excess bits, two EVs that feedback could not tell apart (STEV, UDP)
 */
int mrc_ev_profile_expand(const struct mrc_ev_profile *p, unsigned planes, struct mrc_ev *evs,
	struct mrc_ev_error *err);

#endif /* MRC_EV_FORMAT_H */
