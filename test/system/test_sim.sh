#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mrc-sim from outside: one seed, byte-identical output; a scenario says the same as options; keys of the report;
# errors with status 2; traces that mrc-plot.py draws; nothing left on the machine.
# shellcheck source=test/system/lib.sh
. "$(dirname "$0")/lib.sh"
sim=$build/app/mrc-sim/mrc-sim
small=(--hosts 16 --hosts-per-leaf 4 --spines 4 --evs 16 --bytes 200000 --wire-overhead 64)

# simulated FILE STATUS OPTION...: status 0 and JSON lines, without what the clock on the wall says
simulated()
{
    local out=$1 want=$2

    shift 2
    timeout $((30 * slow)) "$sim" "${small[@]}" "$@" >"$out" 2>"$out.err"
    check "$*: status $want" equal $? "$want"
    sed -i 's/"wall_s":[0-9.]*/"wall_s":0/' "$out"
}

# key FILE EXPRESSION: a Python expression over r, the run's line, and f, the flows', is true
key()
{
    python3 - "$1" "$2" <<'EOF'
import json, sys
lines = [json.loads(x) for x in open(sys.argv[1], encoding="utf-8")]
f, r = lines[:-1], lines[-1]
sys.exit(0 if eval(sys.argv[2]) else 1)
EOF
}

not()
{
    ! "$@"
}

refused()
{
    timeout 10 "$sim" "$@" >"$t/refused" 2>&1
    check "$*: status 2" equal $? 2
    check "$*: one line is said" equal "$(wc -l <"$t/refused")" 1
}

simulated "$t/a" 0 --experiment perm --loss 0.01 --seed 5 --json
simulated "$t/b" 0 --experiment perm --loss 0.01 --seed 5 --json
simulated "$t/c" 0 --experiment perm --loss 0.01 --seed 6 --json
check "one seed gives the same bytes" cmp "$t/a" "$t/b"
check "another seed gives others" not cmp -s "$t/a" "$t/c"
check "a line per flow" key "$t/a" 'len(f) == 16 and all(x["status"] == 0 for x in f)'
check "settings name every option" key "$t/a" 'len(r["settings"]) > 30 and r["settings"]["loss"] == 0.01'
check "the keys of the report are there" key "$t/a" 'all(k in r for k in """experiment seed commit settings flows
    fct_us_min fct_us_mean fct_us_p50 fct_us_p99 fct_us_max slowdown_mean slowdown_max jain goodput_gbps packets trims
    marks drops retransmissions ev_bad ev_recovered packet_hops wall_s""".split())'
check "times are in order" key "$t/a" \
    'r["fct_us_min"] <= r["fct_us_p50"] <= r["fct_us_p99"] <= r["fct_us_max"] == max(x["fct_us"] for x in f)'

cat >"$t/same.json" <<'EOF'
{ "experiment": "perm", "loss": 0.01, "seed": 5, "json": true }
EOF
simulated "$t/d" 0 --scenario "$t/same.json"
sed "s|$t/same.json||" "$t/d" >"$t/e"
check "a scenario gives what the options give" cmp "$t/a" "$t/e"

cat >"$t/faults.json" <<'EOF'
{ "experiment": "shift", "bytes": 2000000,
  "faults": [ { "at_us": 40, "link": "p1/t1.0", "state": "blackhole" },
              { "at_us": 60, "link": "p1/t0.1-t1.1>", "loss": 0.2 },
              { "at_us": 60, "link": "p1/t1.2", "gbps": 50 },
              { "at_us": 90, "link": "p1/t1.0", "state": "up" } ] }
EOF
simulated "$t/f" 0 --scenario "$t/faults.json" --bytes 1500000 --json --trace "$t/trace"
check "the command line wins over the scenario" key "$t/f" 'f[0]["bytes"] == 1500000'
check "faults of a schedule happen" key "$t/f" 'r["drops"] > 0 and r["first_loss_us"] >= 40'
check "a trace has flows, planes and links" equal "$(grep -o '"kind":"[a-z]*"' "$t/trace" | sort -u | wc -l)" 3
/usr/bin/python3 "$top/usertools/mrc-plot.py" -o "$t/png" --run "$t/f" --trace "$t/trace" >"$t/plotted" 2>&1
check "the plots are drawn" equal $? 0
for png in fct window evs links; do
    check "$png.png is a PNG" equal "$(head -c 4 "$t/png/$png.png" | tail -c 3)" PNG
done
/usr/bin/python3 "$top/usertools/mrc-plot.py" -o "$t/png" --trace "$t/f" >"$t/wrong" 2>&1
check "what is no trace is refused" equal $? 2

printf '# two flows\n0 5\n9 1\n' >"$t/perm"
simulated "$t/g" 0 --experiment perm --perm "$t/perm" --json
check "a permutation comes from a file" key "$t/g" '[(x["src"], x["dst"]) for x in f] == [(0, 5), (9, 1)]'
simulated "$t/h" 0 --experiment planes --planes 4 --plane-down 2@20:60 --bytes 4000000 --verify --json
check "bytes survive the death of a plane" key "$t/h" 'all(x["verified"] for x in f) and r["drops"] > 0'
simulated "$t/i" 0 --experiment loss --json
check "loss is compared with none" key "$t/i" '0.3 < r["goodput_ratio_to_lossless"] <= 1'
simulated "$t/j" 0 --experiment victim --incast 4 --json
check "a victim is measured" key "$t/j" '1 <= r["victim_slowdown"] < 1.5'
simulated "$t/k" 1 --limit-us 20 --json
check "who does not end in time is told" has "$t/k.err" 'did not end by'

timeout $((30 * slow)) "$sim" --chaos --seeds 1..10 >"$t/chaos"
check "ten chaos seeds hold" equal $? 0
check "and are counted" has "$t/chaos" '^chaos: 10 seeds, 0 failed'

refused --chaos --seeds 5..1
refused --chaos --hosts 4
refused --experiment nonsense
refused --hosts 17 --hosts-per-leaf 4
refused --no-such-option
refused --seed
refused --scenario "$t/absent.json"
echo '{ "hosts": 16, "hosts": 32 }' >"$t/twice.json"
refused --scenario "$t/twice.json"
echo '{ "faults": [ { "at_us": 1, "link": "p1/t1.99", "state": "down" } ] }' >"$t/link.json"
refused --scenario "$t/link.json"
"$sim" --help >"$t/help"
check "help names experiments" has "$t/help" '^  evloss '
finish
