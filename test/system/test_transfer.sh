#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The main job in small: a file crosses four planes, one of which goes dark in between. Every byte arrives.
#
#        T0-A ── plane 1..4, two T1s each ── T0-B
#         │        (plane 2: 30 % .. 60 %)     │
#         A                                    B
# shellcheck source=test/system/lib.sh
. "$(dirname "$0")/lib.sh"

file_make "$t/file" 64
daemon_run 90 "$t/plain.out" -c "$top/config/quickstart.json" --send "$t/file" --from A --to B --out "$t/plain"
check "a transfer ends with status 0" equal "$rc" 0
check "its last line is OK, digest, bytes, rate" ok_line "$t/plain.out" "$t/file"
check "the file on disk is the file sent" cmp "$t/file" "$t/plain"

daemon_run 90 "$t/fault.out" -c "$top/config/quickstart.json" --send "$t/file" --from A --to B --out "$t/fault" \
    --min-seconds 4 --fault plane=2,down=30,up=60
check "a transfer over a dead plane ends with status 0" equal "$rc" 0
check "its last line is OK, digest, bytes, rate" ok_line "$t/fault.out" "$t/file"
check "no byte differs" cmp "$t/file" "$t/fault"

# Sizes around a packet and a message: one byte, one packet, one more, and a tail.
for bytes in 1 4096 4097 1048579; do
    head -c "$bytes" "$t/file" >"$t/odd"
    daemon_run 30 "$t/odd.out" -c "$top/config/quickstart.json" --send "$t/odd" --from B --to A --out "$t/odd.got"
    check "$bytes bytes: status 0" equal "$rc" 0
    check "$bytes bytes arrive" cmp "$t/odd" "$t/odd.got"
done

daemon_run 30 "$t/absent.out" -c "$top/config/quickstart.json" --send "$t/absent" --from A --to B --out "$t/none"
check "a file that is not there is an error" [ "$rc" -ne 0 ]
check "it is named" has "$t/absent.out" "$t/absent"
daemon_run 30 "$t/node.out" -c "$top/config/quickstart.json" --send "$t/odd" --from A --to Z --out "$t/none"
check "a node that is not there is an error" [ "$rc" -ne 0 ]
check "no file is made of a failed transfer" [ ! -e "$t/none" ]
finish
