#!/bin/sh
# Every check that needs no run. All of them run, so that one pass shows everything; the status is the worst.
set -u
bin=$1
worst=0
say() { # say STATUS NAME SECONDS OUTPUT
    if [ "$1" = 0 ]; then
        echo "ok      $2 ($3 s)"
    else
        echo "FAILED  $2 ($3 s)"
        echo "$4"
        worst=1
    fi
}
check() { # check NAME COMMAND...
    name=$1
    shift
    begin=$(date +%s)
    output=$("$@" 2>&1)
    say $? "$name" $(($(date +%s) - begin)) "$output"
}
tool() { # tool NAME: a Debian tool, or how to get it; what this system has no package of (.ci/run) is left out
    command -v "$1" >/dev/null 2>&1 && return 0
    case " ${LINT_WITHOUT:-} " in *" $1 "*) echo "left out $1: this system has no such package" && return 1 ;; esac
    echo "FAILED  $1 is not installed: apt-get install -y $1"
    worst=1
    return 1
}
# clang-tidy takes all processors for the longest; what runs beside it is short and keeps to one.
tidy=""
if tool clang-tidy; then
    mkdir -p build
    began=$(date +%s)
    "$bin/python" tools/tidy.py >build/tidy.log 2>&1 &
    tidy=$!
    trap 'kill "$tidy" 2>/dev/null' INT TERM
fi
c_files=$(git ls-files --cached --others --exclude-standard 'core/*.c' 'core/*.h' 'drivers/*.cpp' 'drivers/*.hpp')
check ruff "$bin/ruff" check .
check "ruff format" "$bin/ruff" format --check .
check mypy "$bin/mypy"
check "import walls" "$bin/lint-imports"
check "house rules" "$bin/python" tools/house_rules.py
# shellcheck disable=SC2086 # a list of files
tool clang-format && check clang-format clang-format --dry-run --Werror $c_files
if [ -n "$tidy" ]; then
    wait "$tidy"
    say $? clang-tidy $(($(date +%s) - began)) "$(cat build/tidy.log)"
fi
exit $worst
