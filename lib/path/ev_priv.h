/* SPDX-License-Identifier: BSD-3-Clause */
/* Between ev_format.c and ev_profile.c: refusing with a text. */
#ifndef EV_PRIV_H
#define EV_PRIV_H

#include "mrc_ev_format.h"

/** Formats the text unless err is NULL. @return rc */
int ev_refuse(struct mrc_ev_error *err, int rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* EV_PRIV_H */
