"""What a comparison of two commands hands to views and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from clonometer.records import Count, Ge, Gt, Le, Mark, OneOf, Positive, computed_field, version
from clonometer.results.ab.types import DRIFTS, PAIRED, REASON, gate_verdict
from clonometer.results.change import Change
from clonometer.results.types import ShareOrNone
from clonometer.run_document import SwitchedSetting
from clonometer.verdicts import Direction, Gate

COMMANDS_SCHEMA = 3
#: What is compared of commands, by the name that it has in sentences; all but the last are times in ns.
QUANTITIES = {"wall_time": "wall time", "cpu_time": "CPU time", "peak_memory": "peak memory"}
WALL_TIME, CPU_TIME, PEAK_MEMORY = QUANTITIES


@dataclass(frozen=True)
class CommandMedian:
    """The median of all starts, with its 95% interval."""

    median: Annotated[float, Ge(0), "In the row's unit."]
    low: Annotated[float | None, Ge(0), "Null below 6 starts."]
    high: Annotated[float | None, Ge(0), "As low."]


@dataclass(frozen=True)
class CommandStart:
    """What a start of a command gave."""

    wall_time: Annotated[Count, "In ns."]
    cpu_time: Annotated[Count, "In ns."]
    peak_memory: Annotated[Count, "In bytes."]
    empty: Annotated[Count, "The time of the empty program that was launched just before, in ns."]


@dataclass(frozen=True)
class CommandPair:
    """A start of each command, right after each other."""

    first: Annotated[Literal["a", "b"], "Which command was started first."]
    a: CommandStart
    b: CommandStart


@dataclass(frozen=True, kw_only=True)
class CommandRow:
    """One quantity of both commands."""

    quantity: Annotated[
        str,
        OneOf(QUANTITIES),
        "wall_time: from before the start until the end was waited for. cpu_time: user and system time of the "
        "command and of the children that it waited for. peak_memory: resident, of the largest of these.",
    ]
    unit: Literal["ns", "bytes"]
    change: Annotated[Change[CommandMedian], Mark.MERGED, PAIRED, Ge(0)]
    drifts: DRIFTS
    net_ratio: Annotated[
        ShareOrNone,
        "The same ratio when the launch of an empty program is taken from both sides, at A's median; null where it "
        "is not a wall time, or where a command may take no longer than that launch.",
    ]
    net_interval: Annotated[tuple[float, float] | None, "The interval's ends, treated the same way."]
    order_p: Annotated[
        float | None,
        Ge(0),
        Le(1),
        "p-value of the hypothesis that the order of the commands in a pair does not matter.",
    ]
    pairs: Annotated[Count, "Pairs until this row was decided."]
    b_slower: Annotated[Count, "Pairs of these in which B had more of it."]
    allowed: Annotated[
        bool | None, "With max_regression: whether it is certainly within the limit; null: open, or no gate."
    ]
    reason: REASON
    sentence: Annotated[str, Ge(1), "The verdict in words."]

    @computed_field("Command A.", after="unit")
    def a(self) -> CommandMedian:
        """Command A."""
        return self.change.base

    @computed_field("Command B.", after="a")
    def b(self) -> CommandMedian:
        """Command B."""
        return self.change.other

    @computed_field("Of B over A.", after="b_slower")
    def verdict(self) -> Direction:
        """What is sure of the change."""
        return self.change.direction

    @property
    def name(self) -> str:
        """What people call the quantity."""
        return QUANTITIES[self.quantity]

    @property
    def is_time(self) -> bool:
        """Whether a command with more of it is slower: CPU time and memory are higher or lower."""
        return self.quantity == WALL_TIME


@dataclass(frozen=True, kw_only=True)
class CommandsResult:
    """Two commands that were started in turn, in random order."""

    schema = version(COMMANDS_SCHEMA)

    status: Annotated[str, OneOf(("complete", "partial"))]
    status_reason: Annotated[str | None, "Why it is not complete."]
    a: Annotated[Sequence[str], "The words of command A."]
    b: Annotated[Sequence[str], "The words of command B."]
    a_settings: Annotated[Sequence[str], "What A is started in besides: env:NAME=value, do=command, undo=command."]
    b_settings: Annotated[Sequence[str], "As a_settings, of B."]
    settings: Annotated[Sequence[SwitchedSetting], "What the commands do and undo changed, as read back."]
    ignore_failure: Annotated[bool, "Whether exit statuses other than 0 were accepted."]
    empty: Annotated[CommandMedian, "The time in ns to launch an empty program, in the same way and between them."]
    seed: Annotated[int, "Seed of the order in which commands were started."]
    starts: Annotated[Sequence[CommandPair], "The pairs, in the order in which they were started."]
    most_pairs: Annotated[Positive, "The number of pairs at which measuring would have ended."]
    minimum_effect: Annotated[float, Gt(0), "The least change that gets a verdict, as a share."]
    max_regression: Annotated[float | None, Gt(0), "The largest slowdown allowed, as a share; null: no gate."]
    error_rate: Annotated[float, "The chance that any row has a verdict other than equal if nothing differs."]
    rows: Sequence[CommandRow]

    @computed_field("Pairs that were started.", after="seed")
    def pairs(self) -> Count:
        """How many pairs were started."""
        return len(self.starts)

    @computed_field("Rows of each verdict.", after="error_rate")
    def counts(self) -> Mapping[str, Count]:
        """The number of rows of each verdict."""
        return {verdict: sum(row.verdict == verdict for row in self.rows) for verdict in Direction}

    @computed_field("Of the gate, as in ab.schema.json; null: no gate.", after="counts")
    def verdict(self) -> Gate | None:
        """The verdict of the gate."""
        return gate_verdict(self.max_regression, [row.allowed for row in self.rows])

    @property
    def has_answer(self) -> bool:
        """Whether any row has an interval or a verdict."""
        return any(row.change.interval is not None or row.verdict != Direction.UNKNOWN for row in self.rows)
