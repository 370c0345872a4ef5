#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The edges of a transfer: what may be named as output and what must stay as it is; signals before the first byte; a
# source that shrinks; small files that are to take a time; nodes and planes that are not there; output that is lost.
# shellcheck source=test/system/lib.sh
. "$(dirname "$0")/lib.sh"
config=$top/config/quickstart.json

# send OUTPUT ARGS...: the small file from A to B
send()
{
    local output=$1

    shift
    daemon_run 60 "$output" -c "$config" --send "$t/small" --from A --to B "$@"
}

# refused NAME PATTERN: the run that wrote $t/NAME.out failed, said why at its end, and sent nothing
refused()
{
    check "$1: it is a failure" equal "$rc" 1
    check "$1: the last line says why" has <(tail -n 1 "$t/$1.out") "transfer failed: .*$2"
    check "$1: nothing was sent" lacks "$t/$1.out" 'MB from A'
}

# milliseconds since the machine started
now_ms()
{
    awk '{ print int($1 * 1000) }' /proc/uptime
}

# The daemon itself runs by now, and SIGINT, bit 1, is in its mask.
catches_int()
{
    [ "$(readlink "/proc/$pid/exe")" = "$(realpath "$daemon")" ] &&
        grep -q '^SigCgt:.*[2367abef]$' "/proc/$pid/status"
}

temporary()
{
    [ -n "$(find "$t" -name '.dpdk-mrc*')" ]
}

no_temporary()
{
    [ -z "$(find "$t" -name '.dpdk-mrc*')" ]
}

file_make "$t/file" 64
head -c 100000 "$t/file" >"$t/small"

# ---- what is named as output ----

# Ones of our own: should this fail, the machine keeps its devices.
if mknod "$t/device" c 1 7 2>/dev/null; then
    send "$t/full.out" --out "$t/device"
    refused full 'not a regular file'
    check "a device is still one" [ -c "$t/device" ]
fi
mkdir "$t/dir"
send "$t/dir.out" --out "$t/dir"
refused dir 'directory'
mkfifo "$t/fifo"
send "$t/fifo.out" --out "$t/fifo"
refused fifo 'not a regular file'
check "the FIFO is still one" [ -p "$t/fifo" ]
ln -s nowhere "$t/dangling"
send "$t/dangling.out" --out "$t/dangling"
refused dangling 'symbolic link to nothing'
check "the link is still one" [ -L "$t/dangling" ]
send "$t/absent.out" --out "$t/not/there"
refused absent 'No such file'
send "$t/itself.out" --out "$t/small"
refused itself 'is the file to send'
ln -s /proc/self/fd/1 "$t/stdout"
send "$t/stdout.out" --out "$t/stdout"
refused stdout 'where messages go'

echo kept >"$t/target"
echo mine >"$t/target.part"
chmod 640 "$t/target"
ln -s target "$t/link"
send "$t/link.out" --out "$t/link"
check "a link is followed: status 0" equal "$rc" 0
check "it is still a link" [ -L "$t/link" ]
check "its target is what was sent" cmp "$t/small" "$t/target"
check "the target keeps its mode" equal "$(stat -c %a "$t/target")" 640
check "a file that is called X.part is nobody's but its owner's" equal "$(cat "$t/target.part")" mine
(umask 027 && send "$t/umask.out" --out "$t/new")
check "a new file follows the umask" equal "$(stat -c %a "$t/new")" 640
check "no temporary file is left" no_temporary

# ---- a source that changes ----

cp "$t/file" "$t/shrinks"
daemon_start "$t/shrinks.out" -c "$config" --send "$t/shrinks" --from A --to B --out "$t/got" --min-seconds 20
check "the transfer is under way" under_way 20 "$t/shrinks.out"
truncate -s 1000000 "$t/shrinks"
check "a source that is cut short ends the transfer" pid_end 20
check "as a failure, not by a signal" equal "$rc" 1
check "which names the file and what happened" has "$t/shrinks.out" 'transfer failed: .*/shrinks: was cut short'
check "every mbuf is back" has "$t/shrinks.out" 'all [0-9]+ mbufs are back'
check "nothing was made of it" [ ! -e "$t/got" ]

cp "$t/file" "$t/changes"
daemon_start "$t/changes.out" -c "$config" --send "$t/changes" --from A --to B --out "$t/got" --min-seconds 20
check "the transfer is under way" under_way 20 "$t/changes.out"
printf 'something else' | dd of="$t/changes" bs=1 seek=1000 conv=notrunc status=none
check "a source that is written to ends the transfer" pid_end 20
check "as a failure" equal "$rc" 1
check "which says so" has "$t/changes.out" 'transfer failed: .*/changes: changed while'

# ---- signals before the first byte ----

for ms in 0 50 100 200 300 400; do
    daemon_start "$t/early.out" -c "$config" --send "$t/file" --from A --to B --out "$t/got" --min-seconds 20
    check "SIGINT after $ms ms: it is caught by then" wait_for 10 catches_int
    sleep "$(printf '0.%03d' "$ms")"
    kill -s INT "$pid"
    check "SIGINT after $ms ms: the daemon ends" pid_end 10
    check "SIGINT after $ms ms: status 1" equal "$rc" 1
    check "SIGINT after $ms ms: no OK" lacks "$t/early.out" '^OK'
    check "SIGINT after $ms ms: it says so" has "$t/early.out" 'interrupted by SIGINT'
    check "SIGINT after $ms ms: no file" [ ! -e "$t/got" ]
done
check "no temporary file is left" no_temporary

sends=()
for ((i = 0; i < 20; i++)); do
    sends+=(--cmd "send $t/file from A to B out $t/got")
done
daemon_start "$t/command.out" -c "$config" --no-input "${sends[@]}"
check "a command sends" wait_for 20 temporary
kill -s INT "$pid"
check "SIGINT while a command sends: the daemon ends" pid_end 10
check "SIGINT while a command sends: status 1" equal "$rc" 1
check "SIGINT while a command sends: it says so" has "$t/command.out" 'send of .* interrupted by SIGINT'
check "no temporary file is left" no_temporary

# ---- times, names, output that is lost ----

for bytes in 1 100000; do
    head -c "$bytes" "$t/file" >"$t/repeated"
    began=$(now_ms)
    daemon_run 60 "$t/repeated.out" -c "$config" --send "$t/repeated" --from A --to B --out "$t/got" --min-seconds 2
    took=$(($(now_ms) - began))
    check "$bytes bytes for two seconds: OK" ok_line "$t/repeated.out" "$t/repeated"
    check "$bytes bytes for two seconds: they arrive" cmp "$t/repeated" "$t/got"
    check "$bytes bytes for two seconds: no less" [ "$took" -ge 2000 ]
    check "$bytes bytes for two seconds: not much more" [ "$took" -le $((6500 * slow)) ]
done

# named NAME PATTERN ARGS...: found before anything starts, with what is allowed
named()
{
    local name=$1 pattern=$2

    shift 2
    daemon_run 10 "$t/$name.out" --send "$t/small" "$@"
    check "$name: status 2" equal "$rc" 2
    check "$name: one line" equal "$(wc -l <"$t/$name.out")" 1
    check "$name: what is allowed" has "$t/$name.out" "$pattern"
}

named from 'from Z: no such node in .*, allowed: A, B' -c "$config" --from Z --to B
named to 'to Z: no such node in .*, allowed: A, B' -c "$config" --from A --to Z
named same 'both A, allowed: two nodes' -c "$config" --from A --to A
named plane 'plane 5, allowed: 1 .. 4' -c "$config" --from A --to B --fault plane=5,down=30
named no_fabric 'a fault needs a fabric' -c "$top/config/ring.json" --from A --to B --fault plane=1,down=30

for args in --help "-c $config --no-input --cmd version" "-c $config --send $t/small --from A --to B"; do
    rc=0
    # shellcheck disable=SC2086 # words
    timeout 60 "$daemon" $args >/dev/full 2>"$t/lost.out" </dev/null || rc=$?
    check "$args into a full device: status 1" equal "$rc" 1
    check "$args into a full device: it is said" has "$t/lost.out" 'standard output: No space'
done
rc=0
timeout 60 "$daemon" -c "$config" --send "$t/small" --from A --to B --out "$t/got" 2>"$t/lost.out" >&- </dev/null || rc=$?
check "standard output is closed: status 1" equal "$rc" 1
check "standard output is closed: it is said" has "$t/lost.out" 'standard output: '
check "standard output is closed: nothing of it is in the file" cmp "$t/small" "$t/got"

# ---- at a terminal ----

# terminal ARGS...: of terminal.py; sets $rc
terminal()
{
    rc=0
    timeout $((60 * slow)) python3 "$top/test/system/terminal.py" "$@" || rc=$?
}

widest_progress()
{
    awk '/ %/ && length($0) > n { n = length($0) } END { print n + 0 }' "$1"
}

for columns in 40 60 100; do
    terminal $columns "$t/tty.out" -- "$daemon" -c "$config" --send "$t/small" --from A --to B --min-seconds 1
    check "$columns columns: status 0" equal "$rc" 0
    check "$columns columns: progress is shown" has "$t/tty.out" '[0-9] %  +[0-9.]+ Gb/s'
    check "$columns columns: and fits" [ "$(widest_progress "$t/tty.out")" -lt $columns ]
done
head -c 400M /dev/zero >"$t/long"
terminal 80 "$t/tty.out" "dpdk-mrc> =send $t/long from A to B\\n" 'Gb/s=\x03' 'interrupted=version\n' 'DPDK=quit\n' -- \
    "$daemon" -c "$config"
check "Ctrl-C at a terminal ends the send" has "$t/tty.out" 'send failed: interrupted after [0-9.]+ MB'
check "and not the daemon, which goes on to answer" has "$t/tty.out" '^dpdk-mrc [0-9.]+, DPDK'
check "and ends as it is told to" equal "$rc" 0

# ---- nobody answers ----

daemon_run 60 "$t/down.out" -c "$config" --no-input --cmd 'set link p1 blackhole' --cmd 'set link p2 blackhole' \
    --cmd 'set link p3 blackhole' --cmd 'set link p4 blackhole' --cmd start --cmd 'sleep 3000' --cmd "send $t/small from A to B"
check "no plane leads to the peer: status 1" equal "$rc" 1
check "no plane leads to the peer: traffic that ends says so" has "$t/down.out" 'traffic ended: .*retries exhausted'
check "no plane leads to the peer: send ends and says why" has "$t/down.out" 'send failed: .*retries exhausted'
finish
