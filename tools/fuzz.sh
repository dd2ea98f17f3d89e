#!/bin/sh
# fuzz.sh BIN [SECONDS]: libFuzzer over the C code that reads what strangers write, so long in all (60 s if not said). What
# breaks it is kept in build/fuzz/found. The search starts from core/fuzz/corpus, and the fewest short inputs that reach all
# that it has reached are written there: commit them, and core tests give them again.
set -u
bin=$1
seconds=${2:-60}
build=build/fuzz
PATH="$PWD/$bin:$PATH"
clang=
for name in clang clang-19 clang-16 clang-14; do
    command -v "$name" >/dev/null 2>&1 && clang=$name && break
done
if [ -z "$clang" ] || ! printf 'int LLVMFuzzerTestOneInput(const char *b, unsigned long n) { return b && n ? 0 : 0; }' |
    "$clang" -x c -fsanitize=fuzzer,address - -o /dev/null 2>/dev/null; then
    echo "not possible here: fuzzing: no clang with libFuzzer (apt-get install clang libclang-rt-14-dev, or of your clang's version)"
    exit 0
fi
mkdir -p "$build/found"
cmake -G Ninja -S . -B "$build/cmake" -DCMAKE_C_COMPILER="$clang" -DCMAKE_CXX_COMPILER= -DCLONOMETER_CORE_TESTS=ON \
    -DCLONOMETER_FUZZ=ON >"$build.log" 2>&1 &&
    cmake --build "$build/cmake" --target core_fuzzers >>"$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
fuzzers=$(find "$build/cmake/core" -maxdepth 1 -name 'fuzz_*' -type f -perm -u+x | LC_ALL=C sort)
each=$((seconds / $(echo "$fuzzers" | wc -l)))
[ "$each" -gt 0 ] || each=1
failed=0
for fuzzer in $fuzzers; do
    name=$(basename "$fuzzer")
    corpus=$build/corpus/$name kept=core/fuzz/corpus/$name.txt
    rm -rf "$corpus" "$build/fewest"
    mkdir -p "$corpus" "$build/fewest"
    "$bin/python" -m tools.corpus unpack "$kept" "$corpus" || exit 1
    if output=$("$fuzzer" -max_total_time="$each" -timeout=10 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
        -artifact_prefix="$build/found/$name-" "$corpus" 2>&1); then
        "$fuzzer" -merge=1 "$build/fewest" "$corpus" >>"$build.log" 2>&1 && "$bin/python" -m tools.corpus pack "$kept" "$build/fewest"
        echo "$name: $(echo "$output" | sed -n 's/^stat::number_of_executed_units: *//p') inputs in $each s, nothing broke it"
    else
        failed=1
        echo "FAILED: $name"
        echo "$output" | tail -n 40
    fi
done
exit $failed
