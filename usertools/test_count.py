#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Adds up what the tests of one meson build say of themselves. Called by test.sh.

usage: test_count.py BUILD_DIR [NAME]

Reads meson-logs/testlog.json. Each test, Check program or script, ends with a line "100%: Checks: 12, Failures: 0,
Errors: 0". A test that dies, prints no such line, was never started, or exits non-zero with no failure to show for
it counts as one failed, on top of the failures that it counted itself. The last line printed is "PASSED FAILED".
"""
import json
import os
import re
import sys

CHECKS = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)", re.M)


def tests_expected(build, only):
    with open(os.path.join(build, "meson-info", "intro-tests.json"), encoding="utf-8") as f:
        names = [t["name"] for t in json.load(f)]
    return [n for n in names if only is None or n == only]


def results_read(build):
    path = os.path.join(build, "meson-logs", "testlog.json")
    if not os.path.exists(path):
        return {}
    results = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            r = json.loads(line)
            results[r["name"].rsplit(" / ", 1)[-1].rsplit(":", 1)[-1]] = r
    return results


def test_judge(result):
    """Returns (passed, failed, reason of a failure that no counter shows)."""
    if result is None:
        return 0, 1, "was not run"
    lines = CHECKS.findall(result.get("stdout", ""))
    checks = sum(int(n) for n, _, _ in lines)
    bad = sum(int(f) + int(e) for _, f, e in lines)
    good = checks - bad
    verdict = result["result"]
    if verdict == "SKIP" and bad == 0:
        return good, 0, None
    if verdict == "OK":
        return (good, bad, None) if checks > 0 else (0, 1, "exits 0 but ran no check")
    if bad > 0 and verdict == "FAIL":
        return good, bad, None
    return good, bad + 1, f"{verdict}, exit status {result.get('returncode')}"


def main():
    build = sys.argv[1]
    only = sys.argv[2] if len(sys.argv) > 2 else None
    results = results_read(build)
    names = tests_expected(build, only)
    passed = failed = 0
    for name in names:
        good, bad, reason = test_judge(results.get(name))
        passed += good
        failed += bad
        if reason:
            print(f"{name}: {reason}", file=sys.stderr)
        elif results[name]["result"] == "SKIP":
            print(f"{name}: skipped", file=sys.stderr)
    if not names:
        print(f"no test named {only}" if only else "no tests", file=sys.stderr)
        failed += 1
    print(passed, failed)


main()
