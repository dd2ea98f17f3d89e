#!/bin/sh
# tests.sh [--core | --translate] BIN [PYTEST'S ARGUMENTS]: all tests, more at a time than there are processors, since
# those of real tasks wait and sleep, and beside them the probe's own. Some have the machine for themselves
# (tests/conftest.py). What fails so is asked again alone, since it may have seen the others: it fails where it fails
# twice. With --translate they are only made ready.
set -u
core=no translate=no
[ "$1" = --core ] && core=yes && shift
[ "$1" = --translate ] && translate=yes && shift
bin=$1
shift
# Each process imports every test: keep what is compiled, also where Python is told not to.
unset PYTHONDONTWRITEBYTECODE
if [ $core = yes ]; then
    mkdir -p build
    { sh tools/core_tests.sh "$bin" && sh tools/arm64.sh "$bin"; } >build/core-tests.out 2>&1 &
    beside=$!
    # What runs in the background hears no interruption: leave nobody behind.
    trap 'wait; exit 130' INT TERM
fi
# Whoever imports a test first translates it, for pytest's assertions: here once, else each process would do it for all.
ls tests/__pycache__/*-pytest-*.pyc >/dev/null 2>&1 || "$bin/python" -m pytest --collect-only -q >/dev/null 2>&1
[ $translate = yes ] && exit 0
# A file goes to one process: what its tests share, such as a wheel, is made once. They begin in the order of
# tests/conftest.py.
"$bin/python" -m pytest -n $((3 * $(nproc))) --dist loadfile --no-loadscope-reorder "$@"
status=$?
if [ $status = 1 ]; then
    echo "tests: what failed beside others is asked again alone"
    "$bin/python" -m pytest --last-failed --last-failed-no-failures none "$@"
    status=$?
    # 5: none of them is left to ask, as where only the ending of a process failed.
    [ $status = 5 ] && status=1
fi
if [ $core = yes ]; then
    wait "$beside"
    of_core=$?
    cat build/core-tests.out
    [ $of_core = 0 ] || exit $of_core
fi
exit $status
