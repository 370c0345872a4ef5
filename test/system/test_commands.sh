#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Commands of the daemon in a script: filters show what they name and nothing else; a wrong word is named with what may
# stand in its place, and the run ends with status 1.
# shellcheck source=test/system/lib.sh
. "$(dirname "$0")/lib.sh"

# shown COMMAND: what it prints goes to $t/out
shown()
{
    daemon_run 20 "$t/all" -c "$top/config/quickstart.json" --cmd "$1"
    grep -v '^dpdk-mrc: ' "$t/all" >"$t/out"
}

shown 'show ev A plane 2'
check "EVs of a node and plane: status 0" equal "$rc" 0
check "a fourth of the 128 EVs" equal "$(grep -c '^A ' "$t/out")" 32
check "of plane 2 alone, below a head" only "$t/out" '^(node +ev|A +[0-9]+ +2 0x)'
shown 'show ev B'
check "EVs of a node: all 128 of B" equal "$(grep -cE '^B +[0-9]+ +[1-4] 0x' "$t/out")" 128
check "and none of A" lacks "$t/out" '^A '
shown 'show fabric plane 3'
check "links of a plane: hosts and T1s, both ways" equal "$(grep -c '^p3/' "$t/out")" 12
check "and of no other" only "$t/out" '^(link|p3/)'

# refused COMMAND TEXT: all that is said
refused()
{
    shown "$1"
    check "$1: status 1" equal "$rc" 1
    check "$1: says why" equal "$(cat "$t/out")" "$2"
}

refused 'show ev C' 'no node C, allowed: A B'
refused 'show fabric plane 5' 'no plane 5, allowed: 1 .. 4'
refused 'show fabric plane 4294967296' \
    "show fabric plane: '4294967296' is out of range, allowed: <plane> 0 .. 4294967295"
refused 'show' 'show: what? port|plane|conn|ev|fabric|drops|worker|memory'
refused 'set link p1 sideways' "set link p1: 'sideways' is unknown, allowed: up|down|blackhole"
refused 'stop now' "stop: 'now' is one word too many"
finish
