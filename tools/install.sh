#!/bin/sh
# install.sh BIN LOCK...: packages of these locks, by uv where this machine lets it, which takes a fifth of pip's time; else
# by pip. uv does not read pip's settings: it is told where pip would look. What users run is compiled, also for those who
# may not write here; what tests and checks need is compiled where it is first used.
set -u
bin=$1
shift
uv_compiles='' pip_compiles=--no-compile
for lock; do
    locks="${locks:-} -r $lock"
    [ "$lock" != requirements/run.txt ] || { uv_compiles=--compile-bytecode pip_compiles=''; }
done
pip="$bin/python -m pip --disable-pip-version-check"
$pip install -q --no-compile --require-hashes --progress-bar off -r requirements/install.txt 2>/dev/null
setting() { $pip config get "$1" 2>/dev/null; }
index=${PIP_INDEX_URL:-$(setting global.index-url)}
cert=${PIP_CERT:-$(setting global.cert)}
# shellcheck disable=SC2086 # several words
env ${index:+UV_DEFAULT_INDEX="$index"} ${cert:+SSL_CERT_FILE="$cert"} "$bin/uv" --no-config pip install -q --no-progress \
    $uv_compiles --require-hashes --python "$bin/python" $locks 2>/dev/null && exit 0
for lock; do
    $pip install -q $pip_compiles --require-hashes --progress-bar off -r "$lock" || exit 1
done
