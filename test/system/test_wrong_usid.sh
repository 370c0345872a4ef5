#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# One of eight explicit paths names a T1 that is not there. The switch that should shift to it drops its packets for that
# reason and counts them; the path leaves the rotation; the file arrives over the others.
#
#        T0-A ── plane 1, 2: T1 0, T1 1 ── T0-B      EV 0: via T1 5, which does not exist
# shellcheck source=test/system/lib.sh
. "$(dirname "$0")/lib.sh"

file_make "$t/file" 16
config_edit "$top/config/quickstart.json" "$t/wrong.json" 'c["planes"] = 2' 'c["ev_profiles"] = [{
    "name": "explicit", "mode": "srv6", "backups": 0, "evs":
    [{"plane": 1, "via": ["1805"]}] +
    [{"plane": p, "via": ["%d80%d" % (p, j)]} for j in (0, 1) for p in (1, 2)] +
    [{"plane": p, "via": ["%d800" % p]} for p in (1, 2)] + [{"plane": 2, "via": ["2801"]}]}]'
daemon_run 60 "$t/out" -c "$t/wrong.json" --cmd "send $t/file from A to B out $t/got" --cmd 'show drops' \
    --cmd 'show ev' --cmd 'show fabric'
check "the run ends with status 0" equal "$rc" 0
check "the file arrived" cmp "$t/file" "$t/got"
check "the fabric counts frames without a route" has "$t/out" '^fabric +fab_no_route +[1-9]'
check "the wrong path is out of use" has "$t/out" '^A +0 +1 0x[0-9a-f]+ +bad '
check "all others are good" equal "$(grep -cE '^A +[1-7] +[12] 0x[0-9a-f]+ +(good|skip) ' "$t/out")" 7
# Shifting alone: a path's address names T1, T0 and port, and each link carried frames.
check "a path is T1, T0, port" has "$t/out" 'fcbb:bb00:2801:2001:e200::'
check "frames went up to T1 1 of plane 2 and down again" \
    equal "$(awk '$1 == "p2/t0.0-t1.1>" || $1 == "p2/t0.1-t1.1<" { n += $3 > 0 } END { print n + 0 }' "$t/out")" 2
finish
