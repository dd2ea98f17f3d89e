#!/bin/sh
# Says what this machine lacks to build the project, and the exact command that mends it. Quiet when nothing lacks.
set -u
python=${PYTHON:-python3}
packages=""
need() { # need COMMAND PACKAGE
    command -v "$1" >/dev/null 2>&1 || packages="$packages $2"
}
need gcc gcc
need g++ g++
need make make
need "$python" python3
if command -v "$python" >/dev/null 2>&1; then
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        echo "clonometer needs Python 3.11 or later; $python is $("$python" --version 2>&1)." >&2
        echo "If another one is installed, name it: make PYTHON=/path/to/python3.12 ..." >&2
        exit 1
    fi
    "$python" -c 'import venv, ensurepip' 2>/dev/null || packages="$packages python3-venv"
fi
if command -v gcc >/dev/null 2>&1; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    printf '#include <pthread.h>\n#include <linux/sched.h>\nint main(void) { return 0; }\n' >"$work/a.c"
    gcc -static -pthread -o "$work/a" "$work/a.c" 2>/dev/null || packages="$packages libc6-dev"
fi
[ -z "$packages" ] && exit 0
echo "clonometer cannot be built yet: missing$packages." >&2
if command -v apt-get >/dev/null 2>&1; then
    echo "On Debian and Ubuntu this mends it:" >&2
    if [ "$(id -u)" = 0 ]; then sudo=""; else sudo="sudo "; fi
    echo "    ${sudo}apt-get update && ${sudo}apt-get install -y$packages" >&2
else
    echo "These are the Debian names; install the like with this system's package manager." >&2
fi
exit 1
