"""``make torture`` finds what it looks for: without that its table would say nothing."""

from __future__ import annotations

import atexit
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tools.torture import differential, groups, inputs, mutations, privileges, resources, sandbox, signals
from tools.torture.programs import Language, Program, Way, programs
from tools.torture.programs.languages import LANGUAGES
from tools.torture.programs.wrappers import WRAPPERS
from tools.torture.sandbox import NotPossibleError, Sandbox, judge

from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.catalogue import read_catalogue
from clonometer.runner.drivers import find_drivers


@pytest.fixture
def place(tmp_path: Path) -> Sandbox:
    made = Sandbox(tmp_path)
    made.folder.mkdir()
    made.temporary.mkdir()
    return made


def python(place: Sandbox, code: str, bound_s: float = 30.0) -> sandbox.Ended:
    return place.run(bound_s=bound_s, command=(sys.executable, "-S", "-c", code))


@pytest.mark.parametrize(
    ("code", "allowed", "words"),
    [
        ("pass", {0}, None),
        ("raise SystemExit(1)", {0, 2, 4}, "exit status 1"),
        ("import os; os.kill(0, 15)", {0, 130}, "exit status -15"),
        ("import sys; sys.stderr.write('Traceback (most recent call last):')", {0}, "a traceback"),
    ],
)
def test_an_end_that_was_not_promised_is_found(place: Sandbox, code: str, allowed: set[int], words: str | None) -> None:
    faults = judge(python(place, code), allowed)
    assert (words is None) == (faults == [])
    assert words is None or words in faults[0]


def test_a_hang_and_too_much_memory_are_found(place: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no end within" in judge(python(place, "import time; time.sleep(60)", 0.2), {0})[0]
    monkeypatch.setattr(sandbox, "MOST_RSS_BYTES", 1 << 20)
    assert "in memory" in judge(python(place, "import time; time.sleep(0.2)"), {0})[0]


def test_what_is_left_behind_is_found_and_removed(
    place: Sandbox, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(sandbox, "PATIENCE_S", 0.2)
    # What else this test session has started is not of this trial.
    before = set(sandbox.descendants(os.getpid()))
    monkeypatch.setattr(
        sandbox,
        "descendants",
        lambda pid, find=sandbox.descendants: [child for child in find(pid) if child not in before],
    )
    sandbox.become_subreaper()
    request.addfinalizer(lambda: sandbox.become_subreaper(False))
    code = "import os, sys, time; open(os.environ['TMPDIR'] + '/scrap', 'w'); os.fork() or time.sleep(60)"
    assert judge(python(place, code), {0}) == []
    leftovers = " ".join(place.leftovers())
    assert "task" in leftovers
    assert "scrap" in leftovers
    assert not any("task" in fault for fault in place.left())


def test_what_a_signal_may_do_depends_on_who_is_there_to_take_it() -> None:
    late, early = signals._Sent(handled=True, at_s=1.0), signals._Sent(handled=False, at_s=0.0)
    assert signals._allowed(late, signal.SIGTERM, 9.0, {0, 4}) == {130}
    assert signals._allowed(late, signal.SIGTERM, 1.1, {0, 4}) == {0, 4, 130}
    assert -signal.SIGTERM in signals._allowed(early, signal.SIGTERM, 9.0, {0})
    assert signals._allowed(late, signal.SIGKILL, 9.0, {0}) == {-signal.SIGKILL}


def test_all_that_is_tried_exists() -> None:
    catalogue = read_catalogue(find_drivers().descriptions)
    named = [
        *signals.WORKLOADS,
        *signals.KEEPERS,
        *resources.SOME,
        *groups._KEEPS_NOTHING,
        *(words for run in privileges.RUNS for words in run),
    ]
    for workload, *settings in map(str.split, named):
        assert plan_from_arguments([workload], settings, catalogue).targets


def test_what_is_sound_is_read_and_a_pipe_is_refused(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    request.addfinalizer(lambda: (mutations.zygote().close(), mutations.zygote.cache_clear()))
    for name, kind in inputs.KINDS.items():
        with sandbox.sandbox(tmp_path) as place:
            ended = inputs.read(place, name, lambda sound, path: path.write_bytes(sound))
            # All that a short run can tell may be that nothing can be told.
            assert ended.status in {0, 3, 125} & kind(inputs.files(tmp_path / "base")).allowed, (name, ended.err)
        with sandbox.sandbox(tmp_path) as place:
            piped = inputs.read(place, name, lambda _, path: os.mkfifo(path))
            # An answer that cannot be read is made anew.
            assert (piped.status == 2) == (name != "answer"), (name, piped.err)


def test_the_same_seed_tries_the_same() -> None:
    def names(seed: int) -> list[str]:
        return [trial.name for trial, _ in zip(signals.trials(random.Random(seed)), range(40), strict=False)]

    assert names(1) == names(1) != names(2)
    assert mutations.damage(b"x" * 99, random.Random(3)) == mutations.damage(b"x" * 99, random.Random(3)) != b"x" * 99


def test_a_round_has_every_fragment_and_way_and_a_seed_gives_it_again() -> None:
    def names(seed: int) -> list[str]:
        made = programs(LANGUAGES, WRAPPERS, random.Random(seed))
        count = sum(language.count for language in LANGUAGES if language.present)
        return [program.name for program, _ in zip(made, range(count), strict=False)]

    round_names = names(1)
    assert round_names == names(1) != names(2)
    chosen = {fragment for name in round_names for fragment in name.rpartition("/")[2].split("+")}
    present = [language for language in LANGUAGES if language.present]
    assert {name for language in present for name in language.fragments} <= chosen
    for language in present:
        for way in language.ways:
            assert any(f"/{way.name}/" in name for name in round_names), f"{language.name}: {way.name}"
    assert sum(language.count for language in LANGUAGES) >= 325


@pytest.fixture
def compare(place: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[str]]]:
    """Compares a shell's program alone with the same below a false census, whose words are given."""
    monkeypatch.setattr(differential, "descendants", lambda pid: [])
    monkeypatch.setattr(differential, "reap", lambda: None)
    started: list[Callable[[], None]] = []
    language = Language("dash", {"dash": ("dash",)}, "program.sh", {})

    monkeypatch.setattr(atexit, "register", started.append)

    def differences(script: str, *census: str) -> list[str]:
        monkeypatch.setattr(differential, "_census", lambda how: list(census))
        program = Program(f"dash/{script}", language, {}, script, Way())
        return differential._compare(program, "tracepoints", False, place, random.Random(1))

    differential._launcher.cache_clear()
    yield differences
    for close in started:
        close()
    differential._launcher.cache_clear()


@pytest.mark.parametrize(
    ("script", "census", "words"),
    [
        ("echo same; exit 3", ("env", "TOLD=1"), None),
        ("echo $TOLD", ("env", "TOLD=1"), "stdout, line 1: alone '', watched '1'"),
        ("echo $TOLD >&2", ("env", "TOLD=1"), "stderr, line 1"),
        ("exit ${TOLD:-0}", ("env", "TOLD=1"), "status, line 1: alone '0', watched '1'"),
        ("kill -${TOLD:-15} $$", ("env", "TOLD=9"), "status, line 1: alone '143', watched '137'"),
        ("echo $TOLD >made", ("env", "TOLD=1"), "file made, line 2"),
        ("[ $TOLD ] || : >made", ("env", "TOLD=1"), "file made, line 1"),
        ("umask; :", ("dash", "-c", 'umask 077; exec "$@"', "dash"), "stdout, line 1: alone '0022', watched '0077'"),
        ("grep SigIgn /proc/self/status", ("dash", "-c", 'trap "" USR1; exec "$@"', "dash"), "stdout"),
        ("echo lost ${TOLD:-0} of 60", ("env", "TOLD=2"), None),
        ("echo lost ${TOLD:-0} of 60", ("env", "TOLD=9"), "lost 9 of 60"),
        ("echo PYTHONPATH=$TOLD", ("env", "TOLD=1"), None),
    ],
)
def test_what_a_census_changes_is_found(
    compare: Callable[..., list[str]], script: str, census: tuple[str, ...], words: str | None
) -> None:
    differences = compare(script, *census)
    assert (words is None) == (differences == [])
    assert words is None or words in differences[0]


def test_a_program_that_differs_from_itself_is_left_out_with_its_name(compare: Callable[..., list[str]]) -> None:
    with pytest.raises(NotPossibleError, match=r"differs from itself: dash/cat /proc/sys/kernel/random/uuid"):
        compare("cat /proc/sys/kernel/random/uuid", "env")
