from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest
from tests.runner.conftest import FAKE_COMMAND

from clonometer.errors import DriverError, UnavailableError
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.cell import CatalogueAxis, make_cell
from clonometer.plan.types import Limits, Target
from clonometer.runner.drivers import Driver, find_drivers
from clonometer.runner.process import ANSWER_FD


def wrapper(folder: Path, name: str, linkage: str) -> None:
    script = folder / name
    script.write_text(
        f'#!/bin/sh\nFAKE_DRIVER_LINKAGE={linkage} exec {" ".join(FAKE_COMMAND)} "$@"\n', encoding="utf-8"
    )
    script.chmod(0o755)


def test_a_folder_is_searched_for_executables_that_are_drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLONOMETER_BIN", str(tmp_path))
    wrapper(tmp_path, "probe-dynamic_lazy", "dynamic_lazy")
    wrapper(tmp_path, "probe-static", "static")
    (tmp_path / "target_static").write_text("no driver")
    (tmp_path / "probe-static.map").write_text("not executable")
    drivers = find_drivers()
    assert [driver.name for driver in drivers.usable] == ["probe-static", "probe-dynamic_lazy"]
    assert drivers.linkages == ["dynamic_lazy", "static"]
    assert len(drivers.descriptions) == 1
    assert drivers.broken == {}


def test_the_linkage_picks_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLONOMETER_BIN", str(tmp_path))
    wrapper(tmp_path, "probe-dynamic_lazy", "dynamic_lazy")
    wrapper(tmp_path, "probe-static", "static")
    drivers = find_drivers()
    assert drivers.choose("launch.fork", {"linkage": "dynamic_lazy"}).name == "probe-dynamic_lazy"
    assert drivers.choose("launch.fork", {"linkage": "static"}).name == "probe-static"
    assert drivers.choose("launch.fork", {}).name == "probe-static"
    with pytest.raises(UnavailableError, match=r"linkage musl, only dynamic_lazy, static"):
        drivers.choose("launch.fork", {"linkage": "musl"})
    with pytest.raises(UnavailableError, match=r"no driver here can perform launch\.nothing"):
        drivers.choose("launch.nothing", {})


def other_driver(folder: Path) -> None:
    """A driver of another language: it can do one thing more, and cannot calibrate."""
    workload = {
        "id": "launch.other", "family": "same_image", "summary": "", "axes": ["placement"], "temperatures": [],
        "quantities": [], "nulls": {}, "call_returns_contains": None, "available": True, "reason": None,
    }  # fmt: skip
    placement = {"type": "choice", "values": ["pinned", "free"], "default": "pinned", "summary": ""}
    described = {
        "driver": {"name": "other", "version": "1", "language": "B", "linkage": "static", "protocol": 1},
        "axes": {"placement": placement},
        "quantities": {},
        "workloads": [workload],
        "lacks": [],
    }
    script = folder / "driver-other"
    script.write_text(f"#!/bin/sh\n[ $1 = --describe ] && echo '{json.dumps(described)}'\n", encoding="utf-8")
    script.chmod(0o755)


def test_a_driver_of_another_language_joins_the_catalogue_and_does_its_own_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLONOMETER_BIN", str(tmp_path))
    other_driver(tmp_path)
    wrapper(tmp_path, "probe-dynamic_now", "dynamic_now")
    drivers = find_drivers()
    assert [driver.name for driver in drivers.usable] == ["probe-dynamic_now", "driver-other"]
    catalogue = read_catalogue(drivers.descriptions)
    owners = {entry["id"]: entry["driver"] for entry in catalogue.raw["workloads"]}
    assert (owners["launch.other"], owners["launch.fork"]) == ("other", "fake")
    assert drivers.choose("launch.other", {"placement": "free"}).name == "driver-other"
    assert drivers.choose("launch.fork", {"placement": "free"}).name == "probe-dynamic_now"
    # The order of names alone would ask the driver that has no clock.
    assert drivers.calibrate()["clock"] == "monotonic"


def describing(folder: Path, about: dict[str, object]) -> Driver:
    """A driver that says this of itself."""
    description = {"driver": {"name": "other", **about}, "axes": {}, "quantities": {}, "workloads": [], "lacks": []}
    script = folder / "driver-other"
    script.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(description)}\nEND\n")
    script.chmod(0o755)
    return Driver("other", (str(script),), {})


@pytest.mark.parametrize("away_s", [-3600, 3600])
def test_a_driver_whose_clock_is_not_ours_is_not_used(tmp_path: Path, away_s: int) -> None:
    with pytest.raises(DriverError, match="away from CLOCK_MONOTONIC"):
        describing(tmp_path, {"clock_now_ns": time.monotonic_ns() + away_s * 10**9}).described()


def test_how_far_the_clock_of_a_driver_may_be_ahead_is_kept(tmp_path: Path) -> None:
    description = {"driver": {"name": "other"}, "axes": {}, "quantities": {}, "workloads": [], "lacks": []}
    script = f"import json, time\nabout = {description!r}\nabout['driver']['clock_now_ns'] = time.monotonic_ns()\n"
    (tmp_path / "driver.py").write_text(f"{script}print(json.dumps(about))\n")
    before = time.monotonic_ns()
    driver = Driver("other", (sys.executable, str(tmp_path / "driver.py")), {}).described()
    lasted = time.monotonic_ns() - before
    low, high = driver.description["driver"]["clock_ahead_ns"]
    assert low < 0 < high
    assert high - low <= lasted


def test_a_driver_gets_a_clock_that_it_reads(tmp_path: Path) -> None:
    tsc = {"clock": "tsc", "clock_hz": 2_000_000_000}
    cell = make_cell("launch.fork", {}, "warm", {})
    target = Target("launch.fork", {}, (cell,), Limits())
    anything = describing(tmp_path, {}).described()
    assert {"clock=tsc", "clock_hz=2000000000"} <= {*anything.request(target, tsc)}
    few = describing(tmp_path, {"clocks": ["monotonic"]}).described()
    words = few.request(target, tsc)
    assert "clock=monotonic" in words
    assert not any(word.startswith("clock_hz") for word in words)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("#!/bin/sh\necho no json\n", "does not answer with JSON"),
        ("#!/bin/sh\necho '[1]'\n", "does not answer with a JSON object"),
        ("#!/bin/sh\necho broken >&2\nexit 3\n", "ended with status 3: broken"),
        ("#!/nonexistent/interpreter\n", "cannot start"),
    ],
)
def test_a_driver_that_cannot_describe_itself_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    monkeypatch.setenv("CLONOMETER_BIN", str(tmp_path))
    wrapper(tmp_path, "probe-static", "static")
    bad = tmp_path / "probe-bad"
    bad.write_text(script)
    bad.chmod(0o755)
    drivers = find_drivers()
    assert [driver.name for driver in drivers.usable] == ["probe-static"]
    assert reason in drivers.broken["probe-bad"]
    with pytest.raises(DriverError, match="no driver can be used") as raised:
        find_drivers([[str(bad)]])
    assert "make build" in str(raised.value.hint)


def test_a_probe_that_was_built_empty_says_how_to_build_it_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLONOMETER_BIN", str(tmp_path))
    wrapper(tmp_path, "probe-dynamic_now", "dynamic_now")
    for name in ("probe-static", "driver-other"):
        (tmp_path / name).touch(0o755)
    drivers = find_drivers()
    assert "cannot start" in drivers.broken["probe-static"]
    assert "'make build' rebuilds it" in drivers.broken["probe-static"]
    # One that somebody else has made is theirs to build.
    assert "make build" not in drivers.broken["driver-other"]
    with pytest.raises(UnavailableError, match=r"linkage static cannot be used: .*; 'make build' rebuilds it$"):
        drivers.choose("launch.fork", {"linkage": "static"})
    with pytest.raises(UnavailableError, match="no driver was built with linkage musl, only dynamic_now"):
        drivers.choose("launch.fork", {"linkage": "musl"})


def test_without_any_driver_the_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLONOMETER_BIN", str(tmp_path))
    with pytest.raises(DriverError, match=f"none in {tmp_path}"):
        find_drivers()


def test_the_request_has_axes_limits_clock_and_options() -> None:
    driver = Driver("probe", ("/bin/probe",), {"driver": {"linkage": "static"}})
    axes = {
        "parent_bytes": CatalogueAxis("parent_bytes", "bytes", 0),
        "linkage": CatalogueAxis("linkage", "choice", "static", values=("static",)),
    }
    cells = tuple(make_cell("launch.fork", {"parent_bytes": 4096}, name, axes) for name in ("warm", "cold"))
    limits = Limits(processes=1, samples=7, blocks=2, warmup=3, block_limit_ns=9)
    target = Target("launch.fork", cells[0].condition, cells, limits, {"child_spin_ns": 20_000})
    words = driver.request(target, {"clock": "tsc", "clock_hz": 2_400_000_000})
    assert words[:3] == ["/bin/probe", "--fd", ANSWER_FD]
    assert sorted(words[3:]) == [
        "block_limit_ns=9",
        "blocks=2",
        "child_spin_ns=20000",
        "clock=tsc",
        "clock_hz=2400000000",
        "parent_bytes=4096",
        "samples=7",
        "temperatures=cold,warm",
        "warmup=3",
        "workload=launch.fork",
    ]


def test_the_calibration_is_checked(tmp_path: Path) -> None:
    for text, complaint in (
        ('{"clock": "sundial"}', "unknown clock 'sundial'"),
        ('{"clock": "tsc", "clock_hz": null}', "no frequency for the TSC"),
    ):
        script = tmp_path / "probe-odd"
        script.write_text(f"#!/bin/sh\necho '{text}'\n")
        script.chmod(0o755)
        with pytest.raises(DriverError, match=complaint):
            Driver("probe-odd", (str(script),), {}).calibrate()
    assert Driver("fake", FAKE_COMMAND, {}).calibrate()["clock"] == "monotonic"


def test_a_driver_that_prints_for_ever_is_stopped() -> None:
    endless = [sys.executable, "-c", "import os\nwhile True: os.write(1, b'x' * 60000)"]
    with pytest.raises(DriverError, match="was stopped"):
        find_drivers([endless])
    assert os.getpid()
