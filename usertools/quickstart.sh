#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The main job: installs, builds, and sends FILE from one node to another over four planes of a built-in fabric,
# of which plane 2 goes dark from 30 to 60 percent of the bytes. Ends with the daemon's own status.
set -euo pipefail
# shellcheck source=usertools/lib.sh
. "$(dirname "$0")/lib.sh"

file_bytes_min=230000000

usage()
{
    echo "usage: quickstart.sh [FILE]"
    echo "  FILE  what to send; default: a tar of some 230 MB of /usr/lib, made once in build/"
}

# Whole files until there is enough, so that the tar is a good one. Names with a newline are left out.
default_file_make()
{
    local to=$1

    cleanup_files+=("$to.tmp" "$to.list")
    find /usr/lib /usr/bin /usr/share -xdev -type f -readable -size +0 ! -name $'*\n*' -printf '%s %p\n' 2>/dev/null |
        awk -v least="$file_bytes_min" \
            'sum < least { sum += $1; sub(/^[0-9]+ /, ""); print }' >"$to.list"
    run tar -C / --warning=no-file-changed --absolute-names -cf "$to.tmp" -T "$to.list"
    mv "$to.tmp" "$to"
}

case "${1:-}" in
-h | --help)
    usage
    exit 0
    ;;
-*)
    usage >&2
    exit 2
    ;;
esac
[ $# -le 1 ] || { usage >&2; exit 2; }

traps_set
file=
if [ $# -eq 1 ]; then
    file=$(realpath -m -- "$1")
    if [ ! -f "$file" ] || [ ! -r "$file" ]; then
        die "$1: not a file that can be read"
    fi
    [ -s "$file" ] || die "$1: empty, nothing to send"
fi
packages_need build
say "building"
build_make "$top/build" --buildtype=release || die "the build failed"
if [ -z "$file" ]; then
    file=$top/build/quickstart.tar
    if [ ! -s "$file" ]; then
        say "making $file"
        default_file_make "$file"
    fi
fi

received=$(mktemp "$top/build/quickstart.received.XXXXXX")
cleanup_files+=("$received")
cd "$top"
say "sending $(stat -c %s "$file") bytes of $file over four planes; plane 2 goes dark at 30 % and is back at 60 %"
rc=0
run build/app/dpdk-mrc/dpdk-mrc -c config/quickstart.json --send "$file" --from A --to B --out "$received" \
    --min-seconds 15 --fault plane=2,down=30,up=60 || rc=$?
# The daemon compares digests. This is the second opinion, on the bytes.
if [ "$rc" -eq 0 ] && ! cmp -- "$file" "$received"; then
    die "the received file differs from the sent one"
fi
exit "$rc"
