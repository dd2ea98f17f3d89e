"""Commands in processes that are forked from one that has loaded everything: twenty times as many in a second.

Started by the mutations; reads one JSON object a line (words, folder) and answers with one (status, seconds, rss).
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import time

BOUND_S = 60
_LOADED = (
    "clonometer.cli.start", "clonometer.cli.ending", "clonometer.cli.answers", "clonometer.runfile", "numpy",
    *(f"clonometer.cli.commands.{name}" for name in ("show", "report", "export", "compare", "plot", "recover", "run")),
    "clonometer.app.run", "clonometer.views.html", "clonometer.views.terminal", "clonometer.results.summary",
    "clonometer.results.compare.comparison",
)  # fmt: skip


def main() -> None:
    """Serve until standard input ends."""
    for name in _LOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        print(json.dumps(_serve(json.loads(line))), flush=True)


def _serve(request: dict[str, object]) -> dict[str, object]:
    began_s = time.monotonic()
    pid = os.fork()
    if pid == 0:
        _become(request)
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            break
        if time.monotonic() - began_s > BOUND_S:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)
    return {
        "status": os.waitstatus_to_exitcode(status),
        "seconds": time.monotonic() - began_s,
        "rss_bytes": usage.ru_maxrss * 1024,
    }


def _become(request: dict[str, object]) -> None:
    folder = str(request["folder"])
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{folder}/../{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    os.chdir(folder)
    from clonometer.cli.start import main as start

    sys.argv = ["clonometer", *map(str, request["words"])]  # type: ignore[call-overload]
    try:
        start()
    except SystemExit as error:
        sys.stdout.flush()
        os._exit(error.code if isinstance(error.code, int) else 70)
    os._exit(0)


if __name__ == "__main__":
    main()
