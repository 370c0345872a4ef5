#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# SIGINT and SIGTERM in the middle of a transfer: the daemon stops within seconds, says that every mbuf is back, exits
# non-zero since the file did not arrive, and leaves nothing. Idle, it exits 0.
# shellcheck source=test/system/lib.sh
. "$(dirname "$0")/lib.sh"

file_make "$t/file" 64

for signal in INT TERM; do
    daemon_start "$t/$signal.out" -c "$top/config/quickstart.json" --send "$t/file" --from A --to B \
        --out "$t/got" --min-seconds 60
    check "SIG$signal: the transfer is under way" under_way 20 "$t/$signal.out"
    kill -s "$signal" "$pid"
    check "SIG$signal: the daemon ends within ten seconds" pid_end 10
    check "SIG$signal: a transfer that was cut short is no success" [ "$rc" -ne 0 ]
    check "SIG$signal: no OK is claimed" lacks "$t/$signal.out" '^OK'
    check "SIG$signal: every mbuf is back" has "$t/$signal.out" 'all [0-9]+ mbufs are back'
    check "SIG$signal: nothing is left" wait_for 5 nothing_left
done

mkfifo "$t/stdin"
env --default-signal=INT,TERM setsid "${noted[@]}" "$daemon" -c "$top/config/quickstart.json" <"$t/stdin" >"$t/idle.out" 2>&1 &
pid=$!
pids+=("$pid")
exec 9>"$t/stdin"
echo version >&9
check "an idle daemon answers" wait_for 20 grep -q '[0-9]\.[0-9]' "$t/idle.out"
kill -INT "$pid"
check "an idle daemon ends on SIGINT" pid_end 10
check "its status is 0" equal "$rc" 0
exec 9>&-
finish
