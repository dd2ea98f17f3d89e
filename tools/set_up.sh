#!/bin/sh
# set_up.sh BIN: downloads what runs and what compiles the probe. What only pictures need is left out where PICTURES
# is no; cmake, which only building needs, where this system has one that is new enough.
set -u
bin=$1
locks="requirements/run.txt requirements/build.txt" megabytes=75 what="pyarrow and numpy"
if [ "${PICTURES:-yes}" != no ]; then
    locks="$locks requirements/pictures.txt" megabytes=$((megabytes + 34)) what="$what, vl-convert for charts"
fi
oldest=$(sed -n 's/^cmake_minimum_required(VERSION \(.*\))$/\1/p' CMakeLists.txt)
has=$(cmake --version 2>/dev/null | sed -n 's/^cmake version \([0-9.]*\).*/\1/p')
if [ "$(printf '%s\n' "$oldest" "${has:-0}" | sort -V | head -n 1)" != "$oldest" ]; then
    locks="$locks requirements/cmake.txt" megabytes=$((megabytes + 30)) what="$what, cmake"
fi
echo "Downloading the Python packages of requirements/: about $megabytes MB ($what; once)."
# shellcheck disable=SC2086 # several words
exec sh tools/install.sh "$bin" $locks
