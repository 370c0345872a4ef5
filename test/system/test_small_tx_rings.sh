#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Rings of 32 entries between the nodes: the ports refuse frames all the time. That is our own matter and no loss of a
# path: no EV goes bad, nothing is retransmitted.
# shellcheck source=test/system/lib.sh
. "$(dirname "$0")/lib.sh"

file_make "$t/file" 64
config_edit "$top/config/ring.json" "$t/small.json" 'c["ring_size"] = 32'
daemon_run 60 "$t/out" -c "$t/small.json" --send "$t/file" --from A --to B --out "$t/got"
check "the transfer ends with status 0" equal "$rc" 0
check "with OK" ok_line "$t/out" "$t/file"
check "the file arrived" cmp "$t/file" "$t/got"
check "four planes are in the table" equal "$(plane_rows "$t/out" | wc -l)" 4
check "nothing was retransmitted" equal "$(plane_rows "$t/out" | awk '{ s += $5 } END { print s + 0 }')" 0
check "no EV is bad" equal "$(plane_rows "$t/out" | awk '{ s += $8 } END { print s + 0 }')" 0
finish
