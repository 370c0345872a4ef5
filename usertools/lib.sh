# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What the scripts of usertools and .ci share: packages, builds, and children that do not outlive a Ctrl-C.
# Sourced, never run. The caller has set -euo pipefail.

# shellcheck disable=SC2034 # read by the scripts that source this
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
child=
cleanup_files=()

say()
{
    printf '== %s\n' "$*"
}

die()
{
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# A child leads a session of its own, so that one signal reaches all its descendants, once: a terminal's Ctrl-C
# comes to this shell alone and is passed on below. Background shells ignore SIGINT, their children should not.
run()
{
    local rc=0

    env --default-signal=INT,TERM,HUP setsid "$@" &
    child=$!
    wait "$child" || rc=$?
    child=
    return "$rc"
}

child_stop()
{
    local i

    [ -n "$child" ] || return 0
    kill -TERM -- "-$child" 2>/dev/null || return 0
    for ((i = 0; i < 100; i++)); do
        kill -0 -- "-$child" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL -- "-$child" 2>/dev/null || true
}

on_exit()
{
    child_stop
    [ ${#cleanup_files[@]} -eq 0 ] || rm -rf -- "${cleanup_files[@]}"
}

# $1: exit status of a shell that dies of the signal
on_signal()
{
    trap '' INT TERM HUP
    printf '\n%s: stopped\n' "$(basename "$0")" >&2
    exit "$1"
}

traps_set()
{
    trap on_exit EXIT
    trap 'on_signal 130' INT
    trap 'on_signal 143' TERM
    trap 'on_signal 129' HUP
}

# Names of the groups' packages that are not installed.
packages_missing()
{
    local group package

    while read -r group package; do
        case " $* " in
        *" $group "*)
            dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' || printf '%s\n' "$package"
            ;;
        esac
    done < <(grep -v '^#' "$top/usertools/packages.txt")
}

# packages_need GROUP...: apt is not asked when nothing is missing.
packages_need()
{
    local missing log

    command -v dpkg-query >/dev/null || die "packages are found by dpkg: this needs Debian 12 or a relative of it"
    mapfile -t missing < <(packages_missing "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    [ "$(id -u)" -eq 0 ] || die "not installed: ${missing[*]} (run this as root once, or install them)"
    say "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    cleanup_files+=("$log")
    if ! { run apt-get -q update && run apt-get -q -y --no-install-recommends install "${missing[@]}"; } \
        >"$log" 2>&1 </dev/null; then
        tail -n 30 "$log" >&2
        die "apt could not install ${missing[*]}"
    fi
}

# build_make DIR [meson setup options]: configures once, compiles what changed; quiet unless it fails.
build_make()
{
    local dir=$1 log=$1/make.log

    shift
    mkdir -p "$dir"
    if [ ! -f "$dir/build.ninja" ]; then
        if ! run meson setup "$dir" "$top" "$@" >"$log" 2>&1; then
            tail -n 30 "$log" >&2
            return 1
        fi
    fi
    if ! run ninja -C "$dir" >"$log" 2>&1; then
        grep -E -A 5 'FAILED|error:|ERROR' "$log" | head -n 60 >&2 || tail -n 30 "$log" >&2
        return 1
    fi
}
