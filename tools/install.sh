#!/bin/sh
# install.sh BIN LOCK...: packages of these locks, by uv where this machine lets it, which takes a fifth of pip's time; else
# by pip. uv does not read pip's settings: it is told where pip would look.
set -u
bin=$1
shift
pip="$bin/python -m pip --disable-pip-version-check"
for lock; do locks="${locks:-} -r $lock"; done
$pip install -q --no-compile --require-hashes --progress-bar off -r requirements/install.txt 2>/dev/null
setting() { $pip config get "$1" 2>/dev/null; }
index=${PIP_INDEX_URL:-$(setting global.index-url)}
cert=${PIP_CERT:-$(setting global.cert)}
# shellcheck disable=SC2086 # several words
env ${index:+UV_DEFAULT_INDEX="$index"} ${cert:+SSL_CERT_FILE="$cert"} "$bin/uv" --no-config pip install -q --no-progress \
    --require-hashes --python "$bin/python" $locks 2>/dev/null && exit 0
for lock; do $pip install -q --no-compile --require-hashes --progress-bar off -r "$lock" || exit 1; done
