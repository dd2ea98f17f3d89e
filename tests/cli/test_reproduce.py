"""``clonometer reproduce`` on this machine, with plans made small: kept, resumed, refused."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from tests.integration.started import happens

from clonometer.app import reproduce, run_cache
from clonometer.cli.ending import run_to_the_end
from clonometer.errors import OutputError
from clonometer.files import refuse_if_reserved
from clonometer.studies import explained, parts
from clonometer.studies.explained import Refused
from clonometer.tracing import rounds


def run(capsys, *words):
    status = run_to_the_end(["reproduce", *words])
    shown = capsys.readouterr()
    return status, shown.out, shown.err


@pytest.fixture
def small(monkeypatch):
    """Two targets of each plan, two processes each; the demos, which are not kept, really run once.

    How many calls a thread takes differs by one now and then: whether somebody waits for it is a race.
    """
    observed = functools.cache(reproduce.observe_demos)
    monkeypatch.setattr(reproduce, "observe_demos", lambda progress: observed())
    load = parts.load_part

    def load_small(name, catalogue, **how):
        plan, shrunk = load(name, catalogue, **how)
        cut = tuple(
            replace(target, limits=replace(target.limits, processes=2, samples=5, warmup=0))
            for target in plan.targets[:2]
        )
        return replace(plan, targets=cut), shrunk

    monkeypatch.setattr(reproduce, "load_part", load_small)
    monkeypatch.setattr(explained, "_PROCESSES", {True: 1, False: 1})
    monkeypatch.setattr(explained, "_WORK_PAIRS", {True: 2, False: 2})
    monkeypatch.setattr(rounds, "_LAUNCHES_A_PROCESS", 20)


@pytest.fixture
def not_explained(monkeypatch):
    """Launches are not taken to pieces, which takes the longest: as where that is not permitted."""
    monkeypatch.setattr("clonometer.app.run_cache.explain_launches", lambda *a, **how: Refused("not permitted"))


@pytest.mark.real
def test_it_measures_keeps_and_does_not_measure_again(small, capsys, tmp_path):
    out = tmp_path / "kept"
    words = ("loop-10000", "--quick", "--out", str(out))
    report = tmp_path / "report.html"
    status, text, error = run(capsys, *words, "--json", "--html", str(report), "--pictures", str(tmp_path / "p"))
    assert status == 0, error
    answer = json.loads(text)
    assert [entry["id"] for entry in answer["items"]] == [f"L{number}" for number in range(1, 10)]
    assert answer["items"][0]["status"] == "measured"
    assert answer["items"][0]["values"][0]["value"] > 0
    assert 'id="loop-10000-times"' in report.read_text()
    assert {path.suffix for path in (tmp_path / "p").iterdir()} == {".png", ".svg"}
    files = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    assert {path.name for path in files} == {
        "loop-10000-quick.parquet",
        "flags-quick.parquet",
        "reconcile-quick.parquet",
        "explain-loop-quick.json",
    }
    kept = json.loads((out / "explain-loop-quick.json").read_text())
    assert {"refused", "versus"} & set(kept["answer"])
    status, text, _ = run(capsys, *words, "--json")
    assert json.loads(text) == answer
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == files
    status, _, error = run(capsys, *words, "--html", str(report))
    assert status == 2
    assert "report.html" in error


def test_an_explanation_that_is_kept_is_read_up_to_a_bound(tmp_path, monkeypatch):
    kept = tmp_path / "explain-loop.json"
    kept.write_text('{"machine": {}, "answer": {"refused": "not permitted"}}')
    monkeypatch.setattr(run_cache, "_ANSWER", replace(run_cache._ANSWER, most_bytes=kept.stat().st_size))
    assert run_cache._read_answer("loop", kept) == ({}, Refused("not permitted"))
    kept.write_text("  " + kept.read_text())
    assert run_cache._read_answer("loop", kept) is None


@pytest.mark.real
def test_an_interrupted_one_goes_on_where_it_ended(small, not_explained, capsys, tmp_path, monkeypatch):
    from clonometer.runner.run import run as real_run

    started = []

    def interrupted(plan, *arguments, **how):
        started.append(plan)
        outcome = real_run(plan, *arguments, **how)
        return replace(outcome, exit_status=130) if len(started) == 1 else outcome

    monkeypatch.setattr("clonometer.app.run_cache.run", interrupted)
    words = ("loop-10000", "--quick", "--out", str(tmp_path / "kept"))
    status, text, error = run(capsys, *words)
    assert (status, text) == (130, "")
    assert "resumes" in error
    assert len(started) == 1
    status, text, _ = run(capsys, *words)
    assert status == 0
    assert [plan.name for plan in started] == ["loop-10000-quick", "flags-quick", "reconcile-quick"]
    assert "L1" in text


@pytest.mark.real
def test_interrupted_while_launches_are_taken_to_pieces_it_keeps_what_was_measured(
    small, capsys, tmp_path, monkeypatch
):
    def stop(*arguments, **how):
        raise KeyboardInterrupt

    out = tmp_path / "kept"
    words = ("loop-10000", "--quick", "--out", str(out))
    with monkeypatch.context() as patch:
        patch.setattr("clonometer.app.run_cache.explain_launches", stop)
        assert run(capsys, *words)[0] == 130
    assert not list(out.glob("explain*"))
    files = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    assert len(files) == 3
    monkeypatch.setattr("clonometer.app.run_cache.explain_launches", lambda *a, **how: Refused("not permitted"))
    status, text, _ = run(capsys, *words, "--json")
    assert status == 0
    reasons = {entry["id"]: entry["reason"] for entry in json.loads(text)["items"]}
    assert reasons["L9"]
    assert {path: path.stat().st_mtime_ns for path in files} == files


@pytest.mark.real
def test_killed_at_once_it_keeps_the_processes_that_had_ended(tmp_path):
    out = tmp_path / "kept"
    call = f"from clonometer.cli.start import main; main(['reproduce', 'loop-10000', '--quick', '--out', {str(out)!r}])"
    words = [sys.executable, "-c", call]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        deadline = time.monotonic() + 60
        while sum(path.stat().st_size for path in out.glob("*.raw")) < 200_000:
            assert time.monotonic() < deadline
            assert running.poll() is None
            time.sleep(0.05)
        running.kill()
    [raw] = out.glob("*.raw")

    def is_claimed():
        try:
            refuse_if_reserved(raw)
        except OutputError:
            return True
        return False

    # A driver that was being started has the file for a moment more.
    assert happens(lambda: not is_claimed())
    kept = run_cache.RunCache(out, force=False)
    done, complete = kept._done(kept._files(raw.stem))
    assert sum(done.values()) > 0
    assert not complete
    assert not raw.exists()


@pytest.mark.real
def test_what_another_machine_measured_is_refused(small, not_explained, capsys, tmp_path, monkeypatch):
    words = ("loop-10000", "--quick", "--out", str(tmp_path / "kept"))
    assert run(capsys, *words)[0] == 0
    facts_now = run_cache.collect()
    monkeypatch.setattr(run_cache, "collect", lambda: {**facts_now, "kernel.release": "1.0"})
    status, _, error = run(capsys, *words)
    assert status == 2
    assert "another machine" in error
    assert run(capsys, *words, "--force")[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sysel-2021"], "did you mean 'sysel-2020'"),
        (["sysel-2020", "--html", "x", "--markdown", "x"], "two outputs name the same file"),
    ],
)
def test_bad_input_ends_with_2_before_anything_is_measured(words, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, text, error = run(capsys, *words)
    assert (status, text) == (2, "")
    assert message in error
    assert list(tmp_path.iterdir()) == []
