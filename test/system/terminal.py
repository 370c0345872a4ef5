#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command at a terminal of its own.

terminal.py COLUMNS OUTPUT [TEXT=TYPED ...] -- COMMAND ...

When TEXT appears, TYPED is typed (with \\n and \\x03 as Python writes them), then the next pair's
turn comes. OUTPUT gets what was shown, with each carriage return as a line of its own. Ends with
the command's status. Called by tests of the whole daemon.
"""

import fcntl
import os
import pty
import struct
import sys
import termios


def run(columns, steps, command):
    """Returns what was shown and the status."""
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execv(command[0], command)
    shown = b""
    seen = 0
    while True:
        try:
            got = os.read(fd, 65536)
        except OSError:  # the other end is closed
            break
        if not got:
            break
        shown += got
        if steps and (at := shown.find(steps[0][0], seen)) >= 0:
            seen = at + len(steps[0][0])
            os.write(fd, steps.pop(0)[1])
    return shown, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main():
    columns, output, rest = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    end = rest.index("--")
    steps = [
        [part.encode().decode("unicode_escape").encode() for part in step.split("=", 1)]
        for step in rest[:end]
    ]
    shown, status = run(columns, steps, rest[end + 1 :])
    shown = shown.replace(b"\033[K", b"").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    with open(output, "wb") as f:
        f.write(shown)
    sys.exit(status if status >= 0 else 128 - status)


main()
