"""From a run whose processes were started in pairs to a verdict for each row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeVar

from clonometer.errors import InputError
from clonometer.results.ab.turns import Counted, PairedValues, RowOfPairs, paired_placement
from clonometer.results.ab.types import AbResult, AbRow
from clonometer.results.ab.wording import DRIFT, ONE_ORDER, order_text, verdict_text
from clonometer.results.change import Change
from clonometer.results.rows.estimates import estimate_cells
from clonometer.results.rows.observed import observe
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.rows.source import RunSource
from clonometer.results.types import Estimate, LeftOut
from clonometer.run_document import ProcessEntry, SidesEntry, SwitchedSetting
from clonometer.stats.sequential import Decision, PairedDesign, judge
from clonometer.units import format_share
from clonometer.verdicts import Direction, Word
from clonometer.words import cell_parts, cell_text, mechanism_name, quantity_name, until

_Side = TypeVar("_Side")


def design_of(about: SidesEntry) -> PairedDesign:
    """What was fixed before the first pair, as the run's document says it."""
    return PairedDesign(about.most_pairs, about.minimum_effect, about.max_regression, about.error_rate)


def described(sides: Sequence[Sequence[str]], design: PairedDesign, counted: Counted) -> SidesEntry:
    """What the run's document says of a comparison, from which it can be judged again."""
    return SidesEntry(
        a=sides[0],
        b=sides[1],
        most_pairs=design.most_pairs,
        minimum_effect=design.least_effect,
        max_regression=design.limit,
        error_rate=design.error_rate,
        stages=sorted(counted.stages),
    )


def judge_run(run: RunSource, run_name: str) -> AbResult:
    """Judge the sides of a run.

    Raises
    ------
    InputError
        If its processes were not started in pairs.
    RunFileError
        If samples and metadata do not belong together.
    """
    document = run.document
    rows = [row for row in estimate_cells(observe(run), document, described=False) if row.n_samples]
    return judge_estimates(RunEstimates(rows, document, run_name))


def judge_estimates(estimates: RunEstimates) -> AbResult:
    """Judge the sides of a run by its estimates.

    Raises
    ------
    InputError
        If its processes were not started in pairs.
    """
    document = estimates.document
    about = document.sides
    if about is None:
        raise InputError(f"{estimates.name}: its processes were not started in pairs", "'clonometer ab' does that")
    design = design_of(about)
    gathered = _Gathered(estimates, Counted(about.stages, only_times=design.limit is not None))
    usual = list(gathered.turns.usual_rows())
    decisions = judge(gathered.turns.paired(usual), design).rows
    unverified = unverified_of(document.settings)
    rows = []
    for row, decision in zip(usual, decisions, strict=True):
        a, b = (gathered.sides_of[row][side] for side in (0, 1))
        if (a.of_all is None) != (b.of_all is None):
            a, b = a.of_all or a, b.of_all or b
        rows.append(_row(a, b, decision, design, unverified))
    return AbResult(
        run_name=estimates.name,
        status=document.status,
        status_reason=document.status_reason,
        a=tuple(about.a),
        b=tuple(about.b),
        settings=tuple(document.settings),
        seed=document.seed,
        pairs=gathered.n_pairs,
        most_pairs=design.most_pairs,
        minimum_effect=design.least_effect,
        max_regression=design.limit,
        error_rate=design.error_rate,
        rows=tuple(rows),
        left_out=tuple(gathered.left_out(usual)),
    )


class _Gathered:
    """The pairs of a run: which process is of which turn, and the values of each row."""

    def __init__(self, estimates: RunEstimates, counted: Counted) -> None:
        plan = estimates.document.plan
        temperatures = {entry.cell: entry.temperature for entry in plan.cells}
        # A and B of each kind of process stand one after the other.
        self._places = {cell: divmod(index, 2) for index, target in enumerate(plan.targets) for cell in target.cells}
        self._statuses = {entry.cell: entry for entry in estimates.document.cells}
        self.turns = PairedValues()
        self.sides_of: dict[RowOfPairs, dict[int, RunEstimate]] = {}  # by side: 0 is A, 1 is B
        self._turn_of = self._number_turns(estimates.document.processes)
        self.n_pairs = sum(self.turns.turns.values())
        for row in estimates.all_rows:
            if row.cell not in self._places or not counted.has(row):
                continue
            group, side = self._places[row.cell]
            placement = paired_placement(row.condition, row.placement)
            key = RowOfPairs(group, temperatures[row.cell], row.quantity, placement)
            self.sides_of.setdefault(key, {})[side] = row
            for its in filter(None, (row, row.of_all)):
                for process, value in zip(its.processes.numbers or (), its.processes.values.tolist(), strict=True):
                    if process in self._turn_of:
                        self.turns.add(key, side, self._turn_of[process], value, alone=its.of_all is not None)

    def _number_turns(self, processes: Sequence[ProcessEntry]) -> dict[int, int]:
        """Number the pairs of each group by themselves; a pair of which only one was started is no turn."""
        members: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for entry in processes:
            place = next((self._places[cell] for cell in entry.cells if cell in self._places), None)
            if place is not None and entry.pair is not None:
                members.setdefault((place[0], entry.pair), []).append((entry.process, place[1]))
        turn_of: dict[int, int] = {}
        for (group, _), started in sorted(members.items()):
            turn = self.turns.turns.setdefault(group, 0)
            if len(started) == 2:
                turn_of |= {process: turn for process, _ in started}
                # Processes are numbered as they are started.
                self.turns.b_first[group, turn] = min(started)[1] == 1
                self.turns.turns[group] += 1
        return turn_of

    def left_out(self, usual: Sequence[RowOfPairs]) -> Iterator[LeftOut]:
        """The cells of which no row is compared, and the rows that few pairs have."""
        kept = {(row.group, row.temperature) for row in usual}
        for cell, (group, side) in self._places.items():
            entry = self._statuses.get(cell)
            temperature = next((row.temperature for row in self.sides_of if self._is_of(row, cell)), None)
            if entry is not None and entry.status not in ("ok", "missing"):
                yield LeftOut(cell, f"{entry.status}: {entry.reason}")
            elif side == 0 and (group, temperature) not in kept:
                yield LeftOut(cell, "fewer than half of the pairs measured it on both sides")
        for row, both in self.sides_of.items():
            # What only one of two workloads has is no comparison that was lost.
            if len(both) == 2 and row not in usual and (row.group, row.temperature) in kept:
                its = both[min(both)]
                seen = f"{len(self.turns.both(row))} of {self.turns.turns.get(row.group, 0)} pairs"
                where = f", {row.placement.replace('_', ' ')}" if row.placement else ""
                yield LeftOut(its.cell, f"{_what(its)}{where}: both sides have it in {seen}")

    def _is_of(self, row: RowOfPairs, cell: str) -> bool:
        return any(side.cell == cell for side in self.sides_of[row].values())


def _row(a: RunEstimate, b: RunEstimate, decision: Decision, design: PairedDesign, unverified: str | None) -> AbRow:
    step = b.resolution_ns / b.median_ns if b.median_ns else 0.0
    verdict, reason = verdict_of(decision, design, step=step, unverified=unverified)
    change: Change[Estimate] = change_of(decision, design, verdict, a, b)
    words = verdict_text(change, decision.n_above, is_time=b.is_time, drifts=decision.drifts)
    warmth = [b.temperature] if b.temperature else []
    common = common_cell(a.cell, b.cell)
    what = mechanism_name(b.workload)
    if a.workload != b.workload:
        what += f" (B) against {mechanism_name(a.workload)} (A)"
    phrases = [what, *_condition(common), *warmth, _what(b)]
    return AbRow(
        cell=common,
        change=change,
        drifts=decision.drifts,
        ratio_of_medians=_medians_ratio(a, b),
        order_p=None if decision.orders is None else decision.orders.p,
        pairs=decision.pairs,
        b_slower=decision.n_above,
        allowed=allowed_by(decision, design, unverified=unverified),
        reason=reason,
        sentence=f"{', '.join(phrases)}: {words}",
    )


def unverified_of(settings: Sequence[SwitchedSetting]) -> str | None:
    """Why it is not known whether the sides were started in what they say; None where it is."""
    return next((setting.not_verified for setting in settings if setting.not_verified is not None), None)


def verdict_of(
    decision: Decision, design: PairedDesign, *, step: float, unverified: str | None = None
) -> tuple[Direction, str | None]:
    """The verdict of a row, and why it or its interval is missing; ``step``: of its clock, as a share of the row."""
    changed = decision.changed(design.least_effect)
    if changed:
        return Direction.of(changed), DRIFT if decision.drifts else None
    if decision.drifts:
        return Direction.UNKNOWN, DRIFT
    if not decision.is_within(design.least_effect):
        return Direction.UNKNOWN, _order_reason(decision, design.least_effect)
    if step > design.least_effect:
        # What the clock cannot tell apart is not known to be the same.
        return Direction.UNKNOWN, f"one step of the clock is {format_share(step)} of it"
    if unverified is not None:
        # A setting that was never switched makes both sides alike.
        return Direction.UNKNOWN, f"it is not known whether do changed anything: {unverified}"
    return Direction.EQUAL, None


def allowed_by(decision: Decision, design: PairedDesign, *, unverified: str | None = None) -> bool | None:
    """Whether the whole interval is within the limit of the gate; None where that is not sure, or there is no gate."""
    if design.limit is None:
        return None
    if decision.is_above(design.limit):
        return False
    return True if decision.is_not_above(design.limit) and unverified is None else None


def change_of(decision: Decision, design: PairedDesign, direction: Direction, a: _Side, b: _Side) -> Change[_Side]:
    """The change of a decision; what drifts has no interval, and what all pairs but not each order show is likely."""
    is_likely = decision.leans(design.least_effect) and not decision.drifts
    ends = (decision.value, *((None, None) if decision.drifts else (decision.low, decision.high)))
    value, low, high = (None if end is None else math.exp(end) for end in ends)
    return Change(
        base=a,
        other=b,
        value=value,
        low=low,
        high=high,
        direction=direction,
        word=Word.SURE if direction != Direction.UNKNOWN else Word.LIKELY if is_likely else Word.OPEN,
        p=decision.p,
        method="signed ranks of the pairs' ratios",
        correction="Holm over rows, Bonferroni over looks",
        n=decision.pairs,
    )


def _order_reason(decision: Decision, least_effect: float) -> str | None:
    """Why pairs of both orders together say nothing of the sides: the order is seen to matter, or may."""
    orders = decision.orders
    if orders is not None and orders.matters and orders.first_a is not None and orders.first_b is not None:
        return order_text(math.exp(orders.first_a.value), math.exp(orders.first_b.value))
    return ONE_ORDER if decision.leans(least_effect) else None


def _medians_ratio(a: Estimate, b: Estimate) -> float | None:
    over, under = (estimate.median_ns if estimate.value is None else estimate.value for estimate in (b, a))
    return over / under if over and under and over > 0 and under > 0 else None


def common_cell(a: str, b: str) -> str:
    """The canonical text of what two cells have in common, with both workloads where these are two.

    Examples
    --------
    >>> common_cell("launch.fork[side=a,temperature=warm]", "launch.fork[side=b,temperature=warm]")
    'launch.fork[temperature=warm]'
    >>> common_cell("launch.fork[side=a]", "launch.pthread[side=b]")
    'launch.fork|launch.pthread'
    """
    (first, parts), (second, others) = cell_parts(a), cell_parts(b)
    workload = first if first == second else f"{first}|{second}"
    return cell_text(workload, (part for part in parts if part in others))


def _condition(common: str) -> list[str]:
    return [part for part in cell_parts(common)[1] if not part.startswith("temperature=")]


def _what(row: RunEstimate) -> str:
    return until(row.stage) if row.stage is not None else quantity_name(row.quantity)
