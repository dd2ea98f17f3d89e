#!/bin/sh
# tests.sh [--few | --translate] BIN [PYTEST'S ARGUMENTS]: all tests, more at a time than there are processors, since
# those of real tasks wait and sleep. Some have the machine for themselves (tests/conftest.py). What fails so is asked
# again alone, since it may have seen the others: it fails where it fails twice. What then passes is named in the last
# lines, and more than two of these fail the run. With --few a few of each file, those of what has changed since main,
# and the core's beside them; with --translate they are only made ready.
set -u
few=no translate=no
[ "$1" = --few ] && few=yes && shift
[ "$1" = --translate ] && translate=yes && shift
bin=$1 at_a_time=3
shift
# Each process imports every test: keep what is compiled, also where Python is told not to.
unset PYTHONDONTWRITEBYTECODE
if [ $few = yes ]; then
    export FEW_TESTS=yes
    # Few of these wait, and each process takes seconds to import them all.
    at_a_time=2
    mkdir -p build
    sh tools/core_tests.sh "$bin" >build/core-tests.out 2>&1 &
    beside=$!
    # What runs in the background hears no interruption: leave nobody behind.
    trap 'wait; exit 130' INT TERM
fi
# Whoever imports a test first translates it, for pytest's assertions: here once, else each process would do it for all.
ls tests/__pycache__/*-pytest-*.pyc >/dev/null 2>&1 || "$bin/python" -m pytest --collect-only -q >/dev/null 2>&1
[ $translate = yes ] && exit 0
# What failed in an earlier run is not asked again.
rm -f .pytest_cache/v/cache/lastfailed
# They are handed out in the order of tests/conftest.py, what waits beside what computes.
"$bin/python" -m pytest -n $((at_a_time * $(nproc))) --dist loadfile --no-loadscope-reorder "$@"
status=$?
if [ $status = 1 ]; then
    echo "tests: what failed beside others is asked again alone"
    ASKED_AGAIN=yes "$bin/python" -m pytest --last-failed --last-failed-no-failures none "$@"
    status=$?
    # 5: none of them is left to ask, as where only the ending of a process failed.
    [ $status = 5 ] && status=1
fi
if [ $few = yes ]; then
    wait "$beside"
    of_core=$?
    cat build/core-tests.out
    [ $of_core = 0 ] || exit $of_core
fi
exit $status
