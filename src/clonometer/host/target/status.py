"""What a process is at a moment, by its status and stat: whom it belongs to, its state, its memory in counters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from clonometer.errors import UsageError, VanishedError
from clonometer.host.source import FactUnavailable, Source, sizes_of

_KTHREAD = 0x00200000  # PF_KTHREAD of include/linux/sched.h


@dataclass(frozen=True)
class ProcessStatus:
    """A process at a moment.

    Attributes
    ----------
    pid, name
        Its number, and its name as the kernel has it (15 characters).
    state
        The letter of ps: R, S, D, T (stopped), t (stopped by a tracer), ...
    started_ticks
        When it was started, in ticks since boot: tells it from a later process of the same number.
    user_id
        The real user, whose tasks RLIMIT_NPROC counts.
    capabilities
        The effective ones, as a mask.
    threads
        The first included.
    inner_pids
        Its numbers in the PID namespaces below ours, from the outermost to its own.
    tracer_pid
        Who traces it; 0: nobody.
    fd_slots
        Room of its table of descriptors.
    counters
        Lines of status that count memory (``RssAnon``, ``VmPTE``, ...), in bytes.
    """

    pid: int
    name: str
    state: str
    started_ticks: int
    user_id: int
    capabilities: int
    threads: int
    inner_pids: tuple[int, ...]
    tracer_pid: int
    fd_slots: int
    counters: Mapping[str, int]

    @property
    def rss_bytes(self) -> int:
        """Memory that is present, without that of hugetlbfs."""
        # Kernels before 4.5 have the sum alone.
        parts = [self.counters[name] for name in ("RssAnon", "RssFile", "RssShmem") if name in self.counters]
        return sum(parts) if parts else self.counters.get("VmRSS", 0)


def read_status(source: Source, pid: int) -> ProcessStatus:
    """Read what a process is.

    Raises
    ------
    UsageError
        If there is no such process, or it is one that never forks: a thread, a kernel thread, a zombie.
    VanishedError
        If it ends at this moment.
    """
    folder = f"/proc/{pid}"
    if not source.exists(folder):
        raise _missing(source, pid)
    try:
        status = source.fields(f"{folder}/status")
        flags, started = _of_stat(source.text(f"{folder}/stat"))
        process = _parse_status(pid, status, started)
    except FactUnavailable as lack:
        if source.exists(folder):
            raise VanishedError(f"process {pid} cannot be read: {lack}") from None
        raise vanished(pid) from None
    name = process.name
    if int(status.get("Tgid", pid)) != pid:
        raise UsageError(f"{pid} is a thread of process {status['Tgid']} ({name})", f"--pid {status['Tgid']}")
    if status.get("Kthread") == "1" or flags & _KTHREAD:
        raise UsageError(f"{pid} ({name}) is a kernel thread: it has no memory and never forks")
    if process.state in ("Z", "X"):
        raise UsageError(
            f"process {pid} ({name}) has ended: a zombie, whose parent {status.get('PPid', '')} has not waited for it"
        )
    if "VmSize" not in status:
        raise vanished(pid)
    return process


def check_unchanged(source: Source, process: ProcessStatus) -> None:
    """Raise VanishedError unless the process that was read is the one that has the number now, with its memory."""
    fresh = Source(source.root)
    folder = f"/proc/{process.pid}"
    try:
        _, started = _of_stat(fresh.text(f"{folder}/stat"))
        if started == process.started_ticks and "VmSize" in fresh.fields(f"{folder}/status"):
            return
    except FactUnavailable:
        pass
    raise vanished(process.pid)


def statuses(source: Source) -> Iterator[tuple[str, dict[str, str]]]:
    """Give number and status of each process; one that ends meanwhile is left out."""
    for name in source.names("/proc"):
        if name.isdigit():
            with suppress(FactUnavailable):
                yield name, source.fields(f"/proc/{name}/status")


def vanished(pid: int) -> VanishedError:
    """Build the error for a process that ended while it was read."""
    return VanishedError(f"process {pid} ended while it was being read", "it can no longer be read")


def _missing(source: Source, pid: int) -> UsageError:
    """Build the error for a number that nobody has here; it may be one of another PID namespace."""
    for name, status in statuses(source):
        if status.get("NSpid", "").split()[1:][-1:] == [str(pid)]:
            return UsageError(
                f"there is no process {pid} here",
                f"in its PID namespace {pid} may be what is {name} here: --pid {name}",
            )
    return UsageError(
        f"there is no process {pid} here",
        "processes of another PID namespace have other numbers there: use the number that ps shows here",
    )


def _of_stat(text: str) -> tuple[int, int]:
    """Flags and starting time; the name, in parentheses, may contain anything."""
    words = text.rpartition(")")[2].split()
    try:
        return int(words[6]), int(words[19])
    except (IndexError, ValueError):
        raise FactUnavailable("stat is cut off") from None


def _parse_status(pid: int, status: Mapping[str, str], started_ticks: int) -> ProcessStatus:
    try:
        return ProcessStatus(
            pid,
            status.get("Name", "?"),
            status["State"][:1],
            started_ticks,
            int(status["Uid"].split()[0]),
            int(status.get("CapEff", "0"), 16),
            int(status["Threads"]),
            tuple(int(number) for number in status.get("NSpid", "").split()[1:]),
            int(status.get("TracerPid", "0")),
            int(status.get("FDSize", "0")),
            sizes_of(status),
        )
    except (KeyError, ValueError, IndexError) as error:
        raise FactUnavailable(f"/proc/{pid}/status: {error}") from None
