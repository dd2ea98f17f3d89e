"""What a comparison of two sides that were started in turn hands to views and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from clonometer.records import As, Count, Ge, Gt, Le, Mark, OneOf, Only, Positive, computed_field, version
from clonometer.results.change import Change
from clonometer.results.types import OF_ROW, SIDE_KEYS, Estimate, LeftOut, ShareOrNone
from clonometer.run_document import SwitchedSetting
from clonometer.verdicts import Direction, Gate

AB_SCHEMA = 2

_SIDE = Only("side", SIDE_KEYS)
#: Of a row of either comparison.
PAIRED = Only(
    "ab_change",
    (
        As(
            "value",
            "ratio",
            "B over A within pairs: the pseudo-median of Hodges and Lehmann, the middle of the means of each two "
            "pairs, on the logarithm. The ratio of the medians is another quantity.",
        ),
        As(
            "interval",
            "interval",
            "The ends of the ratio's interval, at the level that decides, corrected for all rows and looks: all "
            "intervals hold at once; null where the pairs are too few for that, and where the change drifts.",
        ),
        As(
            "p",
            "p",
            "p-value of the signed-rank test, corrected for all rows and all looks: at most error_rate where the "
            "interval does not hold 1.",
        ),
        As(
            "sureness",
            "sureness",
            "How sure the verdict is. likely: all pairs together show a change, those of each order do not.",
        ),
    ),
)


#: Of a row of either comparison.
DRIFTS = Annotated[
    bool,
    "Whether the change depends on time: it has no interval and no p, and a verdict only where it is larger in every "
    "pair than the distance between the pairs' changes.",
]
REASON = Annotated[
    str | None, "Why there is no verdict, where pairs alone would not help, or no interval although pairs are enough."
]


def gate_verdict(max_regression: float | None, allowed: Sequence[bool | None]) -> Gate | None:
    """The verdict of the gate, of what each row allows; None without a gate."""
    if max_regression is None:
        return None
    if False in allowed:
        return Gate.FAIL
    return Gate.PASS if allowed and None not in allowed else Gate.UNKNOWN


@dataclass(frozen=True)
class AbRow:
    """One stage of one cell at one observed placement, on both sides."""

    cell: Annotated[
        str, "The canonical text, without the settings in which the sides differ; of two workloads with | between them."
    ]
    change: Annotated[Change[Estimate], Mark.MERGED, PAIRED, Ge(0)]
    drifts: DRIFTS
    ratio_of_medians: Annotated[
        ShareOrNone,
        "Side B's median over side A's. Where only some of B's processes are slower it stays near 1; ratio does not.",
    ]
    order_p: Annotated[
        float | None,
        Ge(0),
        Le(1),
        "p-value of the rank-sum test, for this row alone, that pairs which A began and pairs which B began differ "
        "only by chance. "
        "Below 0.01 the order matters, and the row is not called the same; null: the order is not known.",
    ]
    pairs: Annotated[Count, "Pairs in which both sides were measured, until this row was decided."]
    b_slower: Annotated[Count, "Pairs of these in which B took longer, or had more of what is not a time."]
    allowed: Annotated[
        bool | None,
        "With max_regression: false where the whole interval is above it, true where it is not; else null.",
    ]
    reason: REASON
    sentence: Annotated[str, Ge(1), "The verdict in words."]

    @computed_field(after="cell")
    def of_both(self) -> Annotated[Estimate, Mark.MERGED, OF_ROW]:
        """What is the same on both sides."""
        return self.b

    @computed_field(after="of_both")
    def a(self) -> Annotated[Estimate, _SIDE, "Side A: medians of all of its processes, with their 95% intervals."]:
        """Side A."""
        return self.change.base

    @computed_field(after="a")
    def b(self) -> Annotated[Estimate, _SIDE, "Side B."]:
        """Side B."""
        return self.change.other

    @computed_field("Of B over A.", after="b_slower")
    def verdict(self) -> Direction:
        """What is sure of the change."""
        return self.change.direction

    @property
    def is_time(self) -> bool:
        """Whether it is a time that is compared."""
        return self.b.value is None


@dataclass(frozen=True, kw_only=True)
class AbResult:
    """Two sides that were started in turn, in random order."""

    schema = version(AB_SCHEMA)

    run_name: Annotated[str, "The run file."]
    status: Annotated[str, OneOf(("complete", "partial", "failed")), "Of the run."]
    status_reason: Annotated[str | None, "Why the run is not complete."]
    a: Annotated[Sequence[str], "Settings of A: KEY=VALUE."]
    b: Annotated[Sequence[str], "Settings of B: KEY=VALUE."]
    settings: Annotated[Sequence[SwitchedSetting], "What the commands do and undo changed, as read back."]
    seed: Annotated[int, "Seed of the order in which sides were started."]
    pairs: Annotated[Count, "Pairs of processes that were started."]
    most_pairs: Annotated[Positive, "The number of pairs at which measuring would have ended, for each condition."]
    minimum_effect: Annotated[float, Gt(0), "The least change that gets a verdict, as a share."]
    max_regression: Annotated[float | None, Gt(0), "The largest slowdown allowed, as a share; null: no gate."]
    error_rate: Annotated[float, "The chance that the verdict of any row is more or less where nothing differs."]
    correction: Annotated[Literal["Holm"], "What the p-values are corrected by."] = "Holm"
    rows: Annotated[Sequence[AbRow], "In the order of the plan."]
    left_out: Sequence[LeftOut]

    @computed_field("Rows of each verdict.", after="correction")
    def counts(self) -> Mapping[str, Count]:
        """The number of rows of each verdict."""
        return {verdict: sum(row.verdict == verdict for row in self.rows) for verdict in Direction}

    @computed_field(
        "Of the gate: it fails where a row is certainly slower than allowed; null: no gate.", after="counts"
    )
    def verdict(self) -> Gate | None:
        """The verdict of the gate."""
        return gate_verdict(self.max_regression, [row.allowed for row in self.rows])

    @property
    def has_answer(self) -> bool:
        """Whether any row has an interval or a verdict."""
        return any(row.change.interval is not None or row.verdict != Direction.UNKNOWN for row in self.rows)
