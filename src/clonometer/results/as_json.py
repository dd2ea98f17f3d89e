"""Results as the JSON object of ``clonometer show --json`` (docs/schemas/show.schema.json)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar

from clonometer.records import Count, Key, Known, Least, Mark, to_json, version
from clonometer.results.ended import CellStatus
from clonometer.results.series.types import AblationSeries, FitSeries
from clonometer.results.types import RESULTS_SCHEMA, Estimate, Finding, FirstScreen, Results, RunWarning


@dataclass(frozen=True)
class ShownResults:
    """What is written of results; the fields are those of `Results`."""

    schema = version(RESULTS_SCHEMA)

    status: Annotated[str, Known(("complete", "partial", "failed"))]
    status_reason: Annotated[str | None, "Why the run is not complete."]
    run_name: Annotated[str, Key("run"), "Name of the run's file, or empty."]
    clonometer_version: str
    started: Annotated[str, "ISO 8601 with UTC offset."]
    duration_s: Annotated[float, Least(0)]
    plan_name: Annotated[str, Key("plan"), "Name of the plan."]
    command: Annotated[Sequence[str], "The command line that repeats the run."]
    seed: int
    n_processes: Count
    n_samples: Annotated[Count, "Launches tried, failed ones included."]
    host: Annotated[Mapping[str, Any], "Host facts, see docs/host.md."]
    clock: Annotated[Mapping[str, Any], "The calibration, see docs/protocol.md."]
    cells: Sequence[Estimate]
    cell_statuses: Sequence[CellStatus]
    fits: Annotated[Sequence[FitSeries], Mark.OPTIONAL]
    ablations: Annotated[Sequence[AblationSeries], Mark.OPTIONAL]
    first: Annotated[FirstScreen, Mark.OPTIONAL, "What the first screen says."]
    findings: Sequence[Finding]
    warnings: Sequence[RunWarning]

    schema_rules: ClassVar[Mapping[str, Any]] = {"additionalProperties": True}


def results_to_json(results: Results) -> dict[str, Any]:
    """Turn results into plain JSON values.

    Returns
    -------
    dict
        Valid against docs/schemas/show.schema.json. Times are in ns. Numbers that do not exist are None; a
        NaN or an infinity in the host facts of a foreign run becomes None as well, because JSON has neither.
    """
    known = {**results.series, **vars(results)}
    return to_json(ShownResults(**{field.name: known.get(field.name, ()) for field in fields(ShownResults)}))
