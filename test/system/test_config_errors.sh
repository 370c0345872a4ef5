#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A bad configuration stops the start with status 2 and one line "file:line:col: key: ...", before anything of the
# machine is touched: no runtime folder, no hugepage, no port.
# shellcheck source=test/system/lib.sh
. "$(dirname "$0")/lib.sh"
good=$top/config/quickstart.json

# refused NAME KEY: the daemon refuses $t/NAME.json at a place, for KEY
refused()
{
    local f=$t/$1.json

    check "$1: the bad file is there" [ -e "$f" ]
    daemon_run 10 "$t/$1.out" -c "$f"
    check "$1: status 2" equal "$rc" 2
    check "$1: one line is said" equal "$(wc -l <"$t/$1.out")" 1
    check "$1: file, line, column and key are named" has "$t/$1.out" "/$1\.json:[0-9]+:[0-9]+: .*$2"
    check "$1: what is allowed is said" has "$t/$1.out" 'allowed'
    check "$1: nothing was touched" nothing_left
}

# edited NAME KEY STATEMENT...
edited()
{
    local name=$1 key=$2

    shift 2
    config_edit "$good" "$t/$name.json" "$@"
    refused "$name" "$key"
}

edited unknown_key warp_factor 'c["warp_factor"] = 9'
edited wrong_type planes 'c["planes"] = "four"'
edited out_of_range planes 'c["planes"] = 99'
edited negative planes 'c["planes"] = -1'
edited same_gid gid 'c["nodes"][1]["gid"] = c["nodes"][0]["gid"]'
edited same_name name 'c["nodes"][1]["name"] = c["nodes"][0]["name"]'
edited bad_gid gid 'c["nodes"][0]["gid"] = "fd00::zz"'
edited too_many_ports 32 'c["planes"] = 8' 'c["nodes"] = [dict(c["nodes"][0], name="n%d" % i, gid="fd00::%x" % (i + 1)) for i in range(5)]'

head -c 60 "$good" >"$t/cut_off.json"
refused cut_off ''
: >"$t/empty.json"
refused empty ''
sed '0,/"planes"/s/"planes"/"planes": 4,\n "planes"/' "$good" >"$t/duplicate.json"
refused duplicate planes
printf '[1, 2]\n' >"$t/not_object.json"
refused not_object ''

daemon_run 10 "$t/missing.out" -c "$t/is-not-there.json"
check "a missing file: status 2" equal "$rc" 2
check "a missing file is named" has "$t/missing.out" '^[^:]*is-not-there\.json: No such file or directory$'
daemon_run 10 "$t/dir.out" -c "$t"
check "a folder in place of a file: status 2" equal "$rc" 2
daemon_run 10 "$t/option.out" --no-such-option
check "an unknown option: status 2" equal "$rc" 2
for f in "$top"/config/*.json; do
    daemon_run 10 "$t/good.out" --check -c "$f"
    check "$(basename "$f") passes --check" equal "$rc" 0
done
check "a check of a good file touches nothing" nothing_left
finish
