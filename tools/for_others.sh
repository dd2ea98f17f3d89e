#!/bin/sh
# Where root has built: says in one line whom it is for, if a folder on the way to the command, to its Python or to the
# sources is closed to other users, as /root is. Quiet where everybody may enter.
set -u
bin=$1
[ "$(id -u)" = 0 ] || exit 0
for file in "$bin/clonometer" "$bin/python" "$(readlink -f "$bin/python")" "$PWD/src"; do
    folder=$file
    while [ "$folder" != / ] && [ "$folder" != . ]; do
        folder=$(dirname "$folder")
        if [ -n "$(find "$folder" -maxdepth 0 ! -perm -001)" ]; then
            echo "Only root can run it: $(cd "$folder" && pwd) is closed to other users. For them, build it in a folder" \
                "that they may enter, with a Python that they may run (make PYTHON=...)."
            exit 0
        fi
    done
done
