"""``clonometer doctor`` end to end with the fake driver, and its text at two widths."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from tests.cli.conftest import CommandLine, make_command_line

from clonometer.app import doctor
from clonometer.cli.ending import run_to_the_end
from clonometer.records import from_json
from clonometer.results.audit.types import MachineAudit
from clonometer.runner.settings import read_setting, save
from clonometer.views.documents.doctor import doctor_document
from clonometer.views.terminal.document import render_document


def render_doctor(answer: dict, **options: object) -> str:
    answer = dict(answer)
    process = answer.pop("process")
    return render_document(doctor_document, from_json(MachineAudit, answer), process, **options)


SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/doctor.schema.json").read_text(encoding="utf-8"))


@contextlib.contextmanager
def hasty(clonometer: CommandLine) -> Iterator[None]:
    """Let this process be the command, which measures noise for a moment only."""
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(clonometer.folder):
        for name, value in clonometer.environment().items():
            patch.setenv(name, value)
        patch.setattr(doctor, "NOISE_SECONDS", 0.2)
        yield


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> dict:
    clonometer = make_command_line(tmp_path_factory.mktemp("doctor"))
    out = io.StringIO()
    with hasty(clonometer), contextlib.redirect_stdout(out):
        assert run_to_the_end(["doctor", "--json", "--pid", str(os.getpid())]) == 0
    # It leaves no run file behind.
    assert {path.name for path in clonometer.folder.iterdir()} == {"bin", "starts.log"}
    return json.loads(out.getvalue())


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
    assert re.match(rf"fork\(\) in .* \(pid {os.getpid()}, .*\) would block its caller for ", text)
    for item in answer["items"]:
        assert item["title"] in text
        assert item["command"] is None or f"$ {item['command']}" in text
        if width == 80 and item["judged"] != "fine":
            assert item["effect"] in text
    assert "\x1b" not in text
    assert "\x1b[" in render_doctor(answer, width=width, colour=True)
    assert render_doctor(answer, width=width, ascii_only=True).isascii()


def test_a_driver_that_fails_leaves_the_audit(clonometer: CommandLine, capsys: pytest.CaptureFixture[str]) -> None:
    clonometer.environ["FAKE_DRIVER_MODE"] = "rubbish"
    with hasty(clonometer):
        assert run_to_the_end(["doctor"]) == 0
    assert "not measured reliably" in capsys.readouterr().out


def test_what_a_killed_measurement_left_is_named(clonometer: CommandLine) -> None:
    out = io.StringIO()
    with hasty(clonometer), contextlib.redirect_stdout(out):
        Path("setting").write_text("4")
        before = {"setting": read_setting("setting")}
        saved = save("--b do='echo 5 > setting'", "printf 4 > setting", before)
        Path("setting").write_text("5")
        saved.leave()
        assert run_to_the_end(["doctor", "--json"]) == 0
        assert Path("setting").read_text() == "4"
    items = json.loads(out.getvalue())["items"]
    [item] = [item for item in items if item["id"] == "machine.left_changed"]
    assert item["judged"] == "note"
    assert item["value"].startswith("put back: what --b do='echo 5 > setting' changed")
