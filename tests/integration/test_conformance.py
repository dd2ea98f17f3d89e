"""What any driver must do, whatever its language: the contract of drivers/README.md, asked of every one that is built.

`CLONOMETER_BIN=FOLDER pytest tests/integration/test_conformance.py` asks the drivers of another folder.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from tests import probe
from tests.integration.started import gone, process_session
from tests.probe import present

from clonometer.answers import Block
from clonometer.plan.catalogue import read_catalogue
from clonometer.runner.drivers import Driver, find_drivers
from clonometer.runner.languages.building import usable_drivers
from clonometer.runner.languages.toolchains import find_languages, find_toolchains
from clonometer.runner.languages.types import Language

pytestmark = pytest.mark.real

LANGUAGES = find_languages()
# Built once, and kept in the user's cache folder as for any run. Of two versions of a language one is enough.
OF_LANGUAGES, LACKING = usable_drivers(LANGUAGES, print, versions=1)
FOUND = find_drivers(further=OF_LANGUAGES)
# The other linkages of the probe are the same program.
DRIVERS = list({driver.family: driver for driver in reversed(FOUND.usable)}.values())
SPIN_NS = 300_000
# A runtime warms up for as long as it says, a third of a second in some, unless it is asked for none.
NO_WARMUP = ("warmup=0",)
CPU = min(os.sched_getaffinity(0))
# By the name of a column, as drivers have sent it so far.
TYPES: dict[str, str] = {}
# Null under the default condition: only huge pages can be split, and only busy threads keep a lock.
NOT_OF_ALL = {"split_pages", "lock_wait_ns", "lost", "dead_tasks", "whole_again_ns"}


def ask(driver: Driver, *words: str) -> probe.Answer:
    return probe.ask(*words, command=driver.argv, clock=clock_of(driver))


def clock_of(driver: Driver) -> tuple[str, ...]:
    """The words for the clock that a run gives it."""
    words = probe.clock_words()
    return words if driver.reads(words[0].partition("=")[2]) else ("clock=monotonic",)


def entries(driver: Driver) -> list[Mapping[str, Any]]:
    return [entry for entry in driver.description["workloads"] if entry["available"]]


def able() -> list[Any]:
    """Every workload of every driver that is available here."""
    return [
        pytest.param(driver, entry, id=f"{driver.name}-{entry['id']}")
        for driver in DRIVERS
        for entry in entries(driver)
    ]


def with_axis(*axes: str) -> list[Any]:
    """Of every driver the first workload of a launch that has these axes."""
    pairs = []
    for driver in DRIVERS:
        for entry in entries(driver):
            if {"reaped_ns", "task_runs_ns"} <= {*entry["quantities"]} and {*axes} <= {*entry["axes"]}:
                pairs.append(pytest.param(driver, entry, id=f"{driver.name}-{entry['id']}"))
                break
    return pairs


def each(driver: Driver) -> str:
    return driver.name


def least(driver: Driver, quantity: str) -> float:
    about = driver.description["quantities"][quantity]
    if about.get("signed"):
        return -np.inf
    # A detail, such as waiting for a CPU, may not have happened at all.
    return 0 if about["unit"] == "count" or about.get("detail") else np.nextafter(0, 1)


def test_no_driver_that_was_built_is_left_out() -> None:
    assert FOUND.broken == {}


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_every_language_that_is_here_has_its_driver(language: Language) -> None:
    lacking = [lack["reason"] for lack in LACKING if lack["what"] == language.name]
    if lacking and not find_toolchains(language):
        pytest.skip(lacking[0])
    assert lacking == []
    assert language.name in {driver.name for driver in FOUND.usable}


def test_all_drivers_together_are_one_catalogue() -> None:
    catalogue = read_catalogue(FOUND.descriptions)
    assert set(catalogue.workloads) == {entry["id"] for driver in DRIVERS for entry in driver.description["workloads"]}


@pytest.mark.parametrize("driver", DRIVERS, ids=each)
def test_it_describes_itself_and_says_nothing_else(driver: Driver) -> None:
    described = subprocess.run([*driver.argv, "--describe"], capture_output=True, text=True, timeout=60)
    assert (described.returncode, described.stderr) == (0, "")
    assert read_catalogue([driver.description]).workloads
    about = driver.description["driver"]
    assert about["protocol"] == 1
    assert {"name", "version", "language"} <= {*about}


@pytest.mark.parametrize(("driver", "entry"), able())
def test_every_workload_answers_with_what_it_declares(driver: Driver, entry: Mapping[str, Any]) -> None:
    pinned = [f"cpu={CPU}"] if "placement" in entry["axes"] else []
    # A period of load in which a single request comes: a row, as of others.
    brief = ["rate_hz=20", "load_ns=50000000"] if "load_ns" in entry["axes"] else []
    words = ("temperatures=cold,warm", "samples=4", "blocks=2", *NO_WARMUP, *pinned, *brief)
    answer = ask(driver, f"workload={entry['id']}", *words)
    assert (answer.done.status, answer.exit_status, answer.stderr) == ("ok", 0, "")
    assert answer.done.driver == driver.family
    expected = ["cold", "warm", "warm"] if entry["temperatures"] else [None, None]
    assert [block.temperature for block in answer.blocks] == expected
    for block in answer.blocks:
        check_block(driver, entry, block)


def check_block(driver: Driver, entry: Mapping[str, Any], block: Block) -> None:
    assert (block.workload, block.status) == (entry["id"], "ok")
    assert block.rows == (1 if block.temperature == "cold" or entry.get("once") else 4)
    assert block.outcomes["ok"] == sum(block.outcomes.values()) == block.rows
    # One run may measure any workloads: a column has one type in its file.
    assert {name: TYPES.setdefault(name, kind) for name, kind in block.column_types.items()} == block.column_types
    ladders = [ladder["steps"] for ladder in entry.get("distributions", [])]
    steps = {quantity for ladder in ladders for quantity, one_in in ladder.items() if one_in > 0}
    for quantity in entry["quantities"]:
        assert block.units[quantity] == driver.description["quantities"][quantity]["unit"]
        # A step of a distribution is null where there were too few values for it.
        assert len(present(block, quantity)) == block.rows or quantity in steps | NOT_OF_ALL
        assert (present(block, quantity) >= least(driver, quantity)).all()
    for quantity in entry["nulls"]:
        assert len(present(block, quantity)) == 0
    assert block.facts["wall_ns"] > 0
    assert {"minor_faults", "major_faults", "voluntary_switches", "involuntary_switches"} <= {*block.facts}
    assert all(mhz > 0 for mhz in block.facts["effective_mhz"].values())
    if "reaped_ns" in block.columns:
        for stage in set(entry["quantities"]) & {"call_returns_ns", "task_runs_ns", "image_runs_ns"}:
            assert (block.columns[stage] <= block.columns["reaped_ns"]).all()
        assert (block.columns["errno"] == 0).all()
        if "placement" in entry["axes"]:
            assert set(present(block, "cpu_before")) == {CPU}
            assert set(present(block, "cpu_after")) | set(present(block, "cpu_child")) <= {CPU}
            assert set(block.facts["effective_mhz"]) == {str(CPU)}
        starts, ends = block.columns["start_ns"], block.columns["start_ns"] + block.columns["reaped_ns"]
        assert (starts[1:] >= ends[:-1]).all()
        # Stamps may come from another clock than wall_ns: the two agree on the block.
        assert ends[-1] <= block.facts["wall_ns"] * 1.01 + 20_000


@pytest.mark.parametrize("driver", DRIVERS, ids=each)
@pytest.mark.parametrize("clock", ["clock=monotonic", "given"])
def test_it_stamps_with_the_clock_that_it_is_given(driver: Driver, clock: str) -> None:
    words = clock_of(driver) if clock == "given" else (clock,)
    answer = probe.ask(
        f"workload={entries(driver)[0]['id']}",
        "samples=30",
        "blocks=1",
        *NO_WARMUP,
        command=driver.argv,
        clock=words,
    )
    (block,) = answer.blocks
    lasted = block.columns["start_ns"][-1] + block.columns["reaped_ns"][-1]
    # A clock of another rate would be off by far more, even if the block was interrupted before its end was taken.
    assert block.facts["wall_ns"] * 0.1 < lasted <= block.facts["wall_ns"] * 1.01 + 20_000


@pytest.mark.parametrize("driver", DRIVERS, ids=each)
@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["workload=launch.nothing"], "launch.nothing"),
        ([], "workload"),
        (["workload={id}", "colour=red"], "colour"),
        (["workload={id}", "samples=many"], "samples=many"),
        (["workload={id}", "samples=-1"], "samples=-1"),
        (["workload={id}", "samples=0"], "samples=0"),
        (["workload={id}", "samples=99999999999999999999"], "samples=99999999999999999999"),
        (["workload={id}", "temperatures=hot"], "hot"),
        (["workload={id}", "placement=here"], "here"),
        (["workload={id}", "clock=sundial"], "sundial"),
        (["workload={id}", "clock=tsc", "clock_hz=0"], "clock_hz"),
        (["workload={id}", "nonsense"], "nonsense"),
    ],
)
def test_what_is_not_known_fails_and_is_named(driver: Driver, words: list[str], complaint: str) -> None:
    first = entries(driver)[0]["id"]
    answer = probe.ask(*(word.format(id=first) for word in words), command=driver.argv, clock=())
    assert (answer.done.status, answer.exit_status, answer.blocks) == ("failed", 1, [])
    assert complaint in answer.done.reason


@pytest.mark.parametrize("driver", DRIVERS, ids=each)
def test_an_axis_that_the_workload_does_not_have_is_refused(driver: Driver) -> None:
    axes = driver.description["axes"]
    lacking = [(entry["id"], axis) for entry in entries(driver) for axis in axes if axis not in entry["axes"]]
    assert lacking
    workload, axis = lacking[0]
    answer = ask(driver, f"workload={workload}", f"{axis}={axes[axis]['default']}")
    assert (answer.done.status, answer.exit_status) == ("failed", 1)
    assert axis in answer.done.reason


@pytest.mark.parametrize(("driver", "entry"), with_axis("stages"))
def test_the_parents_stamps_only(driver: Driver, entry: Mapping[str, Any]) -> None:
    (block,) = ask(driver, f"workload={entry['id']}", "stages=parent", "samples=5", "blocks=1", *NO_WARMUP).blocks
    assert len(present(block, "task_runs_ns")) == len(present(block, "cpu_child")) == 0
    assert len(present(block, "reaped_ns")) == 5


@pytest.mark.parametrize(("driver", "entry"), with_axis("call_spin_ns", "stamp_spin_ns", "child_spin_ns"))
def test_known_delays_come_where_they_were_put(driver: Driver, entry: Mapping[str, Any]) -> None:
    def fastest(*words: str) -> dict[str, int]:
        (block,) = ask(driver, f"workload={entry['id']}", "samples=15", "blocks=1", *NO_WARMUP, *words).blocks
        return {name: int(block.columns[f"{name}_ns"].min()) for name in ("call_returns", "task_runs", "reaped")}

    # Where a launch takes long by itself, a short delay would be lost in its scatter.
    spin_ns = max(SPIN_NS, 2 * fastest()["reaped"])
    after_call = fastest(f"call_spin_ns={spin_ns}")
    before_stamp = fastest(f"stamp_spin_ns={spin_ns}")
    before_end = fastest(f"child_spin_ns={spin_ns}")
    assert after_call["call_returns"] >= spin_ns
    assert before_stamp["task_runs"] >= spin_ns
    assert before_end["reaped"] >= spin_ns
    assert before_end["task_runs"] < before_stamp["task_runs"]


@pytest.mark.parametrize("driver", DRIVERS, ids=each)
def test_a_block_ends_at_its_time_limit_but_keeps_at_least_three(driver: Driver) -> None:
    words = (f"workload={entries(driver)[0]['id']}", "samples=5000", "blocks=1", "warmup=0", "block_limit_ns=1")
    (block,) = ask(driver, *words).blocks
    assert block.rows == 3


@pytest.mark.parametrize("driver", DRIVERS, ids=each)
def test_its_standard_output_belongs_to_what_it_launches(driver: Driver) -> None:
    reading, writing = os.pipe()
    words = [f"workload={entries(driver)[0]['id']}", "samples=3", "blocks=1"]
    ended = subprocess.run(
        [*driver.argv, "--fd", str(writing), *words], pass_fds=[writing], capture_output=True, timeout=60
    )
    os.close(writing)
    os.close(reading)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


@pytest.mark.parametrize("driver", DRIVERS, ids=each)
def test_nobody_reading_ends_it(driver: Driver) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = [f"workload={entries(driver)[0]['id']}", "samples=3", "blocks=1", *NO_WARMUP]
    ended = subprocess.run(
        [*driver.argv, "--fd", str(writing), *words], pass_fds=[writing], capture_output=True, timeout=60
    )
    os.close(writing)
    assert ended.returncode == 1
    assert ended.stderr


@pytest.mark.parametrize("driver", DRIVERS, ids=each)
@pytest.mark.parametrize("words", [[], ["--fd"], ["--fd", "x"], ["--fd", "99"], ["--what"]])
def test_a_call_that_cannot_be_meant_is_refused(driver: Driver, words: list[str]) -> None:
    ended = subprocess.run([*driver.argv, *words], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert ended.stderr


@pytest.mark.parametrize("driver", DRIVERS, ids=each)
def test_it_does_not_outlive_the_runner(driver: Driver) -> None:
    """A runner that is killed takes its driver with it, in the middle of a long block."""
    code = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen(sys.argv[1:], start_new_session=True, stdin=subprocess.DEVNULL)\n"
        "print(p.pid, file=sys.stderr, flush=True)\n"
        "time.sleep(600)\n"
    )
    words = ["--fd", "1", f"workload={entries(driver)[0]['id']}", "samples=5000000", "blocks=1"]
    command = [sys.executable, "-c", code, *driver.argv, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as runner:
        assert runner.stderr is not None
        session = int(runner.stderr.readline())
        time.sleep(0.3)
        assert process_session(session) == session
        runner.send_signal(signal.SIGKILL)
        runner.wait()
        assert gone(session)
