"""Why: which part of a launch the time goes to, what grows, and what is a program's start, each from measured rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from clonometer.grouping import group_by
from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests
from clonometer.results.findings.wording import MOST_WORDS, listed, n_words, sentence, short_median
from clonometer.results.first.answer import answers_of, contest
from clonometer.results.first.effects import effects, plain_rows
from clonometer.results.first.words import is_launch_row
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.types import FEWEST_PROCESSES, Finding
from clonometer.stats.interval import Interval
from clonometer.stats.processes import Processes
from clonometer.stats.quantiles import quantile_interval
from clonometer.stats.rank_sum import shift_interval
from clonometer.units import format_duration
from clonometer.verdicts import Direction
from clonometer.words import is_detail, language_name, mechanism_name, stage_part, stage_place

MOST_REASONS = 3
#: Kinds of findings that say what a cost comes from, by how their ids begin.
_EXPLAIN = ("memory.", "program_start", "scan.", "cow.", "switch.", "linkage.", "caches.", "step.", "ablation.")
_LEAST_SHARE = 0.05
#: Medians of parts do not add up to that of the whole; from here on shares of their sum would not be shares of it.
_MOST_APART = 0.1


def reasons(tests: PairwiseTests, findings: Sequence[Finding], answered: Sequence[Finding]) -> list[Finding]:
    """Say why in at most three sentences.

    First why languages take longer than C, where there are any, else where the time of the first launch goes, or by
    which parts it takes longer than its rival. Then findings that name a cause, those of cells that the answer speaks
    of first. What the answer has said already is left out.
    """
    split = _languages(findings) or _split(tests)
    varied = [effect.comparison.other.cell for effect in effects(tests)]
    spoken = {cell for finding in answered for cell in finding.numbers["cells"]} | set(varied)
    answers = {finding.sentence for finding in answered}
    causes = [finding for finding in findings if finding.id.startswith(_EXPLAIN) and finding.states_difference]
    causes = [each for each in causes if n_words(each.headline or each.sentence) <= MOST_WORDS]
    causes = [finding for finding in causes if (finding.headline or finding.sentence) not in answers]
    causes.sort(key=lambda finding: not spoken & set(finding.numbers["cells"]))
    # Of what one axis does to a workload a sentence is enough, whatever else was timed.
    causes = list({each.id.rpartition(".")[0] or each.id: each for each in reversed(causes)}.values())[::-1]
    listed = [Finding(f"why.{each.id}", each.headline or each.sentence, each.numbers, _brief(each)) for each in causes]
    return [*split, *listed][:MOST_REASONS]


def _languages(findings: Sequence[Finding]) -> list[Finding]:
    """Say of each thing that languages are asked to do why they take longer, those of one reason together.

    Reasons of the book come before the part of a launch that takes longer.
    """
    made: dict[str, Finding] = {}
    about = answers_of(findings)
    for finding, kind in [(finding, kind) for kind in ("reasons", "longer_parts") for finding in about]:
        reasons = finding.numbers.get(kind, {})
        for reason, names in group_by((reason, name) for name, reason in reasons.items()).items():
            thing = finding.sentence.partition(",")[0]
            text = f"{thing} takes longer in {listed([language_name(name) for name in names])}: {reason}"
            numbers = {"reason": reason, "languages": list(names), "cells": finding.numbers["cells"]}
            # The same reason under a further condition is not said again.
            if n_words(text) <= MOST_WORDS:
                made.setdefault(f"{thing} {reason}", Finding(f"why.{finding.id}.{names[0]}", sentence(text), numbers))
    return list(made.values())


def _brief(finding: Finding) -> str:
    """A shorter way to say it; empty where there is none."""
    numbers = finding.numbers
    if "library_start_ns" not in numbers:
        return ""
    whole, start = (
        format_duration(*(numbers[f"{name}{end}_ns"] for end in ("", "_low", "_high")))
        for name in ("reaped", "library_start")
    )
    cpuid = f", {format_duration(numbers['cpuid'] * numbers['cpuid_ns'])} CPUID" if "cpuid" in numbers else ""
    return sentence(f"of {mechanism_name(numbers['workload'])}'s {whole}, {start} are the C library's start{cpuid}")


def _split(tests: PairwiseTests) -> list[Finding]:
    compared = contest(tests)
    if compared is not None and compared.direction != Direction.UNKNOWN:
        made = _difference(tests, compared)
        if made is not None:
            return [made]
    subject = (
        compared.other if compared else next((row for row in plain_rows(tests.estimates) if is_launch_row(row)), None)
    )
    made = None if subject is None else _whole(tests, subject)
    return [] if made is None else [made]


def _difference(tests: PairwiseTests, compared: Change[RunEstimate]) -> Finding | None:
    """By which parts of a launch the longer side takes longer."""
    longer, shorter = compared.upward.sides
    sides = [_parts(tests.estimates, row) for row in (longer, shorter)]
    if not sides[0] or list(sides[0]) != list(sides[1]):
        return None
    gaps = {name: shift_interval(part.values, sides[1][name].values) for name, part in sides[0].items()}
    names = [mechanism_name(row.workload) for row in (longer, shorter)]
    # That of the medians that the reader sees: medians of parts do not add up to it.
    whole_ns = (longer.median_ns or 0.0) - (shorter.median_ns or 0.0)
    heads = (
        f"of the {format_duration(whole_ns)} that {names[0]} takes longer than {names[1]}",
        f"{names[0]}'s extra {format_duration(whole_ns)}",
    )
    return _reasons_finding("why.difference", heads, whole_ns, gaps, [longer.cell, shorter.cell])


def _whole(tests: PairwiseTests, row: RunEstimate) -> Finding | None:
    """Which parts a launch is made of."""
    parts = _parts(tests.estimates, row)
    times = {name: quantile_interval(part.values) for name, part in parts.items()}
    if len(times) < 2:
        return None
    whole_ns = row.median_ns or 0.0
    name = mechanism_name(row.workload)
    heads = (f"of the {short_median(row)} that {name} takes", f"{name}'s {short_median(row)}")
    return _reasons_finding("why.parts", heads, whole_ns, times, [row.cell])


def _reasons_finding(
    name: str, heads: tuple[str, str], whole_ns: float, parts: Mapping[str, Interval], cells: Sequence[str]
) -> Finding | None:
    """Say parts as shares of their sum, after a long or a short head.

    None where a part works against the others, or where the parts' medians add up to something else than the whole.
    """
    sum_ns = sum(part.value for part in parts.values())
    least_ns = -_LEAST_SHARE * whole_ns
    if whole_ns <= 0 or abs(sum_ns - whole_ns) > _MOST_APART * whole_ns:
        return None
    if any(part.n < FEWEST_PROCESSES or part.value < least_ns for part in parts.values()):
        return None
    shares = {stage: part.value / sum_ns for stage, part in parts.items()}
    words = _say_shares(shares)
    numbers: dict[str, Any] = {
        "parts": [
            {"stage": stage, "difference_ns": part.value, "low_ns": part.low, "high_ns": part.high}
            for stage, part in parts.items()
        ],
        "shares": shares,
        "cells": list(cells),
    }
    first, *others = words
    text = f"{heads[0]}, {listed([first.replace('% ', '% is ', 1), *others])}"
    return Finding(name, sentence(text), numbers, sentence(f"{heads[1]}: {', '.join(words)}"))


def _say_shares(shares: Mapping[str, float]) -> list[str]:
    """Say shares in percent that add up to 100: the small ones together, and what rounding leaves to the largest."""
    named = {stage: round(100 * share) for stage, share in shares.items() if share >= _LEAST_SHARE}
    rest = max(0, round(100 * sum(share for stage, share in shares.items() if stage not in named)))
    largest = max(named, key=lambda stage: named[stage])
    named[largest] += 100 - rest - sum(named.values())
    words = [f"{share}% {stage_part(stage)}" for stage, share in named.items()]
    return [*words, f"{rest}% elsewhere"] if rest else words


def _parts(estimates: RunEstimates, row: RunEstimate) -> dict[str, Processes]:
    """The parts of a launch between its stages, by the stage that ends each; empty where their order is another."""
    changes = estimates.changes(row)
    timed = dict.fromkeys(each.stage for each in estimates.cells[row.cell].values() if not each.detail)
    ordered = sorted((stage for stage in timed if stage is not None and not is_detail(stage)), key=stage_place)
    stages = [estimates.main(row.workload, changes, row.temperature, stage) for stage in ordered]
    known = [stage for stage in stages if stage is not None and stage.rankable]
    whole = [stage for stage in known if stage.processes.values.size == row.processes.values.size]
    medians = [stage.median_ns or 0.0 for stage in whole]
    if len(whole) < 2 or len(whole) < len(known) or medians != sorted(medians):
        return {}
    parts = {str(whole[0].stage): Processes.of(whole[0].processes.values, whole[0].processes.starts)}
    for before, after in pairwise(whole):
        between = after.processes.values - before.processes.values
        parts[str(after.stage)] = Processes.of(between, after.processes.starts)
    return parts
