#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Without root, hugepages or a NIC the main job runs as well.
# shellcheck source=test/system/lib.sh
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" -eq 0 ] || skip "this is not root: all other tests show it"
command -v setpriv >/dev/null || skip "setpriv is not there"
file_make "$t/file" 8
cp "$top/config/quickstart.json" "$t/config.json"
# The build may lie where only root looks.
cp "$daemon" "$t/dpdk-mrc"
mkdir "$t/out.d"
chmod 755 "$t"
chmod 644 "$t/file" "$t/config.json"
chown nobody "$t/out.d"
rc=0
(cd "$t" && timeout -k 5 $((60 * slow)) setpriv --reuid=nobody --regid=nogroup --clear-groups ./dpdk-mrc -c config.json \
    --no-huge --send file --from A --to B --out out.d/got >"$t/out" 2>&1 </dev/null) || rc=$?
check "it ends with status 0" equal "$rc" 0
check "with OK" ok_line "$t/out" "$t/file"
check "the file arrived" cmp "$t/file" "$t/out.d/got"
finish
