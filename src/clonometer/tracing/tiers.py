"""How closely a machine lets be looked: tiers, tried from the best down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from clonometer.answers import Trace
from clonometer.errors import UnavailableError
from clonometer.tracing.types import Tier

#: The ways of the tier that sees most, in words.
TRACEPOINTS = {
    "fast": "kernel tracepoints, recorded by bpf programs",
    "tracepoints": "kernel tracepoints, through perf rings",
}
_Tier = TypeVar("_Tier", bound=Tier)


@dataclass(frozen=True)
class TraceBackends:
    """The ways of the tracer (``how``) for each tier, the best first, what each is in words, and what a tier misses."""

    of_tier: Mapping[str, Sequence[str]]
    means: Mapping[str, str]
    cannot_see: Mapping[str, tuple[str, ...]]


def best_tier(
    kind: type[_Tier], backends: TraceBackends, wanted: str | None, trace: Callable[[str], Trace]
) -> tuple[_Tier, str, Trace]:
    """Trace once in each way, the best first, until one is not refused.

    Gives the tier with the reason why each better way is not used, the way, and what was traced.

    Raises
    ------
    UnavailableError
        If every way is refused.
    """
    tiers = list(backends.of_tier)
    refused: dict[str, str] = {}
    for name in tiers[0 if wanted is None else tiers.index(wanted) :]:
        for how in backends.of_tier[name]:
            traced = trace(how)
            if traced.refused is None:
                return kind(name, backends.means[how], refused, backends.cannot_see[name]), how, traced
            refused[backends.means[how]] = traced.refused
    raise UnavailableError(f"nothing can be traced: {'; '.join(refused.values())}")
