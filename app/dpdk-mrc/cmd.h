/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of the daemon: cmd_show.c looks, cmd_set.c changes, cmd_run.c moves data.
 * A session's user pointer is the daemon.
 */
#ifndef CMD_H
#define CMD_H

#include "cli.h"
#include "daemon.h"

/** Registers all rows. @return 0 or -errno */
int cmd_register(void);
int cmd_show_register(void);
int cmd_set_register(void);
int cmd_run_register(void);
/** Ends what commands started (generator, transfer): before daemon_stop. */
void cmd_run_end(void);

#endif /* CMD_H */
