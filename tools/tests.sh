#!/bin/sh
# tests.sh [--core] BIN [PYTEST'S ARGUMENTS]: first what launches nothing real, in a process more than there are
# processors, since some of it waits, and beside it the probe's own tests, which wait for the most part; then what
# launches, twice as many at a time as there are processors, since it waits and sleeps for a third of its time
# (tests/conftest.py: which have the machine for themselves). What fails there is asked again alone, since it may have
# seen the others: it fails where it fails twice. pytest says 5 where the arguments choose none of a kind.
set -u
core=no
[ "$1" = --core ] && core=yes && shift
bin=$1
shift
# Each of six processes imports every test: keep what is compiled, also where Python is told not to.
unset PYTHONDONTWRITEBYTECODE
if [ $core = yes ]; then
    mkdir -p build
    { sh tools/core_tests.sh "$bin" && sh tools/arm64.sh "$bin"; } >build/core-tests.out 2>&1 &
    beside=$!
    # What runs in the background hears no interruption: leave nobody behind.
    trap 'wait; exit 130' INT TERM
fi
# A file goes to one process: what its tests share, such as a wheel, is made once. They begin in the order of
# tests/conftest.py.
"$bin/python" -m pytest -n $(($(nproc) + 1)) --dist loadfile --no-loadscope-reorder -m "not real" "$@"
first=$?
if [ $core = yes ]; then
    wait "$beside"
    of_core=$?
    cat build/core-tests.out
    [ $of_core = 0 ] || exit $of_core
fi
"$bin/python" -m pytest -n $((2 * $(nproc))) --dist loadfile --no-loadscope-reorder -m real "$@"
second=$?
if [ $second = 1 ]; then
    echo "tests: what failed beside others is asked again alone"
    "$bin/python" -m pytest --last-failed --last-failed-no-failures none -m real "$@"
    second=$?
    # 5: none of them is left to ask, as where only the ending of a process failed.
    [ $second = 5 ] && second=1
fi
[ $first = 5 ] && [ $second = 5 ] && exit 5
[ $first = 5 ] && exit $second
[ $second = 5 ] || [ $second = 0 ] && exit $first
exit $second
