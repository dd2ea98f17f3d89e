"""``advise``: which design a server should have for its load."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from pathlib import Path
from typing import Any

from clonometer.advice.advising import advise as rank_designs
from clonometer.advice.answer import Advice
from clonometer.advice.proving import prove
from clonometer.advice.wish import QUANTILES, ServerMachine, Wish, check_wish
from clonometer.app.advising import basis_for, machine_here
from clonometer.app.proving import designs_run
from clonometer.app.shown import shown_as
from clonometer.errors import InputError, UsageError, unknown
from clonometer.fields import shown
from clonometer.inputs import InputKind, read_toml
from clonometer.records import from_json, to_json
from clonometer.results.latency_limit import LatencyLimit, parse_latency_limit
from clonometer.runner.interfaces import SILENT, Progress
from clonometer.units import approximate_bytes, exact_duration, format_bytes, parse_bytes, parse_seconds

__all__ = ["advise"]

_WISH = InputKind("a wish in TOML", 64 << 10, "it has the names of the options, as in rate = 200")
_MOST_TASKS = 512
_RATE, _LIMIT = "rate", "limit"


@shown_as("advise", "advice_document")
def advise(
    wish: Wish,
    *,
    order: str = "p50",
    prove_s: float | None = None,
    observed: Sequence[str] = (),
    known: Collection[str] = ("work_ns",),
    seen: Collection[str] = (),
    anew: bool = False,
    seed: int = 1,
    progress: Progress = SILENT,
) -> Advice:
    """Rank designs of servers for a load, by this machine's measurements.

    Where this machine was not measured yet, that is done first, and kept: about a minute.

    Parameters
    ----------
    wish
        The load, and what is wanted.
    order
        What ranks designs: ``p50``, ``p99``, ``cpu`` or ``memory``.
    prove_s
        Run the best two designs in turn for this many seconds, and set what was measured beside the answer.
    observed
        What was seen of a server, which the answer repeats.
    known
        The fields of the wish that are stated or observed: what is not known of a child's CPU time follows from them.
    seen
        Those that were observed.
    anew
        Measure again what was kept.
    seed
        Fixes what is drawn: arrivals, and terms from their intervals.
    progress
        Watches.

    Raises
    ------
    UsageError
        If the wish contradicts itself, or no machine like this can satisfy it.
    DriverError
        If nothing can be measured.
    KeyboardInterrupt
        The user has had enough.
    """
    machine = machine_here()
    check_wish(wish, machine)
    if prove_s is not None:
        wish = _provable(wish, machine, progress)
    basis = basis_for(wish, seed=seed, anew=anew, progress=progress)
    answer = rank_designs(wish, basis, order=order, seed=seed, known=known, seen=seen)
    # What was worked out of an observation is run too.
    wish = answer.wish
    answer = replace(answer, observed=list(observed))
    if prove_s is None:
        return replace(answer, commands=[f"{command_of(answer)} --prove"])
    best = [design.id for design in answer.designs if design.rank in (1, 2)]
    with designs_run(wish, best, budget_s=prove_s, seed=seed, progress=progress) as run:
        return prove(answer, run, seed)


def _provable(wish: Wish, machine: ServerMachine, progress: Progress) -> Wish:
    """A wish whose server leaves a CPU to the client that loads it, where there are several."""
    most = max(1, machine.cpus - 1)
    if wish.cpus <= most:
        return wish
    progress.say(f"clonometer: the client needs a CPU: the server is predicted and run with {most}")
    made = replace(wish, cpus=most)
    check_wish(made, machine)
    return made


def command_of(answer: Advice) -> str:
    """The command line that repeats a wish."""
    wish, words = answer.wish, ["clonometer", "advise"]
    usual = Wish(rate_hz=1.0, cpus=machine_here().cpus, workers=default_workers(wish))
    for key, name in FIELDS.items():
        value = getattr(wish, name)
        # What followed from a child's CPU time stands there instead.
        if name == "child_cpu_ns":
            continue
        if value != getattr(usual, name) or key == _RATE:
            words += [f"--{key.replace('_', '-')}", _as_given(name, value)]
    return " ".join([*words, *(["--by", answer.order] if answer.order != "p50" else [])])


def _as_given(name: str, value: Any) -> str:
    """A field of a wish as an option takes it."""
    if isinstance(value, LatencyLimit):
        return value.as_option
    if name.endswith("_ns"):
        return exact_duration(value)
    if name.endswith("_bytes"):
        # In MB or GB it is exact.
        text = approximate_bytes(value).replace(" ", "")
        return text if text.endswith(("MB", "GB")) else format_bytes(value)
    return value.replace("_", "-") if isinstance(value, str) else f"{value:g}"


def default_workers(wish: Wish) -> int:
    """Choose the tasks of a pool: twice those that requests occupy at a time, and at least two a CPU."""
    busy = wish.rate_hz * (wish.work_ns + wish.block_ns) / 1e9
    return min(_MOST_TASKS, max(2 * wish.cpus, 4, round(2 * busy)))


#: What a file and the options may say, by the names of `Wish` without their units.
FIELDS = {re.sub("_(hz|ns|bytes)$", "", field.name): field.name for field in dataclass_fields(Wish)}


def read_wish_file(path: Path) -> dict[str, Any]:
    """Read a TOML file with the same names as the options; gives fields of `Wish`.

    Raises
    ------
    InputError
        If it cannot be read or is no TOML.
    UsageError
        If it has an unknown key, or a value that cannot be meant.
    """
    return wish_fields(read_toml(path, _WISH), str(path))


def wish_fields(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Turn what options or a file say into fields of `Wish`.

    Raises
    ------
    UsageError
        If a key is unknown, or a value cannot be meant.
    """
    fields: dict[str, Any] = {}
    for given_key, value in given.items():
        key = given_key.replace("-", "_")
        if key not in FIELDS:
            raise unknown(f"key in {where}", key, FIELDS)
        name = FIELDS[key]
        if name.endswith("_ns"):
            fields[name] = 1e9 * parse_seconds(str(value))
        elif name.endswith("_bytes"):
            fields[name] = parse_bytes(str(value))
        elif key == _LIMIT:
            fields[name] = parse_latency_limit(str(value), QUANTILES)
        elif key == _RATE:
            fields[name] = _rate(value, where)
        else:
            fields[name] = _plain(key, value, where)
    return fields


def _plain(key: str, value: Any, where: str) -> Any:
    """A word or a whole number."""
    usual = getattr(Wish(rate_hz=1.0), FIELDS[key])
    # What is not known as long as nobody states it, is a number.
    usual = 0 if usual is None else usual
    if type(value) is not type(usual):
        raise UsageError(
            f"{key} of {where} is {shown(value)}, not a {'word' if isinstance(usual, str) else 'whole number'}"
        )
    return value.replace("-", "_") if isinstance(value, str) else value


def _rate(value: Any, where: str) -> float:
    try:
        rate = float(value)
    except (TypeError, ValueError, OverflowError):
        rate = -1.0
    if not rate > 0:
        raise UsageError(f"the rate {shown(value)} of {where} is no number of requests a second above 0")
    return rate


def make_wish(fields: Mapping[str, Any]) -> Wish:
    """Make a wish of fields; whatever is not said has its default.

    Raises
    ------
    UsageError
        If there is no rate, or a value is not allowed.
    """
    if FIELDS[_RATE] not in fields:
        raise UsageError("which load? no rate is given", "give --rate N (requests a second), or --pid PID to observe")
    try:
        given = replace(Wish(rate_hz=1.0, cpus=machine_here().cpus), **fields)
        if "workers" not in fields:
            given = replace(given, workers=default_workers(given))
        # What a file has of a wrong type or value is refused as in any record.
        return from_json(Wish, to_json(given))
    except (InputError, TypeError) as error:
        message = error.message if isinstance(error, InputError) else str(error)
        raise UsageError(f"the wish cannot be meant: {message}") from error
