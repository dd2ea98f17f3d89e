"""Words that the census and the tracer refuse: exit 2, with what was wrong and what is allowed."""

from __future__ import annotations

import subprocess

import pytest
from tests import probe

pytestmark = pytest.mark.real

MOST_PID = 1 << 22


def complaint(program: str, *words: str) -> str:
    ended = subprocess.run([probe.folder() / program, *words], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (2, ""), ended.stderr
    return ended.stderr


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("pid=1402.7", f"pid=1402.7: not a whole number from 1 to {MOST_PID}"),
        ("pid=0", "pid=0: not a whole number"),
        (f"pid={MOST_PID + 1}", f"from 1 to {MOST_PID}"),
        ("ring_bytes=0.5", f"ring_bytes=0.5: not a whole number from 1 to {1 << 30}"),
        (f"ring_bytes={(1 << 30) + 1}", f"from 1 to {1 << 30}"),
        ("seconds=0", "seconds=0: not a number from 1e-09 to 1e+09"),
        # Less than a nanosecond would be none, which means without an end.
        ("seconds=1e-12", "seconds=1e-12: not a number"),
        ("seconds=nan", "seconds=nan: not a number"),
        ("seconds=1s", "seconds=1s: not a number"),
        ("how=magic", "how has no value 'magic'; allowed: auto, tracepoints, ptrace"),
        ("until=some", "until has no value 'some'; allowed: all"),
        (
            "colour=red",
            "unknown key 'colour'; allowed: how, seconds, until, stacks, calls, debuginfod, ring_bytes, pid",
        ),
        ("colour", "'colour' is not key=value"),
    ],
)
def test_a_census_refuses_a_wrong_word(word: str, message: str) -> None:
    assert message in complaint("clonometer-census", "--fd", "1", "seconds=0.1", word, "--", "true")


@pytest.mark.parametrize("words", [[], ["--fd", "1"], ["--fd", "1", "--"], ["--fd", "1", "pid=1", "--", "true"]])
def test_a_census_takes_either_a_process_or_a_command(words: list[str]) -> None:
    assert complaint("clonometer-census", *words).startswith("usage: ")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("how=magic", "how has no value 'magic'; allowed: none, own, tracepoints, ptrace, fast"),
        ("events=tasks,magic", "events has no value 'magic'; allowed: tasks, "),
        ("counters=magic", "counters has no value 'magic'; allowed: hardware, software"),
        ("ring_bytes=0", "ring_bytes=0: not a whole number from 1 to "),
        ("ring_bytes=0.5", "ring_bytes=0.5: not a whole number"),
        (f"period_ns={1 << 40}", f"not a whole number from 1 to {(1 << 40) - 1}"),
        ("window_ns=5", "window_ns needs how=fast"),
        ("marks=1,2,3,4,5", "marks=1,2,3,4,5: not 1 to 4 offsets"),
        (f"mark_file={'x' * 1024}", "mark_file has 1024 bytes; allowed: at most 1023"),
    ],
)
def test_a_tracer_refuses_a_wrong_word(word: str, message: str) -> None:
    assert message in complaint("tracer", "--fd", "1", "trace", word, "--", "true")


# The third is 1 where only its last 32 bits are looked at.
@pytest.mark.parametrize("descriptor", ["99", "x", str((1 << 32) + 1), "-1"])
@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("probe-static", ["workload=launch.fork"]),
        ("tracer", ["trace", "how=none", "--", "true"]),
        ("clonometer-census", ["--", "true"]),
    ],
)
def test_the_answer_goes_to_an_open_descriptor(program: str, words: list[str], descriptor: str) -> None:
    message = complaint(program, "--fd", descriptor, *words)
    assert message.endswith(f": --fd {descriptor} is not an open descriptor\n")
