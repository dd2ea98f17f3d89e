"""Commands in processes that are forked from one that has loaded everything: twenty times as many in a second.

Started by the mutations; reads one JSON object a line and answers with one (status, seconds, rss). What is asked for
are the words of a command, or ``call``, a function of a module (``module:function``), to which the words are given.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import sys
import time

BOUND_S = 60
MOST_BYTES = 2 << 30
_LOADED = (
    "clonometer.cli.start", "clonometer.cli.ending", "clonometer.cli.answers", "clonometer.runfile", "numpy",
    *(f"clonometer.cli.commands.{name}" for name in ("show", "report", "export", "compare", "plot", "recover", "run")),
    *(f"clonometer.cli.commands.{name}" for name in ("page", "predict", "budget", "gallery", "history", "fleet")),
    "clonometer.app.fork_page", "clonometer.app.predict", "clonometer.app.budget", "clonometer.dataset.history",
    "clonometer.model.store", "clonometer.views.documents.fork_page", "tools.torture.inputs",
    "clonometer.app.run", "clonometer.views.html", "clonometer.views.terminal", "clonometer.results.summary",
    "clonometer.results.compare.comparison",
)  # fmt: skip


def main() -> None:
    """Serve until standard input ends."""
    for name in _LOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    # Whoever has asked may have been interrupted.
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        for line in sys.stdin:
            print(json.dumps(_serve(json.loads(line))), flush=True)


def _serve(request: dict[str, object]) -> dict[str, object]:
    began_s = time.monotonic()
    # What is written in Python's memory only would come twice.
    sys.stdout.flush()
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
    os.environ.update(request["environment"])  # type: ignore[call-overload]
    # Of what grows without end the machine shall not hear.
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    from clonometer.cli.start import main as start

    words: list[str] = list(map(str, request["words"]))  # type: ignore[call-overload]
    sys.argv = ["clonometer", *words]
    try:
        if request["call"] is None:
            start()
        else:
            _call(str(request["call"]), words)
    except SystemExit as error:
        sys.stdout.flush()
        os._exit(error.code if isinstance(error.code, int) else 70)
    os._exit(0)


def _call(name: str, words: list[str]) -> None:
    """Call a function, and end as a command would with the error that it raises."""
    from clonometer.cli.ending import report_error

    module, _, function = name.partition(":")
    try:
        getattr(importlib.import_module(module), function)(*words)
    except Exception as error:
        sys.exit(report_error(error))


if __name__ == "__main__":
    main()
