#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The whole process sleeps for two seconds in the middle of a transfer, as under a debugger or a paused virtual
# machine. No path is to blame for that: no EV is condemned, and the file arrives.
# shellcheck source=test/system/lib.sh
. "$(dirname "$0")/lib.sh"

file_make "$t/file" 64

daemon_start "$t/out" -c "$top/config/quickstart.json" --send "$t/file" --from A --to B --out "$t/got" --min-seconds 5
check "the transfer is under way" under_way 20 "$t/out"
kill -STOP "$pid"
sleep 2
check "the process is stopped" grep -q '^State:[[:space:]]*T' "/proc/$pid/status"
kill -CONT "$pid"
check "the transfer ends" pid_end 60
check "with status 0" equal "$rc" 0
check "with OK" ok_line "$t/out" "$t/file"
check "the file arrived" cmp "$t/file" "$t/got"
check "no EV was condemned" has "$t/out" '^EVs: 128, condemned 0 times'
finish
