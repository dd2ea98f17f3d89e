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
# clang-tidy takes all processors for the longest; what runs beside it is short and keeps to one.
mkdir -p build
began=$(date +%s)
"$bin/python" -m tools.tidy >build/tidy.log 2>&1 &
tidy=$!
trap 'kill "$tidy" 2>/dev/null' INT TERM
c_files=$(git ls-files --cached --others --exclude-standard 'core/*.c' 'core/*.h' 'drivers/*.cpp' 'drivers/*.hpp')
check ruff "$bin/ruff" check .
check "ruff format" "$bin/ruff" format --check .
check mypy "$bin/mypy"
check "import walls" "$bin/lint-imports"
check "house rules, plain English" "$bin/python" -m tools.house_rules
check "links of the docs" sh tools/site.sh "$bin"
pages=$(git ls-files '*.md')
# shellcheck disable=SC2086 # a list of files
check proselint "$bin/proselint" check $pages
# shellcheck disable=SC2086 # a list of files
check clang-format "$bin/clang-format" --dry-run --Werror $c_files
wait "$tidy"
say $? clang-tidy $(($(date +%s) - began)) "$(cat build/tidy.log)"
exit $worst
