"""What a fleet's run hands to views and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.records import Count, Ge, OneOf, version

FLEET_RUN_SCHEMA = 1
STATES = ("measured", "partial", "none", "waiting")
_STATUS = OneOf(("complete", "partial"))


@dataclass(frozen=True)
class FleetHost:
    """How one host of a fleet got on."""

    host: Annotated[str, "Its name, as in the names of its run files."]
    state: Annotated[
        str,
        OneOf(STATES),
        "measured: every round is there; partial: some rounds, or some of a round; none: nothing; waiting: the run "
        "was interrupted before it was measured.",
    ]
    reason: Annotated[str | None, "Why not everything was measured."]
    rounds: Annotated[
        Mapping[str, Annotated[str, _STATUS]], "For each round that is in the folder: complete or partial."
    ]
    retries: Annotated[Count, "How often a round was retried."]
    clock_apart_s: Annotated[float | None, "Its clock minus the clock of the machine that asked."]
    clock_apart_within_s: Annotated[float | None, Ge(0), "How large the error of that may be."]
    same_as: Annotated[
        str | None, "The host that gave the same boot id before: one machine has two names, or one id is wrong."
    ]


#: The reason of a run that the user ended.
INTERRUPTED = "interrupted"


@dataclass(frozen=True, kw_only=True)
class FleetRun:
    """A fleet's run: what came in, and what did not."""

    schema = version(FLEET_RUN_SCHEMA)

    fleet: Annotated[
        str, "Identifies this plan, seed and number of rounds: the same again resumes where this one ended."
    ]
    folder: Annotated[str, "Where the run files are."]
    plan: str
    seed: int
    rounds: Count
    status: Annotated[str, "complete, partial or failed (nothing came in)."]
    reason: str | None
    duplicates: Annotated[Count, "Answers that arrived twice; the later ones were dropped."]
    hosts: Sequence[FleetHost]
