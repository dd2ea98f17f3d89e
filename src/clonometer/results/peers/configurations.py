"""What each peer measures, in Clonometer's words: the cell, the stage and the statistic that mean the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from clonometer.records import OneOf, Positive

#: What figures are of.
WORDS = ("fork", "vfork", "thread", "exec", "switch", "message", "system call")

_FORK = "launch.fork[linkage=dynamic_lazy,placement=free,temperature=warm]"
_FORK_EXIT = "launch.fork[linkage=dynamic_lazy,placement=free,process_ending=exit,temperature=warm]"
_FORK_NOW = "launch.fork[linkage=dynamic_now,placement=free,temperature=warm]"
_VFORK = "launch.vfork[linkage=dynamic_now,placement=free,temperature=warm]"
_THREAD = "launch.pthread[linkage=dynamic_lazy,placement=free,temperature=warm]"
_THREAD_NOW = "launch.pthread[linkage=dynamic_now,placement=free,temperature=warm]"
_EXEC = "launch.fork_exec[linkage=dynamic_lazy,placement=free,temperature=warm]"
_EXEC_TRUE = "launch.fork_exec[linkage=dynamic_lazy,placement=free,program=/bin/true,temperature=warm]"
_SPAWN_TRUE = "launch.posix_spawn[linkage=dynamic_now,placement=free,program=/bin/true,temperature=warm]"
_PIPE = "switch.pipe[linkage=dynamic_lazy,placement=free,task_kind=process]"
_SOCKET = "ipc.unix_socket[linkage=dynamic_lazy,message_bytes=100,placement=free,task_kind=process]"
_CLOCK = "clock.realtime_coarse[path=syscall]"

_CROWD = "its 40 processes share the CPUs and all sockets at once, and its time includes starting and ending them"
_LARGE = "is a large program: fork copies the page tables and mappings of the program and of all its libraries"


@dataclass(frozen=True)
class PeerConfiguration:
    """What a peer measures, in Clonometer's words."""

    id: Annotated[str, "PEER.FIGURE."]
    word: Annotated[str, OneOf(WORDS), "What the peer calls it."]
    peer: str
    measures: Annotated[str, "How it takes the figure."]
    cell: Annotated[str, "Of the plan peers."]
    column: Annotated[str, "The quantity of that cell."]
    statistic: Annotated[
        str,
        OneOf(("mean", "median", "best batch", "rate")),
        "Of each of our processes; the row has the median of these.",
    ]
    why: Annotated[str, "What explains a difference, where there is one; empty where no program of it can be run here."]
    times: Annotated[Positive, "How many of ours make one of theirs: a round trip is two hand-overs."] = 1


CONFIGURATIONS: tuple[PeerConfiguration, ...] = (
    PeerConfiguration(
        "bendersky.fork", "fork", "Bendersky 2018", "until the call returns, mean",
        _FORK, "call_returns_ns", "mean", "",
    ),
    PeerConfiguration(
        "osbench.fork", "fork", "osbench", "100 launched, then 100 reaped; best batch",
        _FORK, "reaped_ns", "best batch", "",
    ),
    PeerConfiguration(
        "libmicro.fork", "fork", "libMicro", "until parent and child have met, median",
        _FORK, "task_runs_ns", "median", "",
    ),
    PeerConfiguration(
        "unixbench.spawn", "fork", "UnixBench", "launches until reaped, in a fixed time",
        _FORK, "reaped_ns", "rate", "",
    ),
    PeerConfiguration(
        "google_benchmark.fork", "fork", "google/benchmark", "until reaped, mean",
        _FORK, "reaped_ns", "mean", "",
    ),
    PeerConfiguration(
        "mmtests.fork", "fork", "mmtests (saladfork)", "until reaped, mean",
        _FORK, "reaped_ns", "mean", "",
    ),
    PeerConfiguration(
        "lmbench.fork", "fork", "lmbench", "until reaped; the child calls exit; median of means",
        _FORK_EXIT, "reaped_ns", "mean", "its parent is itself a forked copy of the benchmark",
    ),
    PeerConfiguration(
        "perf.fork", "fork", "perf bench", "until reaped; the child calls exit; mean",
        _FORK_EXIT, "reaped_ns", "mean", f"perf {_LARGE}",
    ),
    PeerConfiguration(
        "stress-ng.fork", "fork", "stress-ng", "operations per second: launch, the child's work, wait",
        _FORK_NOW, "reaped_ns", "rate", f"stress-ng {_LARGE}; its child does more before it exits",
    ),
    PeerConfiguration(
        "stress-ng.vfork", "vfork", "stress-ng", "operations per second: launch, wait",
        _VFORK, "reaped_ns", "rate", "its rate includes other work of parent and child, and the waiting loop",
    ),
    PeerConfiguration(
        "bendersky.pthread", "thread", "Bendersky 2018", "until the call returns, mean",
        _THREAD, "call_returns_ns", "mean", "",
    ),
    PeerConfiguration(
        "osbench.pthread", "thread", "osbench", "100 launched, then 100 joined; best batch",
        _THREAD, "reaped_ns", "best batch", "",
    ),
    PeerConfiguration(
        "libmicro.pthread", "thread", "libMicro", "until parent and thread have met, median",
        _THREAD, "task_runs_ns", "median", "",
    ),
    PeerConfiguration(
        "stress-ng.pthread_start", "thread", "stress-ng", "until the thread runs, mean, of 1,000 at once",
        _THREAD_NOW, "task_runs_ns", "mean", "each thread queues behind up to 1,000 others before it runs",
    ),
    PeerConfiguration(
        "stress-ng.pthread", "thread", "stress-ng", "operations per second, of 1,000 at once",
        _THREAD_NOW, "reaped_ns", "rate", "1,000 threads exist at once, each on a new stack and behind one mutex",
    ),
    PeerConfiguration(
        "osbench.exec", "exec", "osbench", "fork and exec, 100 at once; best batch",
        _EXEC, "reaped_ns", "best batch", "",
    ),
    PeerConfiguration(
        "lmbench.exec", "exec", "lmbench", "fork and exec of a small program; median of means",
        _EXEC, "reaped_ns", "mean", "its program is dynamic, Clonometer's is static",
    ),
    PeerConfiguration(
        "posix_spawn_bench.spawn", "exec", "posix_spawn_bench", "posix_spawn until reaped, mean",
        _SPAWN_TRUE, "reaped_ns", "mean", "",
    ),
    PeerConfiguration(
        "perf.execve", "exec", "perf bench", "fork and execve of /bin/true until reaped, mean",
        _EXEC_TRUE, "reaped_ns", "mean", f"perf {_LARGE}",
    ),
    PeerConfiguration(
        "hyperfine.true", "exec", "hyperfine", "a spawn of /bin/true until it has exited, mean",
        _SPAWN_TRUE, "reaped_ns", "mean", "its clock also covers preparing the command and redirecting its output",
    ),
    PeerConfiguration(
        "perf.pipe", "switch", "perf bench", "a round trip of four bytes between two processes, mean",
        _PIPE, "handover_ns", "mean", "its two processes are not pinned, so they may run on one CPU or two, as may "
        "Clonometer's", 2,
    ),
    PeerConfiguration(
        "perf.messaging", "message", "perf bench", "20 processes send 100 bytes to each of 20 others, per message",
        _SOCKET, "stream_ns", "mean", _CROWD,
    ),
    PeerConfiguration(
        "hackbench.messaging", "message", "hackbench", "20 processes send 100 bytes to each of 20 others, per message",
        _SOCKET, "stream_ns", "mean", _CROWD,
    ),
    PeerConfiguration(
        "perf.getppid", "system call", "perf bench", "getppid(), mean",
        _CLOCK, "cost_ns", "mean", "a different system call: Clonometer's reads a clock and writes two words to user "
        "memory",
    ),
    PeerConfiguration(
        "clonometer.fork", "fork", "Clonometer's default", "until reaped, pinned, static, median",
        "launch.fork[temperature=warm]", "reaped_ns", "median", "",
    ),
    PeerConfiguration(
        "clonometer.pthread", "thread", "Clonometer's default", "until joined, pinned, static, median",
        "launch.pthread[temperature=warm]", "reaped_ns", "median", "",
    ),
)  # fmt: skip
