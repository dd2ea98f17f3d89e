"""``clonometer doctor`` end to end with the fake driver, and its text at two widths."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import jsonschema
import pytest
from tests.cli.conftest import CommandLine

from clonometer.views.terminal.doctor import render_doctor

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/doctor.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> dict:
    from tests.cli.conftest import make_command_line

    folder = tmp_path_factory.mktemp("doctor")
    ended = make_command_line(folder)("doctor", "--json", "--pid", str(os.getpid()))
    assert ended.returncode == 0, ended.stderr
    # It leaves no run file behind.
    assert {path.name for path in folder.iterdir()} == {"bin", "starts.log"}
    return json.loads(ended.stdout)


def test_json_is_as_its_schema_says(answer: dict) -> None:
    jsonschema.validate(answer, SCHEMA)
    ids = [item["id"] for item in answer["items"]]
    assert len(set(ids)) == len(ids)
    areas = {id_.split(".")[0] for id_ in ids}
    assert areas == {"cpu", "kernel", "memory", "limit", "cgroup", "around", "noise"}
    assert answer["noise"]["samples"] > 0
    assert answer["process"]["pid"] == os.getpid()
    assert answer["process"]["fork"]["first_ns"]["median"] > 0


def test_noise_is_measured_by_the_ordinary_runner(answer: dict) -> None:
    assert {"noise.scatter", "noise.switches", "noise.gap"} <= {item["id"] for item in answer["items"]}
    assert answer["noise_reason"] is None


@pytest.mark.parametrize("width", [80, 120])
def test_text_fits_and_says_everything(answer: dict, width: int) -> None:
    lines = render_doctor(answer, width=width).splitlines()
    assert max(len(line) for line in lines if not line.lstrip().startswith("$ ")) <= width
    text = " ".join(" ".join(lines).split())
    assert re.match(rf"A fork of .* \(pid {os.getpid()}, .*\) would take .* the first time", text)
    for item in answer["items"]:
        assert item["title"] in text
        assert item["command"] is None or f"$ {item['command']}" in text
        if width == 80 and item["judged"] != "fine":
            assert item["effect"] in text
    assert "\x1b" not in text
    assert "\x1b[" in render_doctor(answer, width=width, colour=True)
    assert render_doctor(answer, width=width, ascii_only=True).isascii()


def test_a_driver_that_fails_leaves_the_audit(clonometer: CommandLine) -> None:
    clonometer.environ["FAKE_DRIVER_MODE"] = "rubbish"
    ended = clonometer("doctor")
    assert ended.returncode == 0, ended.stderr
    assert "not measured well" in ended.stdout
