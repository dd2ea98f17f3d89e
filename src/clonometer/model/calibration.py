"""A calibration: what each call costs on one machine, as models fitted to its measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.model.types import CostRange, Ns
from clonometer.records import Count, Ge, Mark, version

CALIBRATION_SCHEMA = 3

#: The models that a calibration must have: fork's call by state of the pages and of the caches, and how long a parent
#: waits after it, for the child's end or for its execve.
FORK_FIRST = "fork.first"
FORK_UNWRITTEN = "fork.unwritten"
FORK_FIRST_HOT = "fork.first_hot"
FORK_UNWRITTEN_HOT = "fork.unwritten_hot"
EXIT = "exit"
EXEC = "exec"
#: Forks of a tight loop, and waits after a call: each kind of time has a scale of its own.
HOT = (FORK_FIRST_HOT, FORK_UNWRITTEN_HOT)
WAITS = (EXIT, EXEC)
#: Those that it may lack.
POSIX_SPAWN = "posix_spawn"
VFORK = "vfork"
PTHREAD = "pthread"
#: From a call's return until the new task runs its first instruction, in a small process.
STARTS = ".starts"
FORK_STARTS = f"fork{STARTS}"
PTHREAD_STARTS = f"{PTHREAD}{STARTS}"
NEEDED = (FORK_FIRST, FORK_UNWRITTEN, FORK_FIRST_HOT, FORK_UNWRITTEN_HOT, EXIT, EXEC)


@dataclass(frozen=True)
class Residual:
    """How far a measured condition lies from the fit, in the middle of its processes."""

    condition: str
    measured_ns: Ns
    fitted_ns: Ns

    @property
    def share(self) -> float:
        """The fit over the measurement, less 1."""
        return self.fitted_ns / self.measured_ns - 1 if self.measured_ns > 0 else 0.0


@dataclass(frozen=True)
class CostModel:
    """What one call costs: a time for each term, and one for a scattered page that depends on what is touched."""

    terms: Annotated[Sequence[str], "Linear terms."]
    most: Annotated[Sequence[float], "The highest count of each that was measured, then that of the scattered pages."]
    knots: Annotated[
        Sequence[float],
        "Bytes that a call touches, at each of which scattered pages have a time: one of them if it is the same.",
    ]
    each_ns: Annotated[Sequence[Ns], "For one of each term, then for a scattered page at each knot."]
    draws_ns: Annotated[Sequence[Sequence[Ns]], "The same, by a bootstrap over processes."]
    misfit: Annotated[float, Ge(0), "How far conditions lie from the fit: standard deviation of the logarithm."]
    scatter: Annotated[float, Ge(0), "How far single calls lie from their condition's median, as above."]
    residuals: Sequence[Residual]
    flat: Annotated[
        Sequence[str],
        Mark.OPTIONAL,
        "Terms that were varied and have no time: none could be seen, or they are of memory that is not copied.",
    ] = ()

    def fault(self) -> str | None:
        """Say what contradicts itself; None where nothing does."""
        size = len(self.terms) + len(self.knots)
        if len(self.each_ns) != size or any(len(draw) != size for draw in self.draws_ns):
            return f"lacks {size} coefficients in each fit"
        if len(self.most) != len(self.terms) + 1:
            return "lacks a highest count for each term"
        rising = all(low < high for low, high in zip((0.0, *self.knots), self.knots, strict=False))
        return None if rising else "has knots that do not increase"


@dataclass(frozen=True)
class Calibration:
    """The cost models of one machine."""

    schema = version(CALIBRATION_SCHEMA)

    made_at: Annotated[Count, "When: seconds since 1970."]
    quick: bool
    machine: Annotated[Mapping[str, str], "The facts for which it is valid."]
    models: Annotated[Mapping[str, CostModel], "By the name of the call."]
    first_writes: Annotated[Mapping[str, CostRange], "The first write to a page after a fork, by name."]
    lacks: Annotated[Mapping[str, str], "What could not be measured, and why."]

    def fault(self) -> str | None:
        """Say what is missing; None where nothing is."""
        missing = [name for name in NEEDED if name not in self.models]
        return f"lacks the model {missing[0]}" if missing else None
