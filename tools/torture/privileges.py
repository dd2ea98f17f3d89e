"""Privileges: ordinary users, hidden files of the kernel, and system calls that a filter refuses."""

from __future__ import annotations

import errno
import itertools
import os
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.integration import container
from tools.torture.sandbox import COMMAND, NotPossibleError, Sandbox, judge, sound_files
from tools.torture.trials import MEASURES, Trial
from tools.torture.users import become_user, installed

KIND = "privileges"
RUNS = (
    ("launch.fork", "launch.pthread", "launch.fork_exec"),
    ("launch.posix_spawn", "launch.clone3", "launch.clone3_into_cgroup"),
    ("contend.open", "work.factor", "isolate.worker"),
    ("footprint.process", "switch.pipe", "ipc.shared_memory"),
    ("wake.futex", "namespaces.all", "clock.used"),
)
COMMANDS = (
    ("explain", "launch.fork", "--processes", "2"),
    ("census", "--", "/bin/sh", "-c", "/bin/true; /bin/true"),
    ("doctor",),
    ("list",),
    ("demo", "cow"),
)
# Without them no program at all runs, ours or Python.
FILTERED = (
    "clone3", "pidfd_open", "memfd_create", "close_range", "eventfd2", "execveat", "faccessat2", "fallocate",
    "futex_waitv", "getrandom", "membarrier", "mlock", "openat2", "pidfd_send_signal", "ptrace", "rseq",
    "sched_setaffinity", "sched_setscheduler", "setns", "statx", "unshare", "vmsplice", "process_vm_readv",
    "prlimit64", "perf_event_open", "bpf", "madvise",
)  # fmt: skip
OLD_CONTAINER = ("clone3", "pidfd_open", "memfd_create", "openat2", "faccessat2", "close_range", "statx", "rseq")


def trials(order: random.Random) -> Iterator[Trial]:
    """Every filter and everything hidden, each with one run and now and then another command."""
    every = [*_filters(), *_places()]
    for turn in itertools.count():
        order.shuffle(every)
        for name, before in every:
            words = order.choice([*(("run", *run, "--budget", "1", "--out", "o.parquet") for run in RUNS), *COMMANDS])
            yield Trial(
                KIND, f"{name}/{words[0]}+{words[1] if len(words) > 1 else ''}/{turn}", partial(_try, words, before)
            )


def _try(words: tuple[str, ...], before: Callable[[], None], sandbox: Sandbox, draw: random.Random) -> list[str]:
    if os.geteuid() != 0:
        raise NotPossibleError("only root can take these away")
    os.environ["TORTURE_FOLDER"] = str(sandbox.root)
    user = become_user in (before, getattr(before, "keywords", {}).get("then"))
    command, environment = installed(sandbox.root.parent) if user else (COMMAND, {})
    ended = sandbox.run(*words, before=before, command=command, environment=environment)
    # The census passes on the status of its command; 125 where it cannot watch it, 126 where it cannot start it.
    allowed = MEASURES | ({125, 126} if words[0] == "census" else set())
    return [*judge(ended, allowed), *sandbox.leftovers(), *sound_files(sandbox, killed=ended.status < 0)]


def _filters() -> Iterator[tuple[str, Callable[[], None]]]:
    if not container.KNOWN:
        return
    for name, error in itertools.product(FILTERED, (errno.EPERM, errno.ENOSYS)):
        yield f"filter/{name}={errno.errorcode[error]}", partial(container.refuse, (name,), error)
    for error in (errno.EPERM, errno.ENOSYS):
        yield f"filter/old-container={errno.errorcode[error]}", partial(container.refuse, OLD_CONTAINER, error)
    # As kernel.yama.ptrace_scope=3, which no running kernel takes back, and a profile that knows no new call.
    yield "filter/yama-3", partial(container.refuse, ("ptrace", "process_vm_readv"), errno.EPERM)
    yield (
        "filter/no-new-calls",
        partial(container.refuse, ("clone3", "pidfd_open", "perf_event_open", "bpf"), errno.EPERM),
    )
    yield "container", container.enter


def _places() -> Iterator[tuple[str, Callable[[], None]]]:
    yield "user", become_user
    for place in ("/sys/fs/cgroup", "/proc", "/sys", "/dev/shm"):
        yield f"hidden/{place}", partial(_hide, place)
        yield f"hidden/{place}/user", partial(_hide, place, then=become_user)
    yield "hidepid/user", partial(_hide_others, then=become_user)
    yield "user-namespace/root", partial(_enter_user_namespace, 0)
    yield "user-namespace/nobody", partial(_enter_user_namespace, 65_534)


def _hide(place: str, then: Callable[[], None] | None = None) -> None:
    empty = f"{os.environ['TORTURE_FOLDER']}/empty"
    Path(empty).mkdir(exist_ok=True)
    container.change_mounts((place, empty))
    if then is not None:
        then()


def _hide_others(then: Callable[[], None]) -> None:
    container.change_mounts()
    container.mount("proc", "/proc", "proc", "hidepid=2")
    then()


def _enter_user_namespace(inside: int) -> None:
    """Go into a user namespace where this user alone has a name, as rootless containers begin."""
    outside = os.geteuid(), os.getegid()
    container.unshare(container.NEW_USERS)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{inside} {outside[0]} 1")
    Path("/proc/self/gid_map").write_text(f"{inside} {outside[1]} 1")
