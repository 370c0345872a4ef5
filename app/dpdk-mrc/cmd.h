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

/** The argument "plane" of a command, from 0. @return 0, or -1: there is none, and it has said so
 */
int cmd_plane_get(struct cli *cli, const struct cli_args *a, unsigned *plane);
/** The argument "node" of a command. @return NULL: there is none, and it has said so */
struct daemon_node *cmd_node_get(struct cli *cli, const struct cli_args *a);

/** Says what ended by itself meanwhile: call often. */
void cmd_run_poll(struct cli *cli);
/** Asks what the session waits for (send, bench) to end as a failed command. @return false: it
 * waits for none of them */
bool cmd_run_abort(void);
/**
 * Ends what commands started (generator, transfer): before daemon_stop.
 * @param why what became of it, as "interrupted by SIGINT"
 * @return 0, or negative: a send or bench was cut short, or traffic had failed
 */
int cmd_run_end(const char *why);

#endif /* CMD_H */
