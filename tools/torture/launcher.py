"""Starts programs as it is told, one JSON object a line, and answers with how each ended.

It does so alone, or as the command of a census. It runs without hooks of its own (`python -I -S`), so nothing here
may need a package.
"""

import contextlib
import json
import os
import select
import signal
import sys
from typing import Any


def _become(request: dict[str, Any]) -> None:
    os.setsid()
    # Python ignores these two; what it starts inherits that.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.chdir(request["folder"])
    os.execvp(request["words"][0], request["words"])


def _serve(request: dict[str, Any]) -> int:
    """How a program ended, as a shell says it: 128 and the signal's number; -1 where it did not end in time."""
    pid = os.fork()
    if pid == 0:
        try:
            _become(request)
        finally:
            os._exit(127)
    pidfd = os.pidfd_open(pid)
    hangs = not select.select([pidfd], [], [], request["bound_s"])[0]
    # Its group cannot be another's as long as it has not been reaped: what it left in the background ends here.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(pidfd)
    if hangs:
        return -1
    return status if status >= 0 else 128 - status


for line in sys.stdin:
    print(_serve(json.loads(line)), flush=True)
