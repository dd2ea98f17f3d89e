"""Looks up and compares what was measured, for the claims; what is missing is said once and in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from clonometer.results.rows.ratio import no_ratio_of, ratio_of, seed_of
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.stats.bootstrap import difference_of_medians
from clonometer.stats.interval import Interval
from clonometer.studies.cells import quantity_words
from clonometer.studies.measured import Measurements
from clonometer.studies.thresholds import DIFFERS, Threshold
from clonometer.studies.types import Pair, Verdict
from clonometer.studies.verdicts import JudgedPart, judged_ratio
from clonometer.verdicts import Status

CALL, RUNS, IMAGE, REAPED = "call_returns_ns", "task_runs_ns", "image_runs_ns", "reaped_ns"

Test = Callable[["Judge"], Verdict]


class MissingEvidenceError(Exception):
    """A claim needs a cell that was not measured; the message says which and why."""


@dataclass(frozen=True)
class Claim:
    """How a claim is tested.

    ``effect`` states the least effect that counts, for the reader; ``test`` gives the verdict; ``thresholds`` are
    those that it uses.
    """

    effect: str
    test: Test
    thresholds: tuple[Threshold, ...] = ()


#: The claims and questions of all studies by id, as the modules that test them are imported.
CLAIMS: dict[str, Claim] = {}


def claim(id_: str, effect: str, *thresholds: Threshold) -> Callable[[Test], Test]:
    """Make a function the test of a claim; ``{}`` in its effect are the words of its thresholds, in their order."""

    def add(test: Test) -> Test:
        CLAIMS[id_] = Claim(effect.format(*(threshold.words for threshold in thresholds)), test, thresholds)
        return test

    return add


class Judge:
    """Compares what was measured.

    The same seed gives the same intervals.
    """

    def __init__(self, measured: Measurements, seed: int = 1) -> None:
        self.measured = measured
        #: Pairing -> its pairs (`clonometer.studies.pairings`), once they have been worked out.
        self.pairs: dict[str, Sequence[Pair]] = {}
        self._seed = seed

    def find(self, cell: str, quantity: str) -> RunEstimate:
        """The row of a cell; MissingEvidenceError where there is none."""
        row = self.measured.find(cell, quantity)
        if row is None:
            raise MissingEvidenceError(f"{cell}: {self.measured.why(cell)}")
        return row

    def ratio(self, a: RunEstimate, b: RunEstimate) -> Interval:
        """A's median over B's."""
        if no_ratio_of(a, b) is not None:
            raise MissingEvidenceError(f"{a.cell} and {b.cell}: a value is zero, so there is no ratio")
        return ratio_of(a, b, seed=self._seed)

    def difference(self, a: RunEstimate, b: RunEstimate) -> Interval:
        """A's median minus B's."""
        return difference_of_medians(a.processes, b.processes, seed=self.seed(a, b))

    def seed(self, *rows: RunEstimate) -> int:
        """A seed of its own for each comparison."""
        return seed_of(*rows, seed=self._seed)

    def compare(
        self, label: str, a: RunEstimate, b: RunEstimate, expected: str = "above", least: Threshold = DIFFERS
    ) -> JudgedPart:
        """Compare two rows."""
        return judged_ratio(label, self.ratio(a, b), expected, least, (a.cell, b.cell))

    def part(
        self, label: str, a: tuple[str, str], b: tuple[str, str], expected: str = "above", least: Threshold = DIFFERS
    ) -> JudgedPart:
        """Compare two cells, each with its quantity; MissingEvidenceError where one was not measured."""
        return self.compare(label, self.find(*a), self.find(*b), expected, least)

    def stages(
        self,
        label: str,
        a: str,
        b: str,
        expected: str = "above",
        least: Threshold = DIFFERS,
        *,
        stages: Sequence[str] = (CALL, RUNS),
    ) -> list[JudgedPart]:
        """Compare two cells at several stages, which are said behind the label."""
        return [
            self.part(f"{label}{quantity_words(stage)}", (a, stage), (b, stage), expected, least) for stage in stages
        ]


def judge_all(claims: Mapping[str, Claim], judge: Judge) -> dict[str, Verdict]:
    """Test claims; one whose evidence is missing is not measurable, with the reason."""
    verdicts = {}
    for id_, claim in claims.items():
        try:
            verdicts[id_] = claim.test(judge)
        except MissingEvidenceError as error:
            verdicts[id_] = Verdict(Status.NOT_MEASURABLE, f"Not measured here: {error}.")
    return verdicts
