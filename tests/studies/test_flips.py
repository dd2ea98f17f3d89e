"""What reverses a contradiction, on made results with one known culprit, or none."""

from __future__ import annotations

import itertools

from made import measured
from tests.studies import runs_of_flips
from tests.studies.runs_of_flips import LAUNCH, STAGES, WORK, design, reconciled

from clonometer.studies.cells import cell, condition_words
from clonometer.studies.flips import reconcile
from clonometer.studies.judge import Judge


def test_the_culprit_is_named_with_its_effect():
    reconciliation = runs_of_flips.cold_reverses_it()
    assert {round(pair.change.value, 2) for pair in reconciliation.bases} == {0.2}
    first = reconciliation.reversed_by[0]
    assert (dict(first.condition), round(first.change.value, 2)) == ({"temperature": "cold"}, 3.0)
    main = {effect.factors: effect for effect in reconciliation.effects[STAGES[0]]}
    assert 14 < main["temperature",].value < 16
    assert main["linkage",].low <= 1 <= main["linkage",].high
    assert len(reconciliation.reversed_by) == len(reconciliation.pairs) / 2
    assert all(pair.condition["temperature"] == "cold" for pair in reconciliation.reversed_by)
    assert cell("launch.pthread", temperature="cold") in reconciliation.evidence


def test_one_factor_outside_the_design_is_found_too_and_the_largest_effect_comes_first():
    reconciliation = runs_of_flips.locked_memory_or_a_cold_stack_reverses_it()
    conditions = [tuple(sorted(pair.condition.items())) for pair in reconciliation.reversed_by]
    assert list(dict.fromkeys(conditions)) == [
        (("mlockall", "yes"), ("temperature", "warm")),
        (("stack_cache", "cold"), ("temperature", "warm")),
    ]
    # The thread's own axis is compared with the fork that has no such axis.
    assert (
        cell("launch.pthread", stack_cache="cold", temperature="warm"),
        cell("launch.fork", temperature="warm"),
    ) in {pair.cells for pair in reconciliation.pairs}


def test_where_nothing_reverses_it_all_that_was_tried_is_there():
    reconciliation = runs_of_flips.nothing_reverses_it()
    assert len(reconciliation.pairs) == 48
    assert {round(pair.change.value, 2) for pair in reconciliation.pairs} == {0.2, 0.6}
    assert reconciliation.reversed_by == ()


def test_stages_that_disagree_are_the_condition():
    reconciliation = runs_of_flips.the_stage_reverses_it()
    assert [round(pair.change.value, 2) for pair in reconciliation.bases] == [1.5, 0.6, 0.2]
    assert (reconciliation.by_stage, reconciliation.reversed_by) == (True, ())
    assert reconciliation.effects[STAGES[0]] == ()


def test_noise_reverses_nothing():
    values = design(lambda axes: 101.0 if axes["temperature"] == "cold" else 20.0)
    assert reconciled(LAUNCH, values).reversed_by == ()
    # Of few processes there is no ratio.
    assert reconcile(LAUNCH, Judge(measured(values, n=3))) is None


def test_without_pairs_there_is_no_answer():
    assert reconcile(LAUNCH, Judge(measured({}))) is None


def test_conditions_are_said_in_words():
    assert condition_words({"temperature": "cold", "parent_bytes": "16MiB"}) == "cold, 16 MiB in the parent"
    assert condition_words({}) == "by default"
    assert condition_words({"concurrency": "4", "linkage": "musl"}) == "4 at once, musl"


def test_threads_and_processes_of_one_workload_are_told_apart_by_their_axis():
    reconciliation = runs_of_flips.one_stream_reverses_it()
    assert len(reconciliation.pairs) == 16
    assert len(reconciliation.reversed_by) == 8
    assert all("output" in pair.condition for pair in reconciliation.reversed_by)
    assert [*WORK.changed_in(reconciliation.reversed_by[0])] == ["output"]
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
    reconciliation = reconciled(LAUNCH, values)
    main = {effect.factors: effect for effect in reconciliation.effects[STAGES[0]] if effect.design == stacks.words}
    assert round(main["stack_cache",].value, 1) == 3.0
    assert round(main["mlockall",].value, 1) == 5.0
    # One point fewer, and the design says nothing rather than something else.
    del values[cell("launch.pthread", stack_cache="cold", mlockall="yes", temperature="cold"), STAGES[0]]
    reconciliation = reconciled(LAUNCH, values)
    assert not [effect for effect in reconciliation.effects[STAGES[0]] if effect.design == stacks.words]


def test_a_condition_that_cannot_be_set_here_is_said_with_its_reason():
    missing = {
        cell(workload, frequency=level, temperature="warm"): "the frequency cannot be set here"
        for workload in ("launch.fork", "launch.pthread", "contend.fault")
        for level in ("base", "turbo")
    }
    reconciliation = reconciled(LAUNCH, design(lambda axes: 20.0), missing=missing)
    assert reconciliation.untried == ("frequency base, turbo (the frequency cannot be set here)",)


def test_every_condition_that_is_suspected_has_its_place_in_a_design():
    """What the studies leave open: temperature and history, memory, C library, stacks, locks, placement."""
    axes = {axis for design in LAUNCH.designs for axis in design.factors}
    assert axes == {"temperature", "parent_bytes", "linkage", "placement", "page_kind", "mlockall", "after",
                    "launch_number", "concurrency", "stack_cache", "stack_kind"}  # fmt: skip
    assert {axis for design in WORK.designs for axis in design.factors} == {
        "workers", "numbers", "output", "allocate", "result_files", "cpus", "allocator",
    }  # fmt: skip
