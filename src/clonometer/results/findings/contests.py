"""Who is fastest: processes against threads, every mechanism against its runner-up, cold against warm."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.families import families
from clonometer.families.same_image import FORK, PTHREAD
from clonometer.families.types import LAUNCH, Family
from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests, cells_of, numbers_of
from clonometer.results.findings.finder import Finder, Findings
from clonometer.results.findings.wording import condition, headed, listed, sentences, several_ratios
from clonometer.results.rows.run_estimates import STAGES, RunEstimate
from clonometer.results.types import Finding
from clonometer.verdicts import Direction
from clonometer.words import mechanism_name, until

TEMPERATURES = ("warm", "cold")


def process_against_thread(tests: PairwiseTests) -> list[Finding]:
    """Fork against pthread at every stage, warm and cold: what the published studies disagree about."""
    changes = _shared_condition(tests)
    if changes is None:
        return []
    findings = []
    for temperature in (*TEMPERATURES, None):
        comparisons = _by_stage(tests, changes, temperature)
        if not comparisons:
            continue
        # The last stage contains the others.
        last = comparisons[-1]
        words = condition(changes, temperature, last.other.condition.get("placement"))
        text = headed(words, several_ratios("fork", "pthread", comparisons))
        # The default placement stands above the table.
        headline = headed(condition(changes, temperature), several_ratios("fork", "pthread", [last]))
        numbers = numbers_of(last) | {
            "temperature": temperature,
            "of": "launch.fork over launch.pthread",
            "stages": [numbers_of(comparison) for comparison in comparisons],
        }
        findings.append(Finding(f"process_vs_thread.{temperature or 'only'}", text, numbers, headline))
    return findings


def first_contest(tests: PairwiseTests) -> list[Finding]:
    """The first of `process_against_thread`: what a reader wants first."""
    return process_against_thread(tests)[:1]


def other_contests(tests: PairwiseTests) -> list[Finding]:
    """The rest of `process_against_thread`."""
    return process_against_thread(tests)[1:]


def cold_and_warm(tests: PairwiseTests) -> list[Finding]:
    """Whether cold and warm launches agree which of fork and pthread is faster, stage by stage."""
    changes = _shared_condition(tests)
    if changes is None:
        return []
    cold = {comparison.other.stage: comparison for comparison in _by_stage(tests, changes, "cold")}
    warm = {comparison.other.stage: comparison for comparison in _by_stage(tests, changes, "warm")}
    stages = [stage for stage in STAGES if stage in cold and stage in warm]
    if not stages:
        return []
    agreed: list[str] = []
    opposed: list[str] = []
    open_: list[str] = []
    for stage in stages:
        pair = {cold[stage].direction, warm[stage].direction}
        (open_ if Direction.UNKNOWN in pair else agreed if len(pair) == 1 else opposed).append(stage)
    words = condition(changes, None, warm[stages[0]].other.condition.get("placement"))
    clauses = [
        f"cold and warm, {winner} is faster than {loser} {listed(won)}"
        for winner, loser, won in _by_winner(warm, agreed)
    ]
    clauses += [
        f"{listed(won)}, {winner} is faster warm, but {loser} is faster cold"
        for winner, loser, won in _by_winner(warm, opposed)
    ]
    if open_:
        first, *others = map(until, open_)
        where = listed([first, *(each.removeprefix("until ") for each in others)])
        clauses.append(f"whether cold and warm launches rank fork and pthread alike is open {where}")
    text = sentences(*(f"{clause}{f', {words}' if words else ''}" for clause in clauses))
    numbers = {
        "agree": agreed,
        "disagree": opposed,
        "cannot_tell": open_,
        "warm": [numbers_of(warm[stage]) for stage in stages],
        "cold": [numbers_of(cold[stage]) for stage in stages],
        "cells": sorted(set(cells_of(side[stage] for side in (cold, warm) for stage in stages))),
    }
    return [Finding("cold_and_warm", text, numbers)]


def fastest(tests: PairwiseTests) -> Findings:
    """In each family and at each temperature the fastest mechanism to each stage, with its runner-up."""
    launches = [family for family in families() if family.shape == LAUNCH and not family.language_tasks]
    return (_fastest_of(tests, family, temperature) for family in launches for temperature in TEMPERATURES)


def _fastest_of(tests: PairwiseTests, family: Family, temperature: str) -> Finding | None:
    clauses, entries = [], []
    placements: set[object] = set()
    for stage in STAGES:
        ranked = _contestants(tests, family.name, temperature, stage)
        comparisons = tests.best(ranked)
        if not comparisons:
            continue
        clauses.append(_ranking(ranked[0], comparisons))
        placements |= {row.condition.get("placement") for row in ranked}
        order = [row.workload for row in ranked]
        tied = _tied(comparisons)
        best = {
            "order": order,
            "fastest": None if tied else order[0],
            "tied_for_fastest": [order[0], *tied],
            "against_first": [numbers_of(comparison) for comparison in comparisons],
        }
        entries.append(numbers_of(comparisons[0]) | best)
    if not clauses:
        return None
    # Some may have no such axis: nobody asked them to run anywhere.
    placement = placements.pop() if len(placements) == 1 else None
    words = f"{family.title.lower()}, {condition({}, temperature, placement)}"
    numbers = entries[-1] | {"family": family.name, "temperature": temperature, "stages": entries}
    return Finding(f"fastest.{family.name}.{temperature}", headed(words, clauses), numbers, headed(words, clauses[-1:]))


def _tied(comparisons: Sequence[Change[RunEstimate]]) -> list[str]:
    return [comparison.other.workload for comparison in comparisons if comparison.direction == Direction.UNKNOWN]


def _ranking(best: RunEstimate, comparisons: Sequence[Change[RunEstimate]]) -> str:
    """Name the fastest only where all others are surely slower; else those that may be."""
    stage, name = until(best.stage), mechanism_name(best.workload)
    tied = [comparison for comparison in comparisons if comparison.direction == Direction.UNKNOWN]
    slower = [comparison for comparison in comparisons if comparison.direction == Direction.MORE]
    following = f"{mechanism_name(slower[0].other.workload)} takes {slower[0].text} times as long" if slower else ""
    if not tied:
        return f"{stage}, {name} is fastest and {following}"
    names = [name, *(f"{mechanism_name(each.other.workload)} ({each.aside})" for each in tied)]
    unknown = f"which is fastest {stage} is open, {listed(names).replace(' and ', ' or ')}"
    return f"{unknown}; {following} as {name}" if following else unknown


def _contestants(tests: PairwiseTests, family: str, temperature: str, stage: str) -> list[RunEstimate]:
    """Rows of a family under the default condition, fastest first, those that cannot be ranked left out.

    Rungs of a ladder do not compete: nobody launches tasks by them.
    """
    estimates = tests.estimates
    everyone = dict.fromkeys(row.workload for row in estimates.rows if row.family == family)
    workloads = [workload for workload in everyone if not estimates.is_rung(workload)]
    rows = [estimates.main(workload, {}, temperature, stage) for workload in workloads]
    ranked = [row for row in rows if row is not None and row.rankable]
    return sorted(ranked, key=lambda row: row.median_ns or 0.0)


def _shared_condition(tests: PairwiseTests) -> dict[str, int | str] | None:
    """The default condition if fork and pthread were both measured in it, else the first they share."""
    shared = tests.estimates.conditions([FORK, PTHREAD])
    if {} in shared:
        return {}
    return shared[0] if shared else None


def _by_stage(
    tests: PairwiseTests, changes: dict[str, int | str], temperature: str | None
) -> list[Change[RunEstimate]]:
    sides = (
        [tests.estimates.main(workload, changes, temperature, stage) for workload in (FORK, PTHREAD)]
        for stage in STAGES
    )
    return tests.compare_all((fork, pthread) for fork, pthread in sides if fork is not None and pthread is not None)


def _by_winner(warm: dict[str | None, Change[RunEstimate]], stages: Sequence[str]) -> list[tuple[str, str, list[str]]]:
    """Who is faster than whom, and until which stages."""
    by_winner = []
    for verdict, winner, loser in ((Direction.MORE, "pthread", "fork"), (Direction.LESS, "fork", "pthread")):
        won = [until(stage) for stage in stages if warm[stage].direction == verdict]
        if won:
            by_winner.append((winner, loser, won))
    return by_winner


FINDERS = (
    Finder(first_contest, 10),
    Finder(other_contests, 60),
    Finder(cold_and_warm, 180),
    Finder(fastest, 190),
)
