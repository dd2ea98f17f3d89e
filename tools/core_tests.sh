#!/bin/sh
# Builds and runs core/test: one behaviour per file; exit 0 pass, 1 fail, 77 not possible here.
set -u
bin=$1
build=build/core-test
PATH="$PWD/$bin:$PATH"
cmake -G Ninja -S . -B "$build" -DCLONOMETER_CORE_TESTS=ON >"$build.log" 2>&1 &&
    cmake --build "$build" --target core_tests >>"$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
passed=0 failed=0 skipped=0
for test in "$build"/core/test_*; do
    [ -x "$test" ] && [ -f "$test" ] || continue
    output=$("$test" 2>&1)
    case $? in
        0) passed=$((passed + 1)) ;;
        77) skipped=$((skipped + 1)); echo "not possible here: $(basename "$test"): $output" ;;
        *) failed=$((failed + 1)); echo "FAILED: $(basename "$test")"; echo "$output" ;;
    esac
done
echo "core: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
