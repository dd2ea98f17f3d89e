"""The program that measures a shard: a line of JSON comes in, a line of JSON and a run file go out.

``python -m clonometer.fleet.agent`` is started by `clonometer.fleet.remote_worker`. It ends with what it has when its
input ends: whoever asked has gone, or wants to stop.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import chdir as working_in
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clonometer.errors import EXIT_INTERRUPTED, ClonometerError, NoRoomError, UnfinishedError
from clonometer.inputs import parse_json

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from clonometer.plan.types import Plan
    from clonometer.runner.drivers import Drivers
    from clonometer.runner.far import FarHost

# A plan's own budget may be exceeded so far for enough processes, as by `clonometer run`.
STRETCH = 1.5
# In the folder that the agent works in: a whole path may be too long for a socket.
_SOCKET = "ssh"
_MOST_REQUEST_BYTES = 16 << 20
_MOST_MEMORY_BYTES = 2 << 30
_MOST_FILE_BYTES = 1 << 30
_WORDS = {"status": "failed", "reason": None}


def look() -> dict[str, object]:
    """Say which version is installed, which drivers it brought, and for which machines they were built."""
    import numpy  # noqa: F401 (whoever lacks it cannot measure)
    import pyarrow  # noqa: F401, TID251 (as above; nothing is read or written)

    from clonometer._version import __version__
    from clonometer.fleet.package import drivers_digest

    return {"version": __version__, "drivers": drivers_digest(), "arch": platform.machine()}


def answer(asked: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Measure a shard here, or over SSH where ``over`` says so.

    Gives how it ended, and the run file; no bytes where there is none.
    """
    began_s = time.time()
    try:
        ending, content = _measure(asked)
    except ClonometerError as error:
        hint = f" ({error.hint})" if isinstance(error, NoRoomError | UnfinishedError) and error.hint else ""
        lost = getattr(error, "status", "failed")
        ending, content = {"status": lost, "reason": f"{error.message}{hint}"}, b""
    except OSError as error:
        ending, content = {"status": "failed", "reason": f"{error.strerror or error}"}, b""
    return {**_WORDS, **ending, "began": began_s, "ended": time.time(), "bytes": len(content)}, content


def _measure(asked: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    from clonometer.plan.document import plan_of
    from clonometer.run_document import PlanDocument
    from clonometer.runner.folder import temporary_folder

    with temporary_folder() as folder, working_in(folder), _far_host(asked) as far:
        # After the host was met: many cannot be reached or are busy, and these take a second of CPU time.
        from clonometer.plan.catalogue import read_catalogue
        from clonometer.records import from_json
        from clonometer.results.schedule.stopping import TargetScheduler, timed_quantities
        from clonometer.runner.run import run

        plan = plan_of(from_json(PlanDocument, asked["plan"]))
        drivers, lacks = _drivers_here(plan) if far is None else (far.drivers(), [])
        catalogue = read_catalogue(drivers.descriptions, lacks)
        locked = "yes" if far is None else far.locked
        in_fleet = {**asked["fleet"], "locked": locked, "broken_drivers": dict(drivers.broken)}
        outcome = run(
            plan,
            catalogue,
            drivers,
            out=folder / "run.parquet",
            seed=asked["seed"],
            scheduler=TargetScheduler(
                asked["seed"],
                plan.budget_seconds,
                timed_quantities(catalogue),
                target_width=plan.target_width,
                stretch=STRETCH,
            ),
            command=asked["command"],
            hooks=far,
            described={"fleet": in_fleet},
            host=None if far is None else far.facts(),
        )
        if outcome.path is None:
            return {"status": "failed", "reason": outcome.reason or "nothing was measured"}, b""
        content = outcome.path.read_bytes()
        lost = far is not None and not far.is_there
    # What was cut short is worth another attempt; what a host cannot do at all is not.
    cut_short = outcome.exit_status == EXIT_INTERRUPTED or lost
    return {"status": "ok", "reason": outcome.reason, "cut_short": cut_short, "samples": outcome.samples}, content


def _drivers_here(plan: Plan) -> tuple[Drivers, list[dict[str, str]]]:
    """The drivers of this machine, with those of languages that the plan has, and which of these are not here."""
    from clonometer.runner.drivers import find_drivers
    from clonometer.runner.languages.building import usable_drivers
    from clonometer.runner.languages.toolchains import find_languages, wanted_languages

    names = [target.workload for target in plan.targets]
    further, lacks = usable_drivers(wanted_languages(names, find_languages()), _say, names)
    drivers = find_drivers(further=further)
    broken = [each.name for each in further if each.name in drivers.broken]
    return drivers, [*lacks, *({"what": name, "reason": drivers.broken[name]} for name in broken)]


def _say(line: str) -> None:
    """Leave a line to whoever reads what the agent complains of."""
    os.write(2, f"{line}\n".encode())


def _far_host(asked: Mapping[str, Any]) -> AbstractContextManager[FarHost | None]:
    if asked["over"] is None:
        return nullcontext()
    from clonometer.runner.far import FarHost

    over = asked["over"]
    return FarHost(
        over["destination"],
        Path(_SOCKET),
        config=over["config"],
        label=asked["label"],
        most_s=over["most_s"],
        patience_s=over["patience_s"],
        drivers={arch: Path(folder) for arch, folder in over["drivers"].items()},
    )


def _end_with_the_input() -> None:
    """Wish to stop when the input ends; the thread sleeps in the kernel until then."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


class AskedToEndError(BaseException):
    """Whoever asked wants no more; what was begun on a host is ended on the way out."""


def _stop(number: int, frame: object) -> None:
    raise AskedToEndError


def _limit_memory() -> None:
    """Limit what a host's answers may make of this process, and of the files that it writes.

    Only where a host is measured over SSH: limits are inherited, and drivers of this machine build parents of any size.
    """
    for limit, most_bytes in ((resource.RLIMIT_DATA, _MOST_MEMORY_BYTES), (resource.RLIMIT_FSIZE, _MOST_FILE_BYTES)):
        hard = resource.getrlimit(limit)[1]
        most = most_bytes if hard == resource.RLIM_INFINITY else min(most_bytes, hard)
        resource.setrlimit(limit, (most, hard))


def _end_with_who_asked() -> None:
    """Be killed when whoever started this has gone: then nobody is left to take an answer, or to ask for the end."""
    from clonometer.runner.process import end_with_starter

    end_with_starter()


def main(words: list[str]) -> int:
    """Answer the one request on standard input."""
    # What any library prints goes to standard error, and not into the answer.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if words == ["--look"]:
        out.write(json.dumps(look()).encode() + b"\n")
        out.close()
        return 0
    _end_with_who_asked()
    line = b""
    while not line.endswith(b"\n"):
        # Byte by byte nothing is lost that the thread should see; a request is a few kilobytes.
        piece = os.read(0, 1)
        if not piece or len(line) > _MOST_REQUEST_BYTES:
            return 1
        line += piece
    request = parse_json(line)
    if request["over"] is not None:
        _limit_memory()
    signal.signal(signal.SIGTERM, _stop)
    _end_with_the_input()
    try:
        ending, content = answer(request)
    except AskedToEndError:
        ending, content = {"status": "lost", "reason": "it was asked to stop, and had nothing to return by then"}, b""
    except MemoryError:
        ending, content = {"status": "failed", "reason": "what the host answered does not fit into memory"}, b""
    # From here on the answer is whole, whoever wants to stop.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    out.write(json.dumps(ending).encode() + b"\n" + content)
    out.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
