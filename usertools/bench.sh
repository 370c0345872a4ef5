#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Our goodput beside the bare movement of the same data on the same machine in the same minute: the rows take turns,
# round after round, and the median of each counts, so that a slow minute of the machine slows both.
set -euo pipefail
# shellcheck source=usertools/lib.sh
. "$(dirname "$0")/lib.sh"

# One write is 1 MiB; 16 are posted at a time.
write_bytes=1048576
write_depth=16
rounds=7
seconds=2
json=0

usage()
{
    cat <<'EOF'
usage: bench.sh [--json] [--rounds N] [--seconds S]
  bare_one_core        one core copies into frames with CRC, checks the CRC, copies out
  bare_two_cores       two cores, joined by a ring, each do one end of it
  goodput_1m_one_core  1 MiB writes over four ring planes, ICRC on, both nodes on one core; limit: bare_one_core
  goodput_1m_rings     the same, a core a side; limit: bare_two_cores
  --json       one object a row: name, value, unit, limit, ratio
  --rounds N   how often each row is measured (default 7)
  --seconds S  how long each of ours runs a round, whole seconds (default 2)
EOF
}

number_need()
{
    [[ "${2:-}" =~ ^[1-9][0-9]?$ ]] || { echo "bench.sh: $1 takes 1..99" >&2; exit 2; }
}

# sample NAME VALUE
sample()
{
    printf '%s %s\n' "$1" "$2" >>"$samples"
}

# The daemon's line is "bench: 45.1 Gb/s goodput, ...".
ours_measure()
{
    local name=$1 config=$2 value

    run build/app/dpdk-mrc/dpdk-mrc -c "$config" --cmd "bench write $write_bytes $write_depth $seconds" \
        >"$out" 2>&1 </dev/null || { tail -n 20 "$out" >&2; die "$name: the daemon failed"; }
    value=$(awk '$1 == "bench:" && $3 == "Gb/s" { v = $2 } END { print v }' "$out")
    [ -n "$value" ] || { tail -n 20 "$out" >&2; die "$name: no figure in the daemon's output"; }
    sample "$name" "$value"
}

bare_measure()
{
    local name value

    run build/app/mrc-bench/mrc-bench --json --rounds 1 --seconds 1 >"$out" || die "mrc-bench failed"
    while read -r name value; do
        sample "$name" "$value"
    done < <(sed -nE 's/^\{"name": "([a-z0-9_]+)", "value": ([0-9.]+),.*/\1 \2/p' "$out")
}

# Prints "name median least most" for each row that has samples.
medians()
{
    sort -k1,1 -k2,2g "$samples" | awk '
        function flush() { if (n) print name, (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2, v[1], v[n] }
        $1 != name { flush(); n = 0; name = $1 }
        { v[++n] = $2 }
        END { flush() }'
}

report()
{
    medians | awk -v json="$json" '
        { value[$1] = $2; least[$1] = $3; most[$1] = $4 }
        function row(name, limit,    l, of, ratio) {
            if (!(name in value)) return
            l = (limit in value) ? value[limit] : 0
            of = (l > 0) ? sprintf("%.2f", l) : (json ? "null" : "-")
            ratio = (l > 0) ? sprintf("%.3f", value[name] / l) : (json ? "null" : "-")
            if (json)
                printf("{\"name\": \"%s\", \"value\": %.2f, \"unit\": \"Gb/s\", \"limit\": %s, \"ratio\": %s}\n",
                    name, value[name], of, ratio)
            else
                printf("%-20s %9.2f %9s %7s   %.1f .. %.1f\n", name, value[name], of, ratio, least[name], most[name])
        }
        END {
            if (!json) printf "%-20s %9s %9s %7s   %s\n", "row", "Gb/s", "limit", "ratio", "range"
            row("bare_one_core", "")
            row("bare_two_cores", "")
            row("goodput_1m_one_core", "bare_one_core")
            row("goodput_1m_rings", "bare_two_cores")
        }'
}

while [ $# -gt 0 ]; do
    case $1 in
    --json) json=1 ;;
    --rounds)
        number_need "$@"
        rounds=$2
        shift
        ;;
    --seconds)
        number_need "$@"
        seconds=$2
        shift
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
    shift
done

traps_set
cd "$top"
{
    packages_need build
    build_make "$top/build" --buildtype=release || die "the build failed"
} >&2
samples=$(mktemp)
out=$(mktemp)
cleanup_files+=("$samples" "$out")
for ((round = 1; round <= rounds; round++)); do
    [ "$json" -eq 1 ] || say "round $round of $rounds"
    bare_measure
    ours_measure goodput_1m_one_core config/ring.json
    [ "$(nproc)" -lt 2 ] || ours_measure goodput_1m_rings config/ring2.json
done
if [ "$json" -eq 0 ]; then
    run build/app/mrc-bench/mrc-bench --rounds 1 --seconds 0.05 | grep '^crc-32'
    echo
fi
report
