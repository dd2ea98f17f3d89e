#!/bin/sh
# Every check that needs no run. All of them run, side by side, so that one pass shows everything; the status is the worst.
set -u
bin=$1
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
# What runs in the background hears no interruption: leave nobody behind.
pids='' number=0
trap 'kill $pids 2>/dev/null; exit 130' INT TERM
check() { # check NAME COMMAND...: its line, and what it said where it failed
    name=$1 number=$((number + 1))
    shift
    {
        begin=$(date +%s)
        output=$("$@" 2>&1)
        status=$?
        took=$(($(date +%s) - begin))
        if [ $status = 0 ]; then
            echo "ok      $name ($took s)$(echo "$output" | sed -n 's/^analysed: /, /p')"
        else
            printf 'FAILED  %s (%s s)\n%s\n' "$name" "$took" "$output"
        fi >"$said/$number"
    } &
    pids="$pids $!"
}
c_files=$(git ls-files --cached --others --exclude-standard 'core/*.c' 'core/*.h' 'drivers/*.cpp' 'drivers/*.hpp')
pages=$(git ls-files '*.md')
check mypy "$bin/mypy"
check clang-tidy "$bin/python" -m tools.tidy
check "house rules, plain English" "$bin/python" -m tools.house_rules
# shellcheck disable=SC2086 # a list of files
check proselint "$bin/proselint" check $pages
check codespell "$bin/codespell"
check "links of the docs" sh tools/site.sh "$bin"
check "import walls" "$bin/lint-imports"
check ruff "$bin/ruff" check .
check "ruff format" "$bin/ruff" format --check .
# shellcheck disable=SC2086 # a list of files
check clang-format "$bin/clang-format" --dry-run --Werror $c_files
wait
cat "$said"/*
! grep -q '^FAILED' "$said"/*
