"""Values of axes whose mistakes have an answer of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clonometer.errors import PlanError
from clonometer.plan.cell import CatalogueAxis, glob_pattern, make_cell, matches
from clonometer.plan.values import read_value

AXES = {
    axis.name: axis
    for axis in (
        CatalogueAxis("parent_bytes", "bytes", 0),
        CatalogueAxis("open_files", "count", 4),
        CatalogueAxis("placement", "choice", "pinned", values=("pinned", "free")),
        CatalogueAxis("linkage", "choice", "static", values=("static", "musl")),
        CatalogueAxis("program", "text", "target_static"),
        CatalogueAxis("stages", "text", "all"),
    )
}
TEXTS = st.text(st.sampled_from("ab,=[]*?% \n%2Cé"), min_size=1, max_size=8) | st.sampled_from(
    ["all", "target_static", "x,stages=y"]
)
CONDITIONS = st.fixed_dictionaries(
    {},
    optional={
        "parent_bytes": st.integers(0, 1 << 41) | st.integers(0, 2048).map(lambda count: count << 20),
        "open_files": st.integers(0, 5000),
        "placement": st.sampled_from(["pinned", "free"]),
        "linkage": st.sampled_from(["static", "musl"]),
        "program": TEXTS,
        "stages": TEXTS,
    },
)
TEMPERATURES = st.sampled_from([None, "cold", "warm"])
CELLS = st.builds(
    lambda workload, condition, temperature: make_cell(workload, condition, temperature, AXES),
    st.sampled_from(["launch.fork", "launch.fork_exec"]),
    CONDITIONS,
    TEMPERATURES,
)


def same(first, second):
    return (first.workload, first.condition, first.temperature) == (
        second.workload,
        second.condition,
        second.temperature,
    )


@given(CELLS, CELLS)
def test_cells_have_the_same_text_only_if_they_are_the_same(first, second):
    assert (first.text == second.text) == same(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"program": "x,stages=y"}, {"program": "x", "stages": "y"}),
        ({"program": "x%2Cy"}, {"program": "x,y"}),
        ({"program": "x]"}, {"program": "x"}),
        ({"parent_bytes": 1 << 20}, {"parent_bytes": (1 << 20) + 1}),
    ],
)
def test_texts_that_could_be_mistaken_differ(first, second):
    assert make_cell("launch.fork", first, None, AXES).text != make_cell("launch.fork", second, None, AXES).text


@given(CELLS, CELLS)
def test_a_cells_text_is_a_glob_for_that_cell_alone(first, second):
    assert glob_pattern(first.text).fullmatch(first.text)
    assert bool(glob_pattern(first.text).fullmatch(second.text)) == same(first, second)


def test_defaults_are_left_out_of_the_text_but_stand_in_the_condition():
    cell = make_cell("launch.fork", {"placement": "pinned", "open_files": 4}, "warm", AXES)
    assert cell.text == "launch.fork[temperature=warm]"
    assert cell.condition == {name: axis.default for name, axis in AXES.items()}


def test_axes_and_temperature_stand_in_alphabetical_order():
    condition = {"stages": "parent", "placement": "free", "parent_bytes": 1 << 30, "open_files": 1024}
    text = make_cell("launch.fork", condition, "cold", AXES).text
    inside = "open_files=1024,parent_bytes=1GiB,placement=free,stages=parent,temperature=cold"
    assert text == f"launch.fork[{inside}]"


def test_a_path_stays_readable():
    cell = make_cell("launch.fork_exec", {"program": "/usr/bin/g++-12 a"}, None, AXES)
    assert cell.text == "launch.fork_exec[program=/usr/bin/g++-12%20a]"


@pytest.mark.parametrize(
    ("text", "glob", "matched"),
    [
        ("launch.fork[temperature=warm]", "launch.fork[*warm]", True),
        ("launch.fork[temperature=warm]", "launch.fork[*cold]", False),
        ("launch.fork[temperature=warm]", "launch.fork", True),
        ("launch.fork[temperature=warm]", "launch.*", True),
        ("launch.fork_exec[temperature=warm]", "launch.fork", False),
        ("launch.fork[temperature=warm]", "launch.for?", True),
        ("launchXfork[temperature=warm]", "launch.fork", False),
        ("launch.fork[temperature=warm]", "launch.fork[temperature=war]", False),
        ("launch.fork", "fork", False),
        ("clock.used", "[c]lock.used", False),
    ],
)
def test_globs_match_whole_text_or_workload(text, glob, matched):
    assert matches(text, [glob]) is matched


def test_one_of_several_globs_is_enough():
    assert matches("clock.used", ["launch.*", "clock.*"])
    assert not matches("clock.used", [])


PROGRAM = CatalogueAxis("program", "text", "target_static")


def test_a_command_line_for_a_program_is_refused_with_the_spelling_that_works() -> None:
    with pytest.raises(PlanError, match="there is no such program") as caught:
        read_value(PROGRAM, "/usr/bin/python3 -S")
    assert caught.value.hint == (
        "arguments go after colons: program=/usr/bin/python3:-S (a space of the path itself: \\ )"
    )


def test_what_may_be_meant_is_taken(tmp_path: Path) -> None:
    spaced = tmp_path / "my program"
    spaced.touch()
    for value in ("target_static", "/bin/sh:-c:sleep 0.1", "/bin/nul \0", str(spaced), "my/own\\ program", " ", "\r"):
        assert read_value(PROGRAM, value) == value
