# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What the tests of the whole daemon share. A test sources this, runs its checks, and ends with `finish`.
#
# It owns a temporary folder ($t), the daemons it started, and a picture of what they could leave on the machine: at
# the end no process, /var/run/dpdk entry, hugepage file, network interface or unix socket may be there that was not
# there at the start. Other daemons may run, come and go meanwhile, also some of the same build: our processes are known
# by MRC_TEST in their environment, what they leave by their pids, which stand in $t/pids and in the names of EAL's
# folders, files and sockets. MRC_BUILD names the build; meson sets it.

set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${MRC_BUILD:-$top/build}
# shellcheck disable=SC2034 # the tests use it
daemon=$build/app/dpdk-mrc/dpdk-mrc
t=$(mktemp -d "${TMPDIR:-/tmp}/mrc-test.XXXXXX")
checks=0
failures=0
pids=()
export MRC_TEST=$t # marks all processes below this shell
: >"$t/pids"

# Sanitizers cost time, not correctness: bounds on waiting stretch with them.
slow=1
[[ $build != *asan* ]] || slow=4

# Processes of this test, its own shells aside: all that inherited MRC_TEST.
processes_ours()
{
    local p exe

    for p in /proc/[0-9]*; do
        exe=$(readlink "$p/exe" 2>/dev/null) || continue
        case $exe in "$build"/* | "$t"/*) ;; *) continue ;; esac
        tr '\0' '\n' <"$p/environ" 2>/dev/null | grep -qxF "MRC_TEST=$MRC_TEST" && echo "${p#/proc/}"
    done
}

# Drops names with a pid in them, as in mrcPID, that is none of ours.
of_ours()
{
    local line p

    while read -r line; do
        p=$(sed -nE 's/.*mrc([0-9]+).*/\1/p' <<<"$line")
        [ -n "$p" ] && ! grep -qx "$p" "$t/pids" || echo "$line"
    done
}

# One line for each thing of ours that could be left on the machine.
machine_picture()
{
    local m

    processes_ours | sed 's/^/process /'
    {
        find /var/run/dpdk -mindepth 1 -maxdepth 1 -name 'mrc*' -printf 'runtime %f\n' 2>/dev/null
        awk '$3 == "hugetlbfs" { print $2 }' /proc/mounts | while read -r m; do
            find "$m" -mindepth 1 -name 'mrc*' -printf 'hugepage %p\n' 2>/dev/null
        done
        awk '$NF ~ /mrc/ { print "socket " $NF }' /proc/net/unix
    } | of_ours
    find /sys/class/net -mindepth 1 -maxdepth 1 '(' -name '*mrc*' -o -name 'dtap*' ')' -printf 'interface %f\n'
}

# A program that leaves its pid in $t/pids
# shellcheck disable=SC2016 # the inner shell expands
noted=(sh -c 'echo "$$" >>"$0" && exec "$@"' "$t/pids")

pages_reserve()
{
    echo "$1" >/proc/sys/vm/nr_hugepages
}

at_exit()
{
    local p i

    for p in "${pids[@]}"; do
        kill -TERM -- "-$p" 2>/dev/null || continue
        for ((i = 0; i < 8; i++)); do
            kill -0 -- "-$p" 2>/dev/null && sleep 0.1
        done
        kill -KILL -- "-$p" 2>/dev/null
    done
    [ -z "${hugepages_before:-}" ] || pages_reserve "$hugepages_before"
    awk -v t="$t/" 'index($2, t) == 1 { print $2 }' /proc/mounts | xargs -r umount
    rm -rf -- "$t"
}
trap at_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
if [ ! -x "$daemon" ]; then
    echo "$daemon is not built"
    exit 1
fi
machine_picture | sort >"$t/before"

# check SENTENCE COMMAND...: counts; a failure tells the command and goes on.
check()
{
    local sentence=$1

    shift
    checks=$((checks + 1))
    if "$@"; then
        echo "ok      $sentence"
    else
        failures=$((failures + 1))
        echo "FAILED  $sentence: $*"
    fi
}

# wait_for SECONDS COMMAND...: until it succeeds, looking ten times a second.
wait_for()
{
    local end=$((SECONDS + $1 * slow))

    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.1
    done
}

# daemon_start OUTPUT ARGS...: in a session of its own; sets $pid, which is also its group.
daemon_start()
{
    local output=$1

    shift
    env --default-signal=INT,TERM setsid "${noted[@]}" "$daemon" "$@" >"$output" 2>&1 </dev/null &
    pid=$!
    pids+=("$pid")
}

# daemon_run SECONDS OUTPUT ARGS...: to its end; sets $rc. 124: it had to be stopped.
daemon_run()
{
    local seconds=$(($1 * slow)) output=$2

    shift 2
    rc=0
    timeout --foreground -k 5 "$seconds" "${noted[@]}" "$daemon" "$@" >"$output" 2>&1 </dev/null || rc=$?
}

# pid_end SECONDS: waits for $pid; sets $rc.
pid_end()
{
    rc=124
    wait_for "$1" pid_gone || return 1
    rc=0
    wait "$pid" || rc=$?
}

# A zombie is gone enough: it waits for our wait.
pid_gone()
{
    [ ! -d "/proc/$pid" ] || grep -q '^State:[[:space:]]*Z' "/proc/$pid/status" 2>/dev/null
}

# under_way SECONDS OUTPUT: waits until the transfer of $pid tells of its progress
under_way()
{
    wait_for "$1" progress_or_end "$2" && grep -q '%' "$2"
}

progress_or_end()
{
    grep -q '%' "$1" || pid_gone
}

has()
{
    grep -qE -- "$2" "$1" || { sed 's/^/    | /' "$1" | tail -n 25; return 1; }
}

lacks()
{
    ! grep -E -- "$2" "$1"
}

# only FILE PATTERN: each line matches
only()
{
    ! grep -vE -m 5 -- "$2" "$1"
}

equal()
{
    [ "$1" = "$2" ] || { echo "    $1 is not $2"; return 1; }
}

# config_edit FROM TO STATEMENT...: Python statements on the parsed file, called c.
config_edit()
{
    python3 - "$@" <<'EOF'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    c = json.load(f)
for statement in sys.argv[3:]:
    exec(statement)
with open(sys.argv[2], "w", encoding="utf-8") as f:
    json.dump(c, f, indent=1)
EOF
}

# file_make NAME MIB: bytes that do not repeat
file_make()
{
    head -c $(($2 * 1048576)) /dev/urandom >"$1"
}

# plane_rows OUTPUT: rows of the table at the end: plane packets bytes trims retransmissions good skip bad
plane_rows()
{
    awk '/^[[:space:]]*plane[[:space:]]+packets/ { table = 1; next } table && $1 ~ /^[0-9]+$/ { print; next } { table = 0 }' "$1"
}

# ok_line OUTPUT FILE: the last line is "OK <sha256 of FILE> <its bytes> bytes, <Gb/s> ..."
ok_line()
{
    local sum bytes

    sum=$(sha256sum <"$2" | cut -d' ' -f1)
    bytes=$(stat -c %s "$2")
    tail -n 1 "$1" | grep -qE "^OK $sum $bytes bytes, [0-9.]+ Gb/s" || { tail -n 5 "$1"; return 1; }
}

nothing_left()
{
    machine_picture | sort >"$t/after"
    [ -z "$(comm -13 "$t/before" "$t/after" | tee "$t/left")" ]
}

# skip REASON: this machine cannot run it
skip()
{
    echo "skipped: $*"
    exit 77
}

finish()
{
    check "nothing is left on the machine" wait_for 5 nothing_left
    sed 's/^/    left: /' "$t/left"
    echo "$((checks > 0 ? (checks - failures) * 100 / checks : 0))%: Checks: $checks, Failures: $failures, Errors: 0"
    [ "$failures" -eq 0 ]
    exit
}

# Names that clients of this file set or read.
export rc=0 pid=0
