"""Languages that a run was to measure and could not: they are no cells of its plan, which has only what is here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from clonometer.launch_paths.reading import load_book
from clonometer.run_document import RunDocument


@dataclass(frozen=True)
class MissingLanguage:
    """A language, or a version of it, without a cell in the run."""

    name: Annotated[str, "The first word of its workloads, such as python or java_25_0."]
    reason: Annotated[str, "What is missing, with the package that brings it; or why its driver could not be built."]


def missing_languages(document: RunDocument) -> tuple[MissingLanguage, ...]:
    """List the languages that the plan asked for and that were not here, in the order of their names.

    Drivers of languages are looked for only where a plan asks for their workloads, so that those of other runs are not
    among them.
    """
    lacks = document.catalogue.further.get("lacks", ())
    named = [
        (str(lack.get("what")), str(lack.get("reason")))
        for lack in (lacks if isinstance(lacks, list | tuple) else ())
        if isinstance(lack, Mapping)
    ]
    known = load_book() if named else None
    return tuple(
        MissingLanguage(what, reason)
        for what, reason in named
        if known is not None and "." not in what and known.find(what.partition("_")[0]) is not None
    )
