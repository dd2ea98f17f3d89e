"""Single claims: which cells each needs, and the commands that decide or reverse it, which work when they are typed."""

from __future__ import annotations

import shlex

import pytest
from made import measured
from tests.catalogue import CATALOGUE
from tests.studies.runs_of_flips import FLIPS

from clonometer.cli.commands.reproduce import command as reproduce
from clonometer.cli.commands.run import command as run
from clonometer.errors import UsageError
from clonometer.plan.adhoc import plan_from_arguments
from clonometer.studies.answer import answer
from clonometer.studies.cells import axes_of
from clonometer.studies.measured import CALL_MOVED, CALL_STAYED, FACTS, MIGRATED, SCATTER, SINGLE
from clonometer.studies.needs import needs_of, restricted
from clonometer.studies.pairings import PAIRINGS
from clonometer.studies.parts import load_part, plans_for
from clonometer.studies.published import load_published
from clonometer.studies.steps import reversal_step, wider_step

PUBLISHED = load_published()
HOST = {"cpu.allowed": 2}


def planned(line):
    """The cells that a command line measures, as the real parser and the real expansion read it."""
    program, name, *words = shlex.split(line)
    assert (program, name) == ("clonometer", "run")
    with run.make_context("run", words) as context:
        asked = context.params
    return {cell.text for cell in plan_from_arguments(asked["workloads"], asked["settings"], CATALOGUE).cells}


def plans_of(*studies):
    return [load_part(name, CATALOGUE, quick=True, available_bytes=8 << 30)[0] for name in plans_for(studies)]


def needed(id_):
    item = PUBLISHED.item(id_)
    plans = plans_of(item.study)
    needs = needs_of(item, plans, HOST)
    return needs, restricted(plans, [needs])


def test_a_claim_needs_few_cells_and_each_is_measured_once():
    needs, [plan] = needed("S12")
    assert plan.name == "sysel-2020-quick"
    assert {cell.text for cell in plan.cells} == needs.cells
    assert len(needs.cells) == 6
    assert {cell.partition("[")[0] for cell in needs.cells} == {"launch.fork", "launch.pthread"}
    assert not needs.explained
    assert not needs.observed


def test_a_claim_that_gives_a_number_needs_the_sizes_that_it_is_solved_through():
    for id_, least in (("L6", 10), ("B6", 6)):
        needs, _ = needed(id_)
        sizes = {axes_of(cell)[1].get("parent_bytes", "0") for cell in needs.cells}
        assert len(sizes) >= 3, id_
        assert least <= len(needs.cells) <= 24


def test_what_a_claim_looks_up_besides_its_evidence_is_needed_too():
    needs, _ = needed("B9")
    assert any("parent_bytes=1MiB" in cell for cell in needs.cells)
    assert needed("L8")[0].observed
    assert needed("L9")[0].explained == {"loop"}


@pytest.mark.parametrize("study", PUBLISHED.studies)
def test_every_item_can_be_judged_of_what_it_needs_and_every_command_can_be_planned(study):
    """Of the cells that each needs alone there is an answer, and the command that it names can be typed."""
    plans = plans_of(study)
    for item in PUBLISHED.of([study]):
        needs = needs_of(item, plans, HOST)
        cells = sorted(needs.cells)
        quantities = {name for cell in cells for name in CATALOGUE.workloads[cell.partition("[")[0]].quantities}
        quantities |= {*FACTS, MIGRATED, CALL_MOVED, CALL_STAYED, SCATTER, SINGLE}
        # All below 1, so that they may be shares.
        share = 1 / (1 + len(cells))
        values = {(cell, name): share * (1 + number) for number, cell in enumerate(cells) for name in quantities}
        results = measured(values, host=HOST, n=6)
        [entry] = answer(results, [item.id], catalogue=CATALOGUE, longer="--quick --budget 60s").entries
        if item.kind == "claim" and not needs.observed:
            assert entry.verdict.status != "not_measurable", (item.id, entry.verdict.reason)
        if entry.next is None:
            continue
        if entry.next.does == "decides":
            with reproduce.make_context("reproduce", shlex.split(entry.next.command)[2:]) as context:
                assert [each.id for each in PUBLISHED.items_named(context.params["studies"])] == [item.id]
                assert context.params["budget_s"] == 60
        else:
            # To look for what reverses a single claim would not help somebody who asked whether it holds.
            assert entry.next.does != "searches"
            assert planned(entry.next.command)


@pytest.mark.parametrize("name", FLIPS)
def test_the_command_of_a_contradiction_measures_both_sides_before_and_after(name):
    flip = FLIPS[name]()
    step = reversal_step(flip, CATALOGUE)
    cells = planned(step.command)
    if flip.reversed_by:
        assert step.does == "reverses"
        assert any(cells >= {*pair.cells, *flip.bases[0].cells} for pair in flip.reversed_by)
    else:
        stages = {pair.change.rises for pair in flip.bases}
        assert step.does == ("reverses" if len(stages) > 1 else "searches")


@pytest.mark.parametrize("pairing", PAIRINGS, ids=lambda pairing: pairing.id)
def test_where_nothing_reverses_it_a_command_looks_further(pairing):
    step = wider_step(pairing, CATALOGUE)
    assert step.does == "searches"
    workloads = {cell.partition("[")[0] for cell in planned(step.command)}
    assert workloads == {pairing.a.partition("[")[0], pairing.b.partition("[")[0]}


def test_ids_are_read_in_any_case_and_unknown_ones_name_the_near():
    assert [item.id for item in PUBLISHED.items_named(["s12", "B7", "S12"])] == ["S12", "B7"]
    assert PUBLISHED.items_named(["sysel-2020"]) == ()
    with pytest.raises(UsageError, match="unknown claim 'S99'") as caught:
        PUBLISHED.items_named(["s99"])
    assert caught.value.hint.startswith("available: S1 to S2")
    with pytest.raises(UsageError, match="did you mean 'sysel-2020'"):
        PUBLISHED.items_named(["sysel-2021"])
    with pytest.raises(UsageError, match="cannot be combined"):
        PUBLISHED.items_named(["S12", "loop-10000"])


@pytest.mark.parametrize(
    ("words", "id_"),
    [
        (["threads are 13 times faster"], "L6"),
        (["Threads", "are", "13x", "faster"], "L6"),
        (["13 times faster"], "L6"),
        (["fork grows with memory"], "S12"),
        (["a crash of a process spares others"], "S18"),
        (["processes beat threads"], "U7"),
        (["thread creation is slower"], "S11"),
    ],
)
def test_a_claim_is_found_by_its_words(words, id_):
    assert [item.id for item in PUBLISHED.items_named(words)] == [id_]


@pytest.mark.parametrize("item", [item for item in PUBLISHED.items if item.kind != "figure"], ids=lambda item: item.id)
def test_every_claim_is_found_by_the_words_that_the_table_shows(item):
    assert PUBLISHED.items_named([item.short]) == (item,)


def test_words_that_no_claim_has_name_the_near_ones():
    with pytest.raises(UsageError, match="no claim has the words 'threads are 70 times slower'") as caught:
        PUBLISHED.items_named(["threads are 70 times slower"])
    assert "B6, processes are slower, about 7 times" in caught.value.hint
    with pytest.raises(UsageError, match="no claim has") as caught:
        PUBLISHED.items_named(["banana split"])
    assert "clonometer list" in caught.value.hint
