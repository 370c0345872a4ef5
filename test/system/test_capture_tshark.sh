#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A capture of a transfer, one file per plane, in the eyes of an independent reader: tshark sees IPv6 in IPv6, UDP
# 4791 and InfiniBand base headers with our opcodes, QPNs and PSNs. The capture is whole: more than 50,000 frames, as many
# as the ports sent, no PSN missing. A disk that is full is named, what it lacks is counted, and the files open.
# shellcheck source=test/system/lib.sh
. "$(dirname "$0")/lib.sh"

command -v tshark >/dev/null || skip "tshark is not installed"
file_make "$t/file" 110
mkdir "$t/pcap"
daemon_run 60 "$t/out" -c "$top/config/quickstart.json" --pcap "$t/pcap" --cmd "send $t/file from A to B" \
    --cmd 'show port'
check "the transfer ends with status 0" equal "$rc" 0
check "nothing is said to be missing" lacks "$t/out" 'missing|did not come back'
mapfile -t captures < <(find "$t/pcap" -name '*.pcapng' | sort)
check "there is one file a plane" equal "${#captures[@]}" 4

fields()
{
    tshark -r "$1" -T fields -E occurrence=a -E aggregator=, -E separator=' ' -e eth.type -e ipv6.nxt -e udp.dstport \
        -e infiniband.bth.opcode -e infiniband.bth.destqp -e infiniband.bth.psn 2>/dev/null
}

for f in "${captures[@]}"; do
    name=$(basename "$f")
    fields "$f" >"$t/fields"
    check "$name: frames are there" [ -s "$t/fields" ]
    # 41 and 17: IPv6 in IPv6, then UDP. C6..CB writes, D1 ACK, DC SACK, DD NACK, DE probe, D8 D9 EV probes.
    check "$name: every frame is IPv6 in IPv6, UDP, InfiniBand" \
        only "$t/fields" '^0x86dd 41,17 4791 (19[89]|20[0-3]|209|21[67]|22[0-2]) 0x[0-9a-f]{6} [0-9]+$'
    check "$name: writes are seen" has "$t/fields" '^0x86dd 41,17 4791 (19[89]|20[0-3]) '
    cat "$t/fields" >>"$t/all"
done
# Frames of the ports by their own counters, just before the end: sent, and refused and captured again.
sent=$(awk '$1 ~ /^[AB]$/ && $5 ~ /^(up|down)$/ { n += $8 + $10 } END { print n + 0 }' "$t/out")
captured=$(wc -l <"$t/all")
check "more than 50,000 frames" [ "$captured" -gt 50000 ]
check "all that the ports sent, and few after they were asked" \
    eval "[ $captured -ge $sent ] && [ $captured -le $((sent + 64)) ]"

# Write packets of one direction carry PSNs without a hole from the first to the last.
psn_holes()
{
    awk '$4 >= 198 && $4 <= 203 { print $6 }' "$t/all" | sort -un |
        awk 'NR > 1 && $1 != last + 1 { print last + 1 } { last = $1 }'
}
check "PSNs of the writes have no holes over all planes" equal "$(psn_holes | wc -l)" 0
check "there are as many as the file has packets" \
    [ "$(awk '$4 >= 198 && $4 <= 203 { print $6 }' "$t/all" | sort -un | wc -l)" -ge 28160 ]
check "SACKs are seen" has "$t/all" ' 220 0x'
check "the writes of all planes go to one QP" \
    equal "$(awk '$4 >= 198 && $4 <= 203 { print $5 }' "$t/all" | sort -u | wc -l)" 1
disk_full()
{
    local f n

    mkdir "$t/disk"
    mount -t tmpfs -o size=2m mrc-test "$t/disk" 2>/dev/null || return 0
    daemon_run 60 "$t/full.out" -c "$top/config/quickstart.json" --send "$t/file" --from A --to B --pcap "$t/disk"
    for f in "$t/disk"/*.pcapng; do
        tshark -r "$f" >"$t/full.frames" 2>"$t/full.err"
        n=$(wc -l <"$t/full.frames")
        check "full disk: $(basename "$f") opens without complaint" lacks "$t/full.err" 'cut short|damaged|corrupt|appears'
        check "full disk: it has frames" [ "$n" -gt 100 ]
        check "full disk: it is named with the reason, once" \
            equal "$(grep -cE "$f: No space left on device$" "$t/full.out")" 1
        check "full disk: what is missing adds up" \
            equal "$(($(sed -nE "s|.*$f: ([0-9]+) of ([0-9]+) frames are missing.*|\2 - \1|p" "$t/full.out")))" "$n"
    done
    umount "$t/disk"
    check "full disk: the transfer is not disturbed" equal "$rc" 0
}
[ "$(id -u)" -ne 0 ] || disk_full
finish
