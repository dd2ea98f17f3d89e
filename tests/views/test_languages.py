"""The table of languages: a line a language, C first, and only where nothing else was measured."""

from __future__ import annotations

from dataclasses import replace

from tests.fakes.memory_run import RunBuilder
from tests.results.runs import PTHREAD, languages
from tests.views.sample_kinds import LANGUAGES

from clonometer.records import to_json
from clonometer.results.missing import MissingLanguage
from clonometer.results.series_types import LanguageRow
from clonometer.results.summary import summarize
from clonometer.views.documents.run import run_document
from clonometer.views.exports.markdown import encode
from clonometer.views.figures.languages import FIGURES, languages_tables
from clonometer.views.html.document import render_document_page
from clonometer.views.markdown import render_markdown
from clonometer.views.terminal.first_screen import first_screen


def test_a_line_a_language_and_a_column_a_thing() -> None:
    results = replace(summarize(languages()), series={"languages": LANGUAGES})
    later, by_memory, first = languages_tables(results)
    assert later.head == ("", "thread")
    assert later.columns[0].texts == ["C", "Java 25.0", "Python"]
    assert by_memory.title == "Later launches by memory of the parent"
    assert by_memory.head == ("", "command, 64 MiB")
    assert by_memory.columns[1].texts == ["500 µs"]
    assert first.columns[0].texts == ["Python"]
    assert later.note == ""
    [noted] = languages_tables(replace(results, series={"languages": [replace(LANGUAGES[0], unsteady=["java_25_0"])]}))
    assert "Java 25.0 (thread)" in noted.note


def test_a_screen_has_further_versions_only_where_the_first_cannot_do_it() -> None:
    times = (9e3, 8e3, 1e4)
    names = ["C", "go", "go_1_19", "java", "java_25_0", "node", "python", "rust", "rust_1_63"]
    rows = (
        LanguageRow("thread", "a thread", {}, "warm", dict.fromkeys(names, times)),
        LanguageRow("task", "a task", {}, "warm", dict.fromkeys(["go", "java_25_0"], times)),
    )
    results = replace(summarize(languages()), series={"languages": rows})
    [figure] = FIGURES
    [table] = figure.sums_up(results, {"python.os_thread"})
    assert table.columns[0].texts == ["C", "Go", "Java", "Java 25.0", "Node.js", "Python", "Rust"]
    assert len(languages_tables(results)[0].columns[0].texts) == len(names)


def test_the_table_stands_for_the_rows_where_the_run_has_nothing_else() -> None:
    results = summarize(languages())
    [figure] = FIGURES
    workloads = {"launch.pthread", "wake.thread_futex", "python.os_thread", "java_25_0.command"}
    assert len(figure.sums_up(results, workloads)) == 1
    assert len(figure.sums_up(results, {*workloads, "launch.fork_exec"})) == 1
    assert figure.sums_up(results, {"python.os_thread", "launch.fork_exec", "launch.vfork"}) == []
    screen = "\n".join(first_screen(results, 100, 40, colour=False))
    assert "Node.js" in screen
    assert "Java 25.0" in screen


def test_the_table_of_languages_has_its_lines_before_reasons_have_theirs() -> None:
    """A run's closing lines take some of the screen."""
    results = summarize(languages())
    whole = first_screen(results, 80, 40, colour=False)
    table = [line for line in whole if line.startswith(("C ", "Node.js ", "Python "))]
    reasons = [line for line in whole if line.startswith(("Why", "Do"))]
    assert table
    assert reasons
    # One line less, and the note below the table goes: the table stays.
    note = [line for line in whole if line.startswith("Uses a thread again")]
    assert note
    tight = first_screen(results, 80, len([line for line in whole if line]) - len(reasons) - 2, colour=False)
    assert set(table) <= set(tight)
    without_room = first_screen(results, 80, len([line for line in whole if line]) - len(reasons) - 1, colour=False)
    assert set(table) <= set(without_room)


def test_what_was_not_here_stands_in_every_view_with_its_package() -> None:
    builder = RunBuilder()
    builder.cell("launch.pthread", PTHREAD)
    lacks = [
        {"what": "go", "reason": "Go is not here: Debian's golang-go has it"},
        {"what": "java_25_0", "reason": "its driver could not be built: no javac"},
        {"what": "frequency", "reason": "this kernel cannot set the frequency"},
        {"what": "launch.huge", "reason": "no huge pages"},
    ]
    builder.run.metadata["catalogue"]["lacks"] = lacks
    results = summarize(builder.run)
    assert results.missing_languages == tuple(MissingLanguage(each["what"], each["reason"]) for each in lacks[:2])
    document = run_document(results)
    answer = to_json(results)
    views = [
        "\n".join(first_screen(results, 100, 24, colour=False)),
        render_document_page(document),
        render_markdown(document),
        "".join(encode(answer, [])),
        str(answer["missing_languages"]),
    ]
    for view in views:
        assert "golang-go has it" in view
        assert "no javac" in view
        assert "cannot set the frequency" not in view


def test_the_created_tasks_are_a_table_and_reuse_is_noted() -> None:
    later, *_, created = languages_tables(summarize(languages()))
    assert "Uses a thread again that ended, and creates none: Ruby (thread)." in later.note
    by_language = dict(zip(created.columns[0].texts, created.columns[created.head.index("thread")].texts, strict=True))
    assert by_language == {"Python": "1", "Ruby": "0"}


def test_a_note_says_what_readings_add_to_the_times_of_each_language() -> None:
    readings = LanguageRow("readings", "the readings", {}, "warm", {"python": (130, 130, 150)}, is_instrument=True)
    results = replace(summarize(languages()), series={"languages": [*LANGUAGES, readings]})
    later, *others = languages_tables(results)
    assert "readings" not in later.head
    assert "Python 130 ns" in later.note
    assert not [table.title for table in others if "130 ns" in table.note]
    [figure] = FIGURES
    [screen] = figure.sums_up(results, {"launch.pthread", "python.os_thread", "launch.none"})
    assert "Python 130 ns" in screen.note
    [drawn] = figure.rows(results)
    assert [panel.title for panel in drawn.panels] == ["A thread", "A command, 64 mib"]
