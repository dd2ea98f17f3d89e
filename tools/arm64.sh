#!/bin/sh
# Builds the core for arm64, in one linkage, with warnings as errors, and runs core/test under an emulator, where both are installed.
set -u
bin=$1
build=build/arm64
PATH="$PWD/$bin:$PATH"
if ! command -v aarch64-linux-gnu-gcc >/dev/null 2>&1; then
    echo "not possible here: arm64: no aarch64-linux-gnu-gcc (apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross)"
    exit 0
fi
cmake -G Ninja -S . -B "$build" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_CXX_COMPILER= -DCMAKE_C_FLAGS=-Werror \
    -DCLONOMETER_CORE_TESTS=ON -DCLONOMETER_SANITIZERS=OFF >"$build.log" 2>&1 &&
    cmake --build "$build" --target probe-static tracer clonometer-census clonometer-guardian clonometer-maker \
        clonometer-launcher clonometer-tether clonometer_calls target_nolibc target_dynamic target_pair core_tests >>"$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
if ! command -v qemu-aarch64 >/dev/null 2>&1; then
    echo "arm64: built; not possible here: its tests, since there is no qemu-aarch64 (apt-get install qemu-user)"
    exit 0
fi
CORE_TEST_SECONDS=120 sh "$(dirname "$0")/core_tests.sh" --run "$build/core" "core for arm64, emulated" qemu-aarch64
