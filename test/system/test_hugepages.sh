#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Where hugepages are reserved they are used, for pools and receive regions; where there are none the daemon says so
# and runs. The number of reserved pages is put back afterwards.
# shellcheck source=test/system/lib.sh
. "$(dirname "$0")/lib.sh"

pages_free()
{
    awk '/^HugePages_Free/ { print $2 }' /proc/meminfo
}

file_make "$t/file" 64
wanted=512
if [ "$(id -u)" -ne 0 ] || [ ! -w /proc/sys/vm/nr_hugepages ]; then
    skip "only root reserves hugepages"
fi
hugepages_before=$(cat /proc/sys/vm/nr_hugepages)
pages_reserve "$wanted" || skip "hugepages cannot be reserved here"
[ "$(pages_free)" -ge "$wanted" ] || skip "memory is too scattered for $wanted hugepages"

daemon_start "$t/out" -c "$top/config/quickstart.json" --send "$t/file" --from A --to B --out "$t/got" --min-seconds 5
pages_in_use()
{
    [ "$(pages_free)" -lt "$wanted" ]
}
check "hugepages are taken" wait_for 20 pages_in_use
check "the transfer ends" pid_end 60
check "with OK" ok_line "$t/out" "$t/file"
check "pools and receive regions are said to lie in hugepages" has "$t/out" '^hugepages: frame pool yes, receive regions 2 of 2'
check "all pages are free again" equal "$(pages_free)" "$wanted"

pages_reserve 0
daemon_run 30 "$t/none.out" -c "$top/config/quickstart.json" --send "$t/file" --from A --to B --out "$t/got2"
check "without hugepages the file arrives as well" cmp "$t/file" "$t/got2"
check "and a line says so" has "$t/none.out" 'no-huge'
pages_reserve "$hugepages_before"
finish
