"""A command that `clonometer reproduce` names shows a contradiction of the studies turning on this machine."""

from __future__ import annotations

import shlex

import pytest

from clonometer.app.measuring import find_catalogue
from clonometer.cli.ending import run_to_the_end
from clonometer.runfile import open_run
from clonometer.studies.cells import cell
from clonometer.studies.measured import gather
from clonometer.studies.pairings import LAUNCH
from clonometer.studies.steps import wider_step


@pytest.mark.real
def test_locked_memory_and_a_new_stack_make_a_thread_slower_than_a_process(tmp_path, capfd):
    _, catalogue = find_catalogue()
    program, *words = shlex.split(wider_step(LAUNCH, catalogue).command)
    assert program == "clonometer"
    path = tmp_path / "turned.parquet"
    assert run_to_the_end([*words, "--budget", "5s", "--out", str(path)]) == 0
    assert "launch.fork has no stack_cache and is measured without it" in capfd.readouterr().err
    with open_run(path) as measured:
        known = gather(measured)
    locked = cell("launch.fork", mlockall="yes", temperature="warm")
    if locked not in known.cells:
        pytest.skip(known.why(locked))
    cells = [
        (cell("launch.pthread", temperature="warm"), cell("launch.fork", temperature="warm")),
        (cell("launch.pthread", mlockall="yes", stack_cache="cold", temperature="warm"), locked),
    ]
    by_default, turned = ([known.find(text, "reaped_ns").median_ns for text in pair] for pair in cells)
    assert by_default[0] < by_default[1]
    assert turned[0] > turned[1]
