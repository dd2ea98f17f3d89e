"""Peers: outputs as they print them (made up, in their form), and programs of our own that play peers."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from clonometer.runner.peers import (
    LAT_PROC_LINE,
    PERF_LINE,
    PROGRAMS,
    Interleaved,
    PeerProgram,
    parse_hyperfine,
    parse_line,
    parse_stress_ng,
    run_peer,
)

STRESS_NG = """\
stress-ng: info:  [100] setting to a 2 second run per stressor
stress-ng: info:  [100] dispatching hogs: 1 {name}
stress-ng: metrc: [100] stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s CPU used per
stress-ng: metrc: [100]                           (secs)    (secs)    (secs)   (real time) (usr+sys time) instance (%)
stress-ng: metrc: [100] {name}                4000      2.00      0.50      0.75       {rate}        3200.00       62.50
"""
THREADS = """\
stress-ng: metrc: [100] miscellaneous metrics:
stress-ng: metrc: [100] pthread            25000.50 nanosecs to start a pthread (geometic mean of 1 instances)
stress-ng: metrc: [100] pthread              100.00 % of 1024 pthreads created (geometic mean of 1 instances)
stress-ng: info:  [100] successful run completed in 2.00s
"""
PERF = """\
# Running 'syscall/fork' benchmark:
# Executed 1,000 fork() calls
     Total time: 0.150 [sec]

     150.250000 usecs/op
           6655 ops/sec
"""
HYPERFINE = """\
Warning: The first benchmarking run took longer.
{
  "results": [
    {
      "command": "/bin/true",
      "mean": 0.00125,
      "stddev": 0.0001,
      "times": [0.001, 0.0015]
    }
  ]
}
Warning: Statistical outliers were detected.
"""


@pytest.mark.parametrize("name", ["fork", "vfork"])
def test_stress_ng_gives_a_rate_of_real_time(name):
    assert parse_stress_ng(STRESS_NG.format(name=name, rate="2000.00")) == {f"stress-ng.{name}": 500_000.0}


def test_stress_ng_gives_two_figures_of_threads():
    assert parse_stress_ng(STRESS_NG.format(name="pthread", rate="4000,00") + THREADS) == {
        "stress-ng.pthread": 250_000.0,
        "stress-ng.pthread_start": 25_000.5,
    }


def test_perf_in_each_of_its_units_and_languages():
    assert parse_line("perf.fork", PERF_LINE)(PERF) == {"perf.fork": 150_250.0}
    assert parse_line("perf.fork", PERF_LINE)(PERF.replace("150.250000", "150,250000")) == {"perf.fork": 150_250.0}
    assert parse_line("perf.getppid", PERF_LINE)("     99.5 nsecs/op\n") == {"perf.getppid": 99.5}


def test_hyperfine_with_warnings_around_its_export():
    assert parse_hyperfine(HYPERFINE) == {"hyperfine.true": 1_250_000.0}


@pytest.mark.parametrize("what", ["fork+exit", "fork+execve"])
def test_lmbench(what):
    assert parse_line("lmbench.fork", LAT_PROC_LINE, 1e3)(f"Process {what}: 189.1250 microseconds\n") == {
        "lmbench.fork": 189_125.0
    }


@pytest.mark.parametrize(
    "parse", [parse_stress_ng, parse_line("a.b", PERF_LINE), parse_hyperfine, parse_line("a.b", LAT_PROC_LINE, 1e3)]
)
@pytest.mark.parametrize(
    "text", ["", "gibberish\n", '{"results": []}', "0.0 usecs/op", STRESS_NG.format(name="fork", rate="0.00")]
)
def test_what_has_no_figure_is_refused(parse, text):
    with pytest.raises(ValueError, match=r"no figure|printed nothing"):
        parse(text)


def test_programs_name_each_figure_once_and_say_how_to_install():
    figures = [figure for program in PROGRAMS for figure in program.figures]
    assert len(figures) == len(set(figures))
    assert all(program.install.startswith("apt-get install -y ") for program in PROGRAMS)
    assert {program.argv[0] for program in PROGRAMS} == {"stress-ng", "perf", "hyperfine", "lat_proc", "hackbench"}


def script(folder: Path, text: str, name: str = "peer") -> PeerProgram:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return PeerProgram(
        name, (str(file),), ("some.figure",), "apt-get install -y it", parse_line("some.figure", PERF_LINE)
    )


@pytest.mark.parametrize("stream", ["1", "2"])
def test_a_figure_on_either_stream(tmp_path, stream):
    measured = run_peer(script(tmp_path, f"echo '12.5 usecs/op' >&{stream}"), 77)
    assert (measured.figures_ns, measured.reason, measured.started_ns) == ({"some.figure": 12_500.0}, None, 77)


def test_failures_have_reasons(tmp_path):
    assert run_peer(script(tmp_path, "echo no luck; exit 3"), 0).reason == "peer ended with status 3: no luck"
    assert "there is no figure in its output: 1 2 3" in str(run_peer(script(tmp_path, "echo 1 2 3"), 0).reason)
    assert "does not have 'peer'" in str(run_peer(script(tmp_path, "echo Unknown benchmark: x; exit 1"), 0).reason)
    absent = PeerProgram("absent", (str(tmp_path / "absent"),), (), "", parse_hyperfine)
    assert "cannot start" in str(run_peer(absent, 0).reason)


def test_a_peer_that_hangs_or_prints_for_ever_is_stopped_with_its_children(tmp_path, alive):
    pids = tmp_path / "pids"
    hanging = script(tmp_path, f"sleep 60 & echo $! $$ > {pids}; wait")
    began = time.monotonic()
    measured = run_peer(hanging, 0, timeout_s=0.5)
    assert time.monotonic() - began < 20
    assert "gave no answer" in str(measured.reason)
    assert not any(alive(int(pid)) for pid in pids.read_text().split())
    assert run_peer(script(tmp_path, "while :; do echo 0123456789; done"), 0, timeout_s=20).figures_ns == {}


def test_a_wish_to_stop_ends_a_peer(tmp_path):
    read_fd, write_fd = os.pipe()
    os.write(write_fd, b"!")
    measured = run_peer(script(tmp_path, "sleep 60"), 0, interrupt_fd=read_fd)
    os.close(read_fd)
    os.close(write_fd)
    assert measured.reason == "peer was interrupted"


def test_peers_have_their_turns_evenly(tmp_path):
    programs = [script(tmp_path, "echo 5 usecs/op", name) for name in ("one", "two")]
    peers = Interleaved(programs, targets=4)
    for number in range(8):
        peers(number, None)
    assert [(run.program.name, run.started_ns) for run in peers.runs] == [
        ("one", 1),
        ("two", 3),
        ("one", 5),
        ("two", 7),
    ]
    assert peers.series() == {"some.figure": [(1.0, 5000.0), (3.0, 5000.0), (5.0, 5000.0), (7.0, 5000.0)]}
    assert peers.absent() == {}


def test_each_peer_has_a_turn_in_the_first_round_though_others_are_given_up(tmp_path):
    absent = [script(tmp_path, "echo Unknown benchmark: x; exit 1", f"absent{number}") for number in range(3)]
    programs = [*absent, *(script(tmp_path, "echo 5 usecs/op", name) for name in "abcde")]
    peers = Interleaved(programs, targets=13)
    for number in range(13):
        peers(number, None)
    assert [run.program.name for run in peers.runs] == [program.name for program in programs]
    for number in range(13):
        peers(number, None)
    assert [run.program.name for run in peers.runs[8:]] == list("abcde")


def test_more_peers_than_targets_have_several_turns_at_once(tmp_path):
    peers = Interleaved([script(tmp_path, "echo 5 usecs/op", name) for name in "abc"], targets=1)
    peers(0, None)
    assert [run.program.name for run in peers.runs] == ["a", "b", "c"]


def test_a_peer_that_fails_twice_is_given_up_and_one_that_is_not_there_is_named(tmp_path):
    failing = script(tmp_path, "exit 1", "failing")
    absent = PeerProgram("absent", ("no-such-peer",), ("other.figure",), "apt-get install -y x", parse_hyperfine)
    peers = Interleaved([failing, absent], targets=1, search_path=str(tmp_path))
    for number in range(5):
        peers(number, None)
    assert len(peers.runs) == 2
    assert list(peers.missing) == ["absent"]
    assert peers.absent() == {
        "some.figure": ("failed", "failing ended with status 1"),
        "other.figure": ("not installed", None),
    }


def test_a_version_without_the_benchmark_is_asked_once(tmp_path):
    peers = Interleaved([script(tmp_path, "echo Unknown benchmark: x; exit 1")], targets=1)
    for number in range(3):
        peers(number, None)
    assert len(peers.runs) == 1
    assert peers.absent() == {"some.figure": ("unavailable", "this perf does not have 'peer'; newer ones do")}


def test_the_runner_calls_it_between_processes_and_not_after_a_wish_to_stop(fake_run):
    calls = []
    outcome = fake_run(between=lambda since_start_ns, interrupt_fd: calls.append((since_start_ns, interrupt_fd)))
    assert len(calls) == outcome.processes
    assert [when for when, _ in calls] == sorted(when for when, _ in calls)
    assert all(isinstance(descriptor, int) for _, descriptor in calls)
