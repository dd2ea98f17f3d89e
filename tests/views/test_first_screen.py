"""The first screen of runs of many kinds: what it always has, and what no width takes from it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.memory_run import RunBuilder
from tests.results.runs import PTHREAD, RUNS
from tests.snapshots.findings import frozen_run

from clonometer.results.first.doubts import MACHINE
from clonometer.results.summary import summarize
from clonometer.results.types import Finding, FirstScreen, MachineState, MachineWord, Results
from clonometer.runfile import open_run
from clonometer.views.first_table import first_tables, lines_of
from clonometer.views.plots import overview_stages
from clonometer.views.rows import make_rows
from clonometer.views.terminal import render_answer, render_so_far

WIDTHS = (40, 60, 80, 120)
SCHEMA1 = Path(__file__).parents[1] / "data" / "schema1.parquet"
#: All families, an old file, the default plan, doubtful figures, a scan, a ladder, programs, open questions.
KINDS = ("families", "schema1", "default_plan", "few_processes", "areas", "ladder", "program_start", "open_contests")


def made(kind: str) -> Results:
    if kind == "families":
        return frozen_run()
    if kind == "schema1":
        with open_run(SCHEMA1) as run:
            return summarize(run, str(SCHEMA1.name))
    return summarize(RUNS[kind](), "run.parquet")


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> Results:
    return made(request.param)


@pytest.fixture(scope="module")
def default() -> Results:
    return made("default_plan")


def words(text: str) -> list[str]:
    return text.split()


def test_no_line_is_longer_than_the_terminal_and_no_word_is_cut(kind: Results) -> None:
    whole = set(words(render_answer(kind, width=400, lines=200)))
    for width in WIDTHS:
        lines = render_answer(kind, width=width).splitlines()
        assert max(map(len, lines)) <= width
        assert len(lines) <= 24 * max(1, 80 / width)
        assert "…" not in "".join(lines)
        table = {word for line in lines for word in words(line) if word.startswith(("launch", "fork", "pthread"))}
        assert {word.rstrip(",.;:)") for word in table} <= {word.rstrip(",.;:)") for word in whole}


def test_every_width_has_the_answer_the_plain_row_and_the_next_command(kind: Results) -> None:
    for width in WIDTHS:
        text = render_answer(kind, width=width)
        joined = " ".join(words(text))
        assert all(finding.sentence in joined for finding in kind.first.answer)
        assert kind.first.answer
        assert kind.first.next is not None
        assert f"Next clonometer {kind.first.next.words[0]}" in joined
        # The first mechanism of the run, with what it takes.
        assert re.search(r"^(fork|posix_spawn|flags\.none)\b.* \d", text, re.MULTILINE)


def test_no_figure_stands_under_the_heading_of_another_stage() -> None:
    builder = RunBuilder()
    detached = {name: value for name, value in PTHREAD.items() if name != "reaped_ns"}
    builder.cell("launch.pthread", detached, detached="yes")
    builder.cell("launch.pthread", PTHREAD)
    results = summarize(builder.run)
    text = render_answer(results, width=120)
    assert re.search(r"^Same program +reaped +95% interval +call returns +task runs", text, re.MULTILINE)
    assert re.search(r"^pthread, detached +µs +- +[\d.]+ +[12]\d\.", text, re.MULTILINE)
    assert re.search(r"^pthread +µs +[23]\d\.", text, re.MULTILINE)
    # A driver may not name the stage at all.
    cells = [each for each in results.cells if each.condition["detached"] == "no" or each.stage != "reaped"]
    text = render_answer(replace(results, cells=cells), width=120)
    assert re.search(r"^Same program +reaped +95% interval|^Same program +reaped +±95%", text, re.MULTILINE)
    assert re.search(r"^pthread, detached: task runs +µs +[12]\d\.", text, re.MULTILINE)


def test_stages_that_nobody_has_heard_of_have_columns_and_colours() -> None:
    builder = RunBuilder()
    builder.cell("launch.pthread", PTHREAD)
    results = summarize(builder.run)
    strange = {"call_returns": "call_returns", "task_runs": "page_mapped", "reaped": "listens"}
    cells = [replace(each, stage=strange[each.stage]) for each in results.cells if each.stage in strange]
    text = render_answer(replace(results, cells=cells), width=120)
    assert re.search(r"^Same program +listens +95% interval +call returns +page mapped", text, re.MULTILINE)
    assert re.search(r"^pthread +µs +[23]\d\.", text, re.MULTILINE)
    assert overview_stages(make_rows(cells)) == ["call returns", "page mapped", "listens"]


def test_columns_go_before_rows_that_were_named(default: Results) -> None:
    named = replace(
        default, plan_name="adhoc", cells=[cell for cell in default.cells if cell.cell.startswith("launch.fork[")]
    )
    texts = {width: render_answer(named, width=width) for width in (50, 80, 120)}
    rows = [len(re.findall(r"^fork.* [mµ]s +\d", text, re.MULTILINE)) for text in texts.values()]
    assert min(rows) >= 8
    assert "task runs" in texts[120]
    assert "task runs" not in texts[50]


def test_what_all_rows_share_stands_once_above_them() -> None:
    builder = RunBuilder()
    for workload in ("launch.fork", "launch.pthread"):
        for size in (1 << 20, 2 << 20):
            builder.cell(workload, dict(PTHREAD), "warm", spread=0.005, parent_bytes=size, pages="clean")
    lines = render_answer(summarize(builder.run, "run.parquet"), width=120, lines=40).splitlines()
    (heading,) = [number for number, line in enumerate(lines) if ", clean pages " in line]
    rows = [line.partition("  ")[0] for line in lines[heading + 1 : heading + 5]]
    assert rows == ["fork, 1 MiB", "fork, 2 MiB", "pthread, 1 MiB", "pthread, 2 MiB"]
    # A single row is no table: what it is of stands in it.
    alone = RunBuilder()
    alone.cell("launch.fork", dict(PTHREAD), "warm", parent_bytes=1 << 20)
    assert "fork, 1 MiB " in render_answer(summarize(alone.run, "run.parquet"), width=120)


def test_servers_have_a_line_each_with_what_a_request_takes_under_each_load() -> None:
    screen = render_answer(made("servers_with_memory"), width=100, lines=40).splitlines()
    heading = next(number for number, line in enumerate(screen) if line == "Servers, 250 requests/s")
    head, *rows = [re.split(r"\s{2,}", line.strip()) for line in screen[heading + 1 : heading + 4]]
    assert head == ["CPU time", "half", "99%", "CPU time, 32 MiB", "half, 32 MiB", "99%, 32 MiB"]
    ((thread, cpu, half, *_), (fork, *_, more_cpu, more_half, _)) = rows
    assert (thread, fork) == ("serve.thread", "serve.fork")
    shown = [float(text.split()[0]) for text in (cpu, half, more_cpu, more_half)]
    assert shown == pytest.approx([150, 180, 1.2, 1.32], rel=0.03)
    narrow = render_answer(made("servers_with_memory"), width=60, lines=40)
    assert "half" in narrow
    assert "99%, 32 MiB" not in narrow


def test_each_row_has_the_unit_that_suits_it(default: Results) -> None:
    text = render_answer(default)
    assert re.search(r"^fork +µs +89", text, re.MULTILINE)
    assert re.search(r"^fork, 1 GiB +ms +13\.\d", text, re.MULTILINE)


def test_reasons_and_advice_stand_below_their_names(default: Results) -> None:
    text = render_answer(default)
    assert re.search(r"^Why   Fork's extra 58\.\d µs: 67% in the call, 33% in exit and wait\.$", text, re.MULTILINE)
    assert re.search(r"^Do    \w", text, re.MULTILINE)
    assert "Note " in text
    assert "Note " not in render_answer(replace(default, first=replace(default.first, doubts=())))


@pytest.mark.parametrize("width", WIDTHS)
def test_the_state_of_the_machine_is_said_first_and_once(default: Results, width: int) -> None:
    sentence = "NOISY: the core was shared in 90% of the time; load 9.0 on 2 CPUs"
    machine = MachineState(MachineWord.NOISY, sentence, 0.9, 1.4, 0, 20)
    noisy = Finding(MACHINE, sentence, {"cells": [default.cells[0].cell]})
    first = replace(default.first, doubts=(noisy, *default.first.doubts))
    text = " ".join(render_answer(replace(default, first=first, machine=machine), width=width).split())
    assert text.startswith(f"{sentence}.")
    assert text.count("load 9.0") == 1


def test_the_shortest_launch_stands_beside_the_median_unless_it_is_quiet(default: Results) -> None:
    busy, quiet = (
        MachineState(word, f"{word}: said", 0.5, 1.4, 10, 20) for word in (MachineWord.BUSY, MachineWord.QUIET)
    )
    assert " best " in render_answer(replace(default, machine=busy), width=100)
    text = render_answer(replace(default, machine=quiet), width=100)
    assert " best " not in text
    assert text.startswith("QUIET: Test")


def test_what_a_screen_leaves_out_is_counted_with_the_command_that_shows_it(default: Results) -> None:
    text = render_answer(replace(default, run_name="my run.parquet"), width=120)
    counted = re.search(r"clonometer show 'my run.parquet' --wide   (\d+) more rows, (\d+) findings", text)
    assert counted
    # Of what was named, as many as there is room for.
    counted = re.search(r"--wide   (\d+) more rows", render_answer(replace(default, plan_name="adhoc"), width=120))
    assert counted
    everything = render_answer(replace(default, plan_name="adhoc"), width=120, lines=400)
    fewer = re.search(r"--wide   (\d+) more rows", everything)
    assert fewer
    assert int(counted[1]) > int(fewer[1])


@pytest.mark.parametrize("width", [80, 120])
def test_every_run_of_a_plan_has_the_same_lines_whatever_is_said_of_it(default: Results, width: int) -> None:
    def labels(results: Results) -> list[str]:
        rows = re.findall(r"^(\w[\w+, ]*?)  +[mµn]s ", render_answer(results, width=width), re.MULTILINE)
        assert rows
        return rows

    bare = replace(default.first, advice=(), reasons=(), doubts=(), open=())
    assert labels(default) == labels(replace(default, first=bare))
    assert len(labels(default)) == 7
    long = [
        replace(finding, sentence=f"{finding.sentence} {'and more of it ' * 12}") for finding in default.first.advice
    ]
    assert labels(default) == labels(replace(default, first=replace(default.first, advice=tuple(long))))


def test_bars_are_as_long_as_launches_and_what_is_far_beyond_ends_in_an_arrow(default: Results) -> None:
    lines = {line.split("  ")[0]: line for line in render_answer(default, width=80).splitlines()}
    bars = {name: line.count("█") for name, line in lines.items() if "█" in line}
    fork, pthread = bars["fork"], bars["pthread"]
    assert fork == pytest.approx(3 * pthread, abs=2)
    assert lines["fork, 1 GiB"].endswith("█→")


def test_what_is_open_stands_with_the_command_that_closes_it() -> None:
    builder = RunBuilder()
    for workload in ("launch.posix_spawn", "launch.fork_exec"):
        builder.cell(workload, PTHREAD, spread=0.15)
    results = summarize(builder.run, "run.parquet")
    assert len(results.first.open) == 1
    text = render_answer(results, width=80)
    [question] = re.findall(r"^Open  (.*)$", text, re.MULTILINE)
    assert "?" in question
    words = [("clonometer", *each.words) for each in results.first.open]
    assert all(" ".join(each) in text for each in words)


def test_each_answer_ends_with_how_sure_it_is(default: Results) -> None:
    lines = render_answer(default, width=80).splitlines()
    assert [line[-6:] for line in lines if line.endswith("]")] == ["[sure]"] * len(default.first.answer)
    assert all(len(line) == 80 for line in lines if line.endswith("[sure]"))


def test_the_table_of_a_run_that_goes_on_marks_what_is_settled(default: Results) -> None:
    text = render_so_far(default, width=80, lines=20)
    assert len(text.splitlines()) <= 20
    rows = re.findall(r"^([✓~]) (\w[\w+, ]*?)  ", text, re.MULTILINE)
    assert ("✓", "fork") in rows
    few = render_so_far(made("few_processes"), width=80, lines=20)
    assert "✓" not in few
    assert "~ fork" in few


def test_a_run_without_a_first_screen_has_a_table_all_the_same(default: Results) -> None:
    text = render_answer(replace(default, first=FirstScreen()))
    assert re.search(r"^fork +µs", text, re.MULTILINE)


def test_wide_leaves_no_column_out_whatever_the_terminal(default: Results) -> None:
    narrow, wide = (render_answer(default, width=width, wide=True) for width in (80, 200))
    heads = [line for line in narrow.splitlines() if "p99" in line]
    assert heads
    assert all(line in wide.splitlines() for line in heads)


def test_a_column_that_nobody_needs_is_not_there(default: Results) -> None:
    tables = first_tables(lines_of(make_rows(default.cells)))
    assert not any(column.head == "best" for table in tables for column in table.columns)
    with_best = first_tables(lines_of(make_rows(default.cells)), best=True)
    assert all(any(column.head == "best" for column in table.columns) for table in with_best)
