"""What reverses a contradiction, on made results with one known culprit, or none."""

from __future__ import annotations

import itertools

from made import measured

from clonometer.studies.cells import cell, condition_words
from clonometer.studies.flips import reconcile
from clonometer.studies.judge import Judge
from clonometer.studies.pairings import PAIRINGS

LAUNCH = PAIRINGS[0]
STAGES = LAUNCH.quantities


def design(thread):
    """The full factorial; ``thread`` gives a thread's time for the condition, a fork takes 100."""
    values = {}
    for levels in itertools.product((0, 1), repeat=4):
        factors = LAUNCH.designs[0].factors
        axes = {axis: factors[axis][level] for axis, level in zip(factors, levels, strict=True)}
        axes = {axis: value for axis, value in axes.items() if value}
        for stage in STAGES:
            values[cell("launch.fork", **axes), stage] = 100.0
            values[cell("launch.pthread", **axes), stage] = thread(axes)
    return values


def test_the_culprit_is_named_with_its_effect():
    values = design(lambda axes: 300.0 if axes["temperature"] == "cold" else 20.0)
    reconciliation = reconcile(LAUNCH, Judge(measured(values)))
    assert reconciliation.sentence.startswith("Cold reverses it")
    assert "from 0.2" in reconciliation.sentence
    assert "to 3.0" in reconciliation.sentence
    main = {effect.factors: effect for effect in reconciliation.effects[STAGES[0]]}
    assert 14 < main["temperature",].value < 16
    assert main["linkage",].low <= 1 <= main["linkage",].high
    assert all(pair.condition["temperature"] == "cold" for pair in reconciliation.reversed_by)
    assert cell("launch.pthread", temperature="cold") in reconciliation.evidence


def test_one_factor_outside_the_design_is_found_too_and_the_smallest_change_comes_first():
    values = design(lambda axes: 20.0)
    for stage in STAGES:
        values[cell("launch.fork", mlockall="yes", temperature="warm"), stage] = 100.0
        values[cell("launch.pthread", mlockall="yes", temperature="warm"), stage] = 2000.0
        values[cell("launch.pthread", stack_cache="cold", temperature="warm"), stage] = 150.0
    reconciliation = reconcile(LAUNCH, Judge(measured(values)))
    assert reconciliation.sentence.startswith("Mlockall reverses it (so does one other)")
    assert {tuple(sorted(pair.condition.items())) for pair in reconciliation.reversed_by} == {
        (("mlockall", "yes"), ("temperature", "warm")),
        (("stack_cache", "cold"), ("temperature", "warm")),
    }
    # The thread's own axis is compared with the fork that has no such axis.
    assert (
        cell("launch.pthread", stack_cache="cold", temperature="warm"),
        cell("launch.fork", temperature="warm"),
    ) in {pair.cells for pair in reconciliation.pairs}


def test_where_nothing_reverses_it_that_is_the_answer_with_how_far_it_moved():
    reconciliation = reconcile(LAUNCH, Judge(measured(design(lambda axes: 60.0 if "parent_bytes" in axes else 20.0))))
    assert reconciliation.sentence.startswith("No condition that was tried reverses it here: over 48 comparisons")
    assert "0.2" in reconciliation.sentence
    assert "0.6" in reconciliation.sentence
    assert reconciliation.reversed_by == ()


def test_stages_that_disagree_are_the_condition():
    values = {}
    for stage, thread in zip(STAGES, (150.0, 60.0, 20.0), strict=True):
        values[cell("launch.fork", temperature="warm"), stage] = 100.0
        values[cell("launch.pthread", temperature="warm"), stage] = thread
    reconciliation = reconcile(LAUNCH, Judge(measured(values)))
    assert reconciliation.sentence.startswith("The stage reverses it")
    assert reconciliation.effects[STAGES[0]] == ()


def test_noise_reverses_nothing():
    values = design(lambda axes: 101.0 if axes["temperature"] == "cold" else 20.0)
    assert reconcile(LAUNCH, Judge(measured(values))).reversed_by == ()
    assert reconcile(LAUNCH, Judge(measured(values, n=3))).sentence.startswith("No condition")


def test_without_pairs_there_is_no_answer():
    assert reconcile(LAUNCH, Judge(measured({}))) is None


def test_conditions_are_said_in_words():
    assert condition_words({"temperature": "cold", "parent_bytes": "16MiB"}) == "cold, 16 MiB in the parent"
    assert condition_words({}) == "by default"
    assert condition_words({"concurrency": "4", "linkage": "musl"}) == "4 at once, musl"


def test_threads_and_processes_of_one_workload_are_told_apart_by_their_axis():
    work = next(pairing for pairing in PAIRINGS if pairing.id == "work")
    values = {}
    for levels in itertools.product((0, 1), repeat=4):
        factors = work.designs[0].factors
        axes = {axis: factors[axis][level] for axis, level in zip(factors, levels, strict=True)}
        axes = {axis: value for axis, value in axes.items() if value}
        values[cell("work.factor", **axes), "whole_ns"] = 300.0 if "output" in axes else 50.0
        values[cell("work.factor", **axes, task_kind="process"), "whole_ns"] = 100.0
    reconciliation = reconcile(work, Judge(measured(values)))
    assert len(reconciliation.pairs) == 16
    assert reconciliation.sentence.startswith("One stream reverses it (so do 7 other conditions)")
    assert {effect.factors: round(effect.value, 1) for effect in reconciliation.effects["whole_ns"]}[("output",)] == 6.0


def test_a_design_over_what_only_threads_have_is_held_against_the_fork_without_it():
    stacks = next(design for design in LAUNCH.designs if "stack_cache" in design.factors)
    values = {}
    for temperature, locked in itertools.product(("warm", "cold"), ("", "yes")):
        common = {"temperature": temperature} | ({"mlockall": locked} if locked else {})
        for stage in STAGES:
            values[cell("launch.fork", **common), stage] = 100.0
            for cache in ("", "cold"):
                axes = common | ({"stack_cache": cache} if cache else {})
                values[cell("launch.pthread", **axes), stage] = 20.0 * (3 if cache else 1) * (5 if locked else 1)
    reconciliation = reconcile(LAUNCH, Judge(measured(values)))
    main = {effect.factors: effect for effect in reconciliation.effects[STAGES[0]] if effect.design == stacks.words}
    assert round(main["stack_cache",].value, 1) == 3.0
    assert round(main["mlockall",].value, 1) == 5.0
    # One point fewer, and the design says nothing rather than something else.
    del values[cell("launch.pthread", stack_cache="cold", mlockall="yes", temperature="cold"), STAGES[0]]
    reconciliation = reconcile(LAUNCH, Judge(measured(values)))
    assert not [effect for effect in reconciliation.effects[STAGES[0]] if effect.design == stacks.words]


def test_a_condition_that_cannot_be_set_here_is_said_with_its_reason():
    missing = {
        cell(workload, frequency=level, temperature="warm"): "the frequency cannot be set here"
        for workload in ("launch.fork", "launch.pthread", "contend.fault")
        for level in ("base", "turbo")
    }
    reconciliation = reconcile(LAUNCH, Judge(measured(design(lambda axes: 20.0), missing=missing)))
    assert reconciliation.untried == ("frequency base, turbo (the frequency cannot be set here)",)


def test_every_condition_that_is_suspected_has_its_place_in_a_design():
    """What the studies leave open: temperature and history, memory, C library, stacks, locks, placement."""
    axes = {axis for design in LAUNCH.designs for axis in design.factors}
    assert axes == {"temperature", "parent_bytes", "linkage", "placement", "page_kind", "mlockall", "after",
                    "launch_number", "concurrency", "stack_cache", "stack_kind"}  # fmt: skip
    work = next(pairing for pairing in PAIRINGS if pairing.id == "work")
    assert {axis for design in work.designs for axis in design.factors} == {
        "workers", "numbers", "output", "allocate", "cpus", "allocator",
    }  # fmt: skip
