from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.runner.conftest import FAKE_COMMAND

from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.types import Target
from clonometer.runner.drivers import Driver, find_drivers
from clonometer.runner.measure import measure, timeout_for

CLOCK = {"clock": "monotonic"}


def make_target(*settings: str) -> Target:
    catalogue = read_catalogue(find_drivers([FAKE_COMMAND]).descriptions)
    limits = {"samples": 5, "blocks": 1}
    plan = plan_from_arguments(["launch.fork"], settings, catalogue, budget_seconds=1.0, limits=limits)
    return plan.targets[0]


def script(folder: Path, body: str) -> Driver:
    path = folder / "probe-odd"
    path.write_text(f"#!/bin/sh\n{body}\n".replace("FAKE", " ".join(FAKE_COMMAND)), encoding="utf-8")
    path.chmod(0o755)
    return Driver("probe-odd", (str(path),), {})


def test_a_good_answer_is_ok(tmp_path: Path) -> None:
    measured = measure(script(tmp_path, 'exec FAKE "$@"'), make_target(), CLOCK)
    assert (measured.status, measured.reason, measured.exit_status) == ("ok", None, 0)
    assert [block.temperature for block in measured.blocks] == ["cold", "warm"]
    assert measured.done is not None


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('FAKE "$@"; exit 3', "the driver ended with status 3 after its answer"),
        ('FAKE "$@"; kill -11 $$', "the driver was killed by SIGSEGV after its answer"),
        ('FAKE "$@" temperatures=warm', "the driver sent no cold block"),
        ('FAKE "$@" workload=launch.vfork', "the driver measured cold launch.vfork, which was not requested"),
        ("exit 0", "the driver ended without an answer"),
        (
            "echo out of luck >&2; exit 7",
            "the driver ended with status 7: the driver ended without an answer; its last words: out of luck",
        ),
    ],
)
def test_a_driver_that_cannot_be_trusted_has_failed(tmp_path: Path, body: str, reason: str) -> None:
    measured = measure(script(tmp_path, body), make_target(), CLOCK)
    assert (measured.status, measured.reason) == ("failed", reason)


def test_a_driver_that_has_vanished_has_failed() -> None:
    measured = measure(Driver("gone", ("/nonexistent/probe",), {}), make_target(), CLOCK)
    assert measured.status == "failed"
    assert "cannot start /nonexistent/probe" in str(measured.reason)


def test_patience_grows_with_memory_and_with_known_delays() -> None:
    small, large = make_target(), make_target("parent_bytes=1GiB")
    spun = replace(small, options={"child_spin_ns": 1_000_000_000})
    assert timeout_for(small) < timeout_for(large)
    assert timeout_for(spun) - timeout_for(small) > 25


def test_a_budget_bounds_patience_whatever_a_target_is_guessed_to_take() -> None:
    small, large = make_target(), make_target("parent_bytes=64GiB")
    assert timeout_for(small, 7.0) == timeout_for(large, 7.0) == 7.0
    assert 0 < timeout_for(large, -1.0) <= 1
    assert timeout_for(small, 1e9) == timeout_for(small)
