#!/bin/sh
# core_tests.sh BIN: builds and runs core/test, one behaviour a file, and what fuzzers have kept (core/fuzz): exit 0 pass,
# 1 fail, 77 not possible here.
# core_tests.sh --run FOLDER NAME [EMULATOR]: runs those that were built there. Most of them wait: several at a time,
# and none for ever.
set -u
if [ "$1" = --run ]; then
    folder=$2 name=$3 emulator=${4:-}
    [ -z "$emulator" ] || export CORE_TEST_EMULATED=yes
    results=$(mktemp -d)
    trap 'rm -rf "$results"' EXIT
    # shellcheck disable=SC2016 # the inner shell's
    find "$folder" -maxdepth 1 -name 'test_*' -type f -perm -u+x | sort | xargs -P "$(($(nproc) * 4))" -I '{}' sh -c '
        output=$(timeout "$3" $2 "$1" 2>&1)
        echo "$? $output" >"$4/$(basename "$1")"' sh '{}' "$emulator" "${CORE_TEST_SECONDS:-60}" "$results"
    passed=0 failed=0 skipped=0
    for result in "$results"/test_*; do
        [ -f "$result" ] || continue
        test=$(basename "$result")
        case $(head -n 1 "$result" | cut -d ' ' -f 1) in
            0) passed=$((passed + 1)) ;;
            77) skipped=$((skipped + 1)); echo "not possible here: $test: $(cut -d ' ' -f 2- "$result")" ;;
            124) failed=$((failed + 1)); echo "FAILED: $test: had not ended after ${CORE_TEST_SECONDS:-60} s"; cat "$result" ;;
            *) failed=$((failed + 1)); echo "FAILED: $test"; cat "$result" ;;
        esac
    done
    echo "$name: $passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
    exit
fi
bin=$1
build=build/core-test
PATH="$PWD/$bin:$PATH"
cmake -G Ninja -S . -B "$build" -DCLONOMETER_CORE_TESTS=ON >"$build.log" 2>&1 &&
    cmake --build "$build" --target core_tests >>"$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
sh "$0" --run "$build/core" core
