"""The JSON schemas of docs/schemas, written from the records themselves: ``python -m tools.schemas docs/schemas``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.json_schema import schema_of

from clonometer.dataset.history_types import History
from clonometer.dataset.published import PublishedSummary
from clonometer.dataset.types import FleetCompared, FleetShown
from clonometer.fleet.types import FleetRun
from clonometer.model.calibration import Calibration
from clonometer.model.validated import Validation
from clonometer.prediction.answer import Predicted
from clonometer.prediction.profile import Profile
from clonometer.prediction.ranking import Ranking
from clonometer.results.ab.command_types import CommandsResult
from clonometer.results.ab.types import AbResult
from clonometer.results.check.types import Checked
from clonometer.results.compare.types import Compared
from clonometer.results.noise.types import Noise
from clonometer.results.types import Results
from clonometer.results.workers.types import WorkersOfRun
from clonometer.run_document import RunDocument
from clonometer.studies.types import Reproduction
from clonometer.tracing.types import Versus
from clonometer.tracing.work.types import WorkExplanation

_MOST_COLUMNS = 120
_WITHIN = (
    "NaN and infinities never occur. Within one number of schema keys may be added, none goes or changes its meaning."
)
_NULLS = f"A number that does not exist is null. {_WITHIN}"

#: Name of a schema -> what it says of the whole, and the records that a document may be, by their names in it.
DOCUMENTS: Mapping[str, tuple[str, str, Mapping[str, type]]] = {
    "explain": (
        "clonometer explain --json",
        "Where the time of one mechanism's launches went (launch), with --vs the other mechanism and the parts that "
        "make the ratio under versus; or why threads and processes at work take different times (work), of "
        f"work.factor. Times are nanoseconds, shares fractions of 1. {_WITHIN}",
        {"launch": Versus, "work": WorkExplanation},
    ),
    "fleet": (
        "clonometer fleet show --json, clonometer fleet compare --json",
        "A folder of runs, the host being the unit: all groups of hosts, or groups against each other. Times are in "
        f"nanoseconds, standard deviations shares. {_NULLS}",
        {"fleet_shown": FleetShown, "fleet_compared": FleetCompared},
    ),
    "published": (
        "clonometer publish --anonymous",
        f"What a machine measured, and nothing of who measured it (docs/sharing.md). {_NULLS}",
        {"published": PublishedSummary},
    ),
    "history": (
        "clonometer history --json",
        f"When the levels of a folder of runs changed. Values of times are in nanoseconds. {_NULLS}",
        {"history": History},
    ),
    "run": (
        "the run document",
        "All of a run but its samples: the JSON object under the key clonometer in the metadata of a run file "
        f"(docs/runfile.md). Times are in nanoseconds. {_WITHIN}",
        {"run": RunDocument},
    ),
    "show": (
        "clonometer show --json",
        f"All that is known of a run. Times are in nanoseconds. {_NULLS}",
        {"results": Results},
    ),
    "workers": (
        "clonometer show --workers --json",
        "What each worker of a program of workers did, by its number. Values are medians over all executions of all "
        f"processes. {_NULLS}",
        {"workers": WorkersOfRun},
    ),
    "ab": (
        "clonometer ab --json",
        f"Two sides that were started in turn: B against A. Times are in nanoseconds, ratios B over A. {_NULLS}",
        {"ab": AbResult},
    ),
    "ab-commands": (
        "clonometer ab --json -- COMMAND_A -- COMMAND_B",
        f"Two commands that were started in turn: B against A. Ratios are B over A. {_NULLS}",
        {"commands": CommandsResult},
    ),
    "compare": (
        "clonometer compare --json",
        f"Runs against a run, or cells of a run against each other. Times are in nanoseconds. {_NULLS}",
        {"compared": Compared},
    ),
    "check": (
        "clonometer check --json",
        f"A run against its baseline. Times are in nanoseconds. {_NULLS}",
        {"checked": Checked},
    ),
    "noise": (
        "clonometer noise --json",
        "A machine against itself: false alarms of a check, and what it would see. Shares are fractions of 1. "
        f"{_NULLS}",
        {"noise": Noise},
    ),
    "fleet-run": (
        "clonometer fleet run --json",
        f"A fleet's run: how each host got on. The folder has the same as fleet-ID.json. {_NULLS}",
        {"fleet_run": FleetRun},
    ),
    "predict": (
        "clonometer predict --json",
        "What a fork and its kin would cost a process (predicted), or all processes (ranking, of predict --all). Times "
        f"are in nanoseconds; nine in ten lie from low to high. {_NULLS}",
        {"predicted": Predicted, "ranking": Ranking},
    ),
    "predict-profile": (
        "clonometer predict --save-profile",
        f"What a process has that its fork depends on, apart from its machine. {_NULLS}",
        {"profile": Profile},
    ),
    "calibration": (
        "clonometer calibrate --json",
        "What fork, exit, posix_spawn, vfork and copying on write cost on one machine: models fitted to its "
        f"measurements. Times are in nanoseconds. {_WITHIN}",
        {"calibration": Calibration},
    ),
    "validation": (
        "clonometer predict --validate --json",
        f"Predictions of processes made for it against their forks. Times are in nanoseconds. {_WITHIN}",
        {"validation": Validation},
    ),
    "reproduce": (
        "clonometer reproduce --json",
        "The studies on one machine: an entry for each figure, claim and question, then what reverses their "
        f"contradictions. {_NULLS}",
        {"reproduction": Reproduction},
    ),
}


def schema_texts() -> dict[str, str]:
    """Make the text of each generated file of docs/schemas."""
    return {
        f"{name}.schema.json": compact(
            schema_of(roots, **{"$id": f"urn:clonometer:{name}:1"}, title=title, description=description)
        )
        + "\n"
        for name, (title, description, roots) in DOCUMENTS.items()
    }


def compact(value: Any, indent: str = "", room: int = 0) -> str:
    """Write JSON with an object or a list on one line where that has room, else with a line for each entry."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + room + len(line) <= _MOST_COLUMNS or not isinstance(value, dict | list) or not value:
        return line
    deeper = f"{indent}  "
    if isinstance(value, list):
        entries = [compact(item, deeper) for item in value]
    else:
        keys = {key: f"{json.dumps(key)}: " for key in value}
        entries = [key + compact(value[name], deeper, len(key)) for name, key in keys.items()]
    first, last = "[]" if isinstance(value, list) else "{}"
    separator = f",\n{deeper}"
    return f"{first}\n{deeper}{separator.join(entries)}\n{indent}{last}"


def main() -> int:
    """Write every file into the folder that is named."""
    folder = Path(sys.argv[1])
    for name, text in schema_texts().items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
