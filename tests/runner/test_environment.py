from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.runner.conftest import FakeRun

from clonometer.errors import UnavailableError
from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.sides import Side, plan_of_sides, with_side_axis
from clonometer.records import to_json
from clonometer.results.compare.differences import differences, provenance_of
from clonometer.results.compare.types import Provenance
from clonometer.results.schedule.scheduler import RoundsScheduler
from clonometer.runfile import open_run
from clonometer.runner.drivers import find_drivers
from clonometer.runner.environment import (
    LEAST_BYTES,
    PASS_VARIABLE,
    SPAN_BYTES,
    about,
    drawn_bytes,
    fixed_variables,
    padded,
    room_for,
    size_of,
)
from clonometer.runner.process import supervise
from clonometer.runner.run import run
from clonometer.runner.sides import SideHooks


def of_run(path: Path) -> Provenance:
    with open_run(path) as measured:
        return provenance_of(measured.document)


def metadata_of(path: Path) -> Any:
    with open_run(path) as measured:
        return to_json(measured.document)


@pytest.mark.parametrize("size", [40, 512, 131_071, 131_072, 131_100, 262_200, 1_000_000])
def test_an_environment_is_padded_to_the_byte(size: int) -> None:
    whole = padded({"A": "1"}, size)
    assert size_of(whole) == size
    assert max(len(name) + len(value) + 2 for name, value in whole.items()) <= 131_072


@pytest.mark.parametrize("size", [10, 1 << 30])
def test_what_cannot_be_is_refused_with_its_numbers(size: int) -> None:
    with pytest.raises(UnavailableError, match=str(size)):
        padded({"A": "1"}, size)


def test_sizes_are_drawn_evenly_from_the_stated_span_and_rest_on_the_seed() -> None:
    drawn = [drawn_bytes(7, number) for number in range(20_000)]
    assert (min(drawn), max(drawn)) == (LEAST_BYTES, LEAST_BYTES + SPAN_BYTES - 1)
    # A mean of 20,000 even draws lies within five of its standard errors, 4.2 bytes each.
    assert abs(sum(drawn) / len(drawn) - (LEAST_BYTES + (SPAN_BYTES - 1) / 2)) < 21
    assert drawn[:50] == [drawn_bytes(7, number) for number in range(50)] != [drawn_bytes(8, n) for n in range(50)]


def test_nothing_of_the_caller_reaches_a_program_and_it_is_found_by_the_callers_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SECRET", "x" * 30_000)
    monkeypatch.setenv("LD_BIND_NOW", "1")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv(PASS_VARIABLE, "ASAN_*")
    monkeypatch.setenv("ASAN_OPTIONS", "a=1")
    (tmp_path / "mine").symlink_to("/bin/cat")
    monkeypatch.setenv("PATH", str(tmp_path))
    read = bytearray()
    supervise(["mine", "/proc/self/environ"], lambda data: read.extend(data) is None, timeout_s=20.0)
    names = [entry.partition(b"=")[0] for entry in bytes(read).split(b"\0") if entry]
    assert sorted(names) == [b"ASAN_OPTIONS", b"CLONOMETER_PAD", b"PATH", b"TMPDIR"]
    assert len(read) == room_for(fixed_variables())


def test_processes_of_a_run_have_sizes_that_are_drawn_and_recorded(fake_run: FakeRun) -> None:
    fake_run(processes=8)
    processes = metadata_of(fake_run.out)["processes"]
    assert len({entry["env_bytes"] for entry in processes}) > 8
    assert all(entry["argv_bytes"] > 100 for entry in processes)
    assert metadata_of(fake_run.out)["environment"] == about(fixed_variables())


def real_environments(folder: Path, sides: tuple[Side, Side] | None = None) -> tuple[list[bytes], Any]:
    """What programs that posix_spawn started saw as their environment, and the run's metadata."""
    drivers = find_drivers()
    catalogue = with_side_axis(read_catalogue(drivers.descriptions))
    script = folder / "see"
    script.write_text(f"cat /proc/$$/environ >{folder}/$$.environ\n")
    limits = {"processes": 3, "samples": 1, "blocks": 1, "warmup": 0}
    settings = ["temperature=cold", f"program=/bin/sh:{script}", "stages=parent"]
    plan = plan_from_arguments(["launch.posix_spawn"], settings, catalogue, budget_seconds=20.0, limits=limits)
    more: dict[str, Any] = {}
    if sides is not None:
        plan = plan_of_sides(plan, sides, catalogue, strict=True)
        counts = [0] * len(plan.targets)

        def pair_of(index: int) -> int:
            counts[index] += 1
            return counts[index] - 1

        more["hooks"] = SideHooks(plan, sides, pair_of)
    out = folder / "run.parquet"
    outcome = run(plan, catalogue, drivers, out=out, seed=3, scheduler=RoundsScheduler(3, None), **more)
    assert outcome.status == "complete", outcome
    return [path.read_bytes() for path in folder.glob("*.environ")], metadata_of(out)


def test_the_environment_that_a_launched_program_sees_has_the_size_that_was_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "x" * 30_000)
    seen, metadata = real_environments(tmp_path)
    assert sorted(map(len, seen)) == sorted(entry["env_bytes"] for entry in metadata["processes"])
    assert len(set(map(len, seen))) == 3
    assert not any(b"SECRET" in environment for environment in seen)


def test_a_variable_of_one_side_makes_neither_environment_larger(tmp_path: Path) -> None:
    seen, metadata = real_environments(tmp_path, (Side("a"), Side("b", environment={"LONG": "x" * 100_000})))
    of_b = sorted(len(environment) for environment in seen if b"LONG" in environment)
    of_a = sorted(len(environment) for environment in seen if b"LONG" not in environment)
    assert len(of_a) == 3
    assert of_a == of_b
    assert len(set(of_a)) == 3
    recorded = [(entry["pair"], entry["env_bytes"]) for entry in metadata["processes"]]
    assert len(set(recorded)) == 3


def test_runs_from_shells_of_other_sizes_do_not_differ_in_their_environment(
    fake_run: FakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_run()
    before = of_run(fake_run.out)
    monkeypatch.setenv("SECRET", "x" * 30_000)
    fake_run(force=True)
    after = of_run(fake_run.out)
    assert after.environment is not None
    assert not [each for each in differences(before, after) if each.key.startswith("environment")]
    changed = replace(after, environment=replace(after.environment, hash="0", names=["PATH"]))
    assert [each.key for each in differences(before, changed)] == ["environment.hash", "environment.names"]
    (earlier,) = differences(replace(before, environment=None), after)
    assert (earlier.key, earlier.base) == ("environment.hash", "the caller's, not recorded")


def test_values_are_hashed_and_not_written() -> None:
    description = about({"PATH": "/bin", "TOKEN": "hunter2"})
    assert "hunter2" not in json.dumps(description)
    assert description["hash"] != about({"PATH": "/bin", "TOKEN": "hunter3"})["hash"]


def test_a_process_made_for_a_calibration_has_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from clonometer.runner.made import MadeProcess

    monkeypatch.setenv("SECRET", "x" * 30_000)
    with MadeProcess({}) as made:
        assert b"SECRET" not in Path(f"/proc/{made.pid}/environ").read_bytes()
