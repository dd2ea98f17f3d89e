#!/bin/sh
# Every check that needs no run. All of them run, so that one pass shows everything; the status is the worst.
set -u
bin=$1
worst=0
check() { # check NAME COMMAND...
    name=$1
    shift
    if output=$("$@" 2>&1); then
        echo "ok      $name"
    else
        echo "FAILED  $name"
        echo "$output"
        worst=1
    fi
}
tool() { # tool NAME: a Debian tool, or how to get it
    command -v "$1" >/dev/null 2>&1 && return 0
    echo "FAILED  $1 is not installed: apt-get install -y $1"
    worst=1
    return 1
}
c_files=$(git ls-files --cached --others --exclude-standard 'core/*.c' 'core/*.h' 'drivers/*.cpp' 'drivers/*.hpp')
check ruff "$bin/ruff" check .
check "ruff format" "$bin/ruff" format --check .
check mypy "$bin/mypy"
check "import walls" "$bin/lint-imports"
check "house rules" "$bin/python" tools/house_rules.py
# shellcheck disable=SC2086 # a list of files
tool clang-format && check clang-format clang-format --dry-run --Werror $c_files
if tool clang-tidy; then
    cmake -G Ninja -S . -B build/core-test -DCLONOMETER_CORE_TESTS=ON -DCMAKE_MAKE_PROGRAM="$PWD/$bin/ninja" >/dev/null 2>&1
    check clang-tidy sh -c 'git ls-files "core/src/*.c" "drivers/*.cpp" | xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p build/core-test'
fi
exit $worst
