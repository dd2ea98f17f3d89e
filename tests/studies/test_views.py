"""The views of a reproduction, from made results: terminal, Markdown, page, pictures."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from made import measured, verdicts

from clonometer.records import to_json
from clonometer.results.machine_state import say_load
from clonometer.studies.answer import answer
from clonometer.studies.cells import LOOP_FORK, LOOP_THREAD, cell, heap, sysel_fork, sysel_thread
from clonometer.studies.judge import CALL, REAPED, RUNS
from clonometer.studies.pairings import PAIRINGS
from clonometer.studies.published import load_published
from clonometer.studies.types import FigureRow, Verdict
from clonometer.verdicts import Status
from clonometer.views.documents.studies import studies_document
from clonometer.views.html.document import render_document_page
from clonometer.views.markdown import render_markdown
from clonometer.views.studies import figure_table, number_text, ours_text, outcome_text
from clonometer.views.study_figures import figure_specs, study_pictures
from clonometer.views.terminal.document import render_document
from clonometer.views.terminal.table import draw_table


def render_studies(reproduction, *, width=80, wide=True, **how):
    return render_document(studies_document, reproduction, width=width, wide=wide, **how)


def page_of(reproduction):
    return render_document_page(studies_document(reproduction, wide=True))


def studies_markdown(reproduction):
    return render_markdown(studies_document(reproduction, wide=True))


@pytest.fixture(scope="module")
def reproduction():
    values = {(LOOP_FORK, "wall_ns"): 200e3, (LOOP_THREAD, "wall_ns"): 20e3, (LOOP_THREAD, "user_ns"): 0.0}
    for temperature, stage in itertools.product(("cold", "warm"), (CALL, RUNS, REAPED)):
        values[sysel_fork(temperature), stage] = 80e3
        values[sysel_thread(temperature), stage] = 120e3 if temperature == "cold" else 9e3
    for levels in itertools.product((0, 1), repeat=4):
        factors = PAIRINGS[0].designs[0].factors
        axes = {axis: factors[axis][level] for axis, level in zip(factors, levels, strict=True) if factors[axis][level]}
        for stage in PAIRINGS[0].quantities:
            values[cell("launch.fork", **axes), stage] = 100.0
            values[cell("launch.pthread", **axes), stage] = 300.0 if axes["temperature"] == "cold" else 20.0
    for size, workload in itertools.product((1, 2, 4), ("launch.fork", "launch.pthread")):
        values[heap(workload, f"{size}MiB"), CALL] = 30e3 + size * 1e3
    values |= {(value.cell, CALL): 64e3 for value in load_published().item("B13").values[1:]}
    host = {"cpu.allowed": 2, "cpu.model": "Model <1>", "kernel.release": "6.1"}
    return answer(measured(values, host=host), [], notes=["A note."], quick=True)


@pytest.mark.parametrize("width", [80, 120])
def test_the_answer_fits_and_says_all(reproduction, width):
    text = render_studies(reproduction, width=width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    for item in reproduction.items:
        assert any(f"{item.id} " in line or f"{item.id}:" in line or f"{item.id}," in line for line in lines), item.id
    flat = " ".join(text.split())
    for words in ("60–170 µs", "2020", "does not hold", "not measured", "A note.", "Cold reverses it",
                  "S11 (threads are slower) does not hold, sure", "below a tick",
                  "9 of 27 figures measured"):  # fmt: skip
        assert words in flat, words


@pytest.mark.parametrize("width", [80, 120])
def test_in_short_it_begins_with_the_contradictions_and_each_item_has_a_line(reproduction, width):
    text = render_studies(reproduction, width=width, wide=False)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert "…" not in text
    ids = [line.split()[0] for line in lines if line.split() and line.split()[0] in verdicts(reproduction)]
    ids = [id_ for place, id_ in enumerate(ids) if id_ not in ids[:place]]
    # What a study is known for stands before its other claims, and these before its figures.
    headlines = {study.headline for study in reproduction.studies}
    kinds = {item.id: (item.study, item.kind == "figure") for item in reproduction.items}
    places = {id_: place for place, id_ in enumerate(kinds)}
    order = list(dict.fromkeys(item.study for item in reproduction.items))
    wanted = sorted(
        kinds, key=lambda id_: (order.index(kinds[id_][0]), id_ not in headlines, kinds[id_][1], places[id_])
    )
    above = [line.split()[0] for line in text.partition("sysel-2020")[0].splitlines() if line.split()]
    assert [id_ for id_ in ids if id_ not in above] == [id_ for id_ in wanted if id_ not in above]
    before = " ".join(text.split()).partition("sysel-2020")[0]
    # One verdict for each claim: the same words above and below.
    for id_ in ("S11", "L6"):
        outcome = outcome_text(verdicts(reproduction)[id_])
        assert f" {outcome}" in before
        assert outcome.lower() in " ".join(text.split()).partition("sysel-2020:")[2].lower()
    assert "Is a thread slower to launch than a process? S11 (threads are slower) does not hold, sure: " in before
    assert (
        "Cold reverses it: a thread, until the call returns, 3.00 times slower (2.99 to 3.01) instead of 5.00" in before
    )
    assert "(24 of 60 comparisons certainly reverse it)" in before
    assert "Holds in direction, sure: 10.0×, not 13×" in text
    assert "cannot tell" not in text.lower()
    # Ids and names line up, also where a name is wrapped.
    names = [line[5] for line in lines if line.startswith(("S12", "S13", "S14", "S2"))]
    assert " " not in names


def test_what_the_stage_reverses_or_nothing_says_so():
    values = {(cell(f"launch.{kind}", temperature="warm"), stage): 100.0
              for kind in ("fork", "pthread") for stage in (CALL, RUNS, REAPED)}  # fmt: skip
    unsettled = " ".join(render_studies(answer(measured(values), ["loop-10000"]), width=120, wide=False).split())
    assert "L6 (processes are, by 13 times) not measured None of 3 comparisons reverses it." in unsettled
    # Contradictions between claims that were not asked for are left out.
    assert "S11" not in unsettled
    assert "Do the flags" not in unsettled
    values[cell("launch.pthread", temperature="warm"), CALL] = 300.0
    values[cell("launch.pthread", temperature="warm"), REAPED] = 30.0
    by_stage = " ".join(render_studies(answer(measured(values), ["loop-10000"]), width=120, wide=False).split())
    assert "The stage reverses it: 3.0" in by_stage


def test_too_few_processes_have_no_number_which_is_said():
    few = answer(measured({(LOOP_FORK, "wall_ns"): 2e5, (LOOP_THREAD, "wall_ns"): 2e4}, n=3), ["loop-10000"])
    text = " ".join(render_studies(few, wide=False).split())
    assert "Open: only 3 processes Undecided: a ratio needs at least 6 processes." in text


@pytest.mark.parametrize("width", [80, 120])
def test_what_qualifies_a_number_is_said_however_narrow(width):
    published = load_published()
    [value] = published.item("S1").values
    rows = [FigureRow("S1", value, 90.0, 80.0, 100.0, "other CPU (92%), in one block", ())]
    lines = draw_table(figure_table(rows, published.studies["sysel-2020"]), width, False)
    assert max(map(len, lines)) <= width
    assert "other CPU (92%), in one block" in " ".join(" ".join(lines).split())


def test_ascii_terminals_get_ascii(reproduction):
    assert render_studies(reproduction, ascii_only=True).isascii()


def test_markdown_has_each_claim_with_its_verdict_and_each_figure_in_a_table(reproduction):
    text = studies_markdown(reproduction)
    for item in reproduction.items:
        assert f"| {item.id} |" in text if item.kind == "figure" else f"**{item.id}** " in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in tables)
    assert text.index("## Where the studies contradict each other") < text.index("sysel-2020")
    assert "**holds in direction, sure**: 10.0×, not 13×, " in text


def test_the_page_is_whole_fetches_nothing_and_escapes(reproduction):
    page = page_of(reproduction)
    for item in reproduction.items:
        assert f">{item.id}</{'t' if item.kind == 'figure' else 'strong>'}" in page
    assert "Model &lt;1&gt;" in page
    assert page.index(">Where the studies contradict each other</h2>") < page.index(">M. Sysel: ")
    assert '<span class="chip good">holds in direction, sure</span> 10.0×, not 13×, ' in page
    cells = verdicts(reproduction)["S11"].evidence
    assert f"<p>{', '.join(cells)}</p></details>" in page
    for name, _ in figure_specs(reproduction):
        assert page.count(f'id="{name}"') == 1
    assert "bendersky-2018-heap" in page
    assert 'src="http' not in page


@pytest.mark.parametrize(
    ("what", "number"),
    [
        ("fork over thread", "0.37× (0.34 to 0.41)"),
        ("share that migrates", "37% (34% to 41%)"),
        ("work beside which launching a process is 5%", "0.370 (0.340 to 0.410) ms"),
    ],
)
def test_a_ratio_has_its_sign_and_nothing_else_has_it(what, number):
    assert number_text(Verdict(Status.HOLDS, "", 0.37, (0.34, 0.41), what)) == number


def test_pictures_of_every_figure_come_as_png_and_svg(reproduction):
    pictures = dict(study_pictures(reproduction))
    names = {name.rsplit(".", 1)[0] for name in pictures}
    assert {"sysel-2020-table", "loop-10000-times", "bendersky-2018-heap"} <= names
    for name in names:
        assert pictures[f"{name}.png"].startswith(b"\x89PNG")
        assert b"<svg" in pictures[f"{name}.svg"][:500]
    captions = {name: spec["description"].split()[-1] for name, spec in figure_specs(reproduction)}
    assert all(word in pictures[f"{name}.svg"].decode() for name, word in captions.items() if word.isascii())


def test_the_json_keeps_to_its_schema(reproduction):
    schema = json.loads((Path(__file__).parents[2] / "docs/schemas/reproduce.schema.json").read_text())
    jsonschema.validate(json.loads(json.dumps(to_json(reproduction), allow_nan=False)), schema)
    jsonschema.validate(to_json(answer(measured({}), [])), schema)


def test_an_answer_without_results_is_said_too():
    empty = answer(measured({}), ["loop-10000"])
    assert "0 of 5 figures measured" in " ".join(render_studies(empty).split())
    assert list(figure_specs(empty)) == []
    assert "L1" in studies_markdown(empty)
    assert 'class="plot"' not in page_of(empty)


def test_fits_in_days_keep_their_digits():
    item = load_published().item("U2")
    row = FigureRow("U2", item.values[0], 1.9478e-14, 1.2e-14, 2.2e-14, "", ())
    assert item.values[0].shown == "1.6e-14 d"
    assert ours_text(row) == "1.9e-14 (1.2e-14 to 2.2e-14) d"


def test_each_mark_says_on_hover_what_it_is(reproduction):
    mark_texts = set()
    for _, spec in figure_specs(reproduction):
        data = [point["said"] for point in spec["data"]["values"] if "said" in point]
        drawn = [layer["encoding"] for layer in spec["layer"] if "tooltip" in layer.get("encoding", {})]
        assert drawn
        assert all(encoding["tooltip"]["field"] == "said" for encoding in drawn)
        mark_texts |= set(data)
    assert "S1 fork, child runs, published: 60–170 µs" in mark_texts
    assert "published, processes: launch time (µs) 34.5 at 2 heap (MB)" in mark_texts
    assert any(
        text.startswith("processes: launch time (µs) 64.0 (") and text.endswith("at 2 heap (MB)") for text in mark_texts
    )


def test_a_busy_machine_is_said_above_the_answer(reproduction):
    busy = replace(reproduction, busy=say_load({"load.one_minute": 55.2, "cpu.online": 2}))
    words = "Measured on a busy machine (load 55.2 on 2 CPUs)"
    text = " ".join(render_studies(busy, width=80, colour=False).split())
    assert text.index(words) < text.index("claims and questions")
    markdown, page = studies_markdown(busy), page_of(busy)
    assert markdown.index(words) < markdown.index("claims and questions")
    assert page.index(words) < page.index("claims and questions")
    assert to_json(busy)["busy"] == "load 55.2 on 2 CPUs"
    assert say_load({"load.one_minute": 1.9, "cpu.online": 2}) == ""
    assert "busy machine" not in render_studies(reproduction, width=80, colour=False)


def test_one_process_has_no_interval():
    item = load_published().item("U3")
    row = FigureRow("U3", item.values[0], 1.32, 1.32, 1.32, "", ())
    assert ours_text(row) == "1.32 ×"
    assert ours_text(replace(row, low=1.30, high=1.34)) == "1.32 (1.30 to 1.34) ×"
