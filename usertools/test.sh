#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs, builds and runs all tests: the release build first, then the whole suite again under AddressSanitizer and
# UndefinedBehaviorSanitizer. The last line is "N passed, N failed", over both.
set -euo pipefail
# shellcheck source=usertools/lib.sh
. "$(dirname "$0")/lib.sh"

usage()
{
    cat <<'EOF'
usage: test.sh [--no-asan] [--only NAME]
  --no-asan    the normal build only
  --only NAME  one test, as meson test --list names it
EOF
}

passed=0
failed=0
asan=1
only=()

# suite_run TITLE BUILD_DIR TIMEOUT_FACTOR [meson setup options]
suite_run()
{
    local title=$1 dir=$2 factor=$3 p f

    shift 3
    say "$title: building"
    if ! build_make "$dir" "$@"; then
        echo "$title: the build failed"
        failed=$((failed + 1))
        return 0
    fi
    say "$title: testing"
    rm -f "$dir/meson-logs/testlog.json"
    # Its verdict is not needed: the count below reads each test's own.
    run meson test -C "$dir" --no-rebuild --print-errorlogs --num-processes 2 -t "$factor" "${only[@]}" || true
    read -r p f < <("$top/usertools/test_count.py" "$dir" "${only[@]}" | tail -n 1)
    echo "$title: $p passed, $f failed"
    passed=$((passed + p))
    failed=$((failed + f))
}

while [ $# -gt 0 ]; do
    case $1 in
    --no-asan) asan=0 ;;
    --only)
        [ $# -ge 2 ] || { usage >&2; exit 2; }
        only=("$2")
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
packages_need build test
cd "$top"
suite_run "release" "$top/build" 1 --buildtype=release
if [ "$asan" -eq 1 ]; then
    export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    suite_run "sanitizers" "$top/build-asan" 4 --buildtype=debugoptimized -Db_sanitize=address,undefined
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
