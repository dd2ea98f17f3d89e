"""What a machine may forbid: the tier that is taken instead, what is said of it, and that nothing stays.

Sysctls and mounts of the machine are not touched: each command gets mounts of its own, with made files where the real
ones would be, and a filter that refuses what a kernel in that state refuses.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hasty import EXPLAINING
from tests.integration import container
from tests.integration.leftovers import nothing_left
from tests.integration.started import as_nobody, tracing_files
from tests.integration.test_surroundings import HERE, Installed, ordinary  # noqa: F401 (a fixture)

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may have mounts of his own"),
    pytest.mark.skipif(not container.KNOWN, reason="no filter is written for this architecture"),
]

PARANOID = "/proc/sys/kernel/perf_event_paranoid"
# Where tracefs may be mounted, and what a private mount takes: each case forbids what it is about by itself.
TRACEFS = ("/sys/kernel/tracing", "/sys/kernel/debug")
MOUNTING = ("fsopen", "mount")
# The command, which launches less often while somebody listens: that takes no other way.
IN_A_HURRY = "\n".join(
    [
        *(f"import {module.__name__}; {module.__name__}.{name} = {value!r}" for module, name, value in EXPLAINING),
        "from clonometer.cli.start import main; main()",
    ]
)


@dataclass(frozen=True)
class Case:
    """A machine: who asks, what it forbids, the tiers of explain that may come of it, and words that must be said."""

    tiers: tuple[str, ...]
    how: str
    words: tuple[str, ...]
    as_nobody: bool = False
    paranoid: str | None = None
    lockdown: str | None = None
    empty: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    error: int = errno.EPERM


CASES = {
    "paranoid 2": Case(
        ("own",), "ptrace", ("perf_event_paranoid is 2", "CAP_PERFMON"), as_nobody=True, paranoid="2"
    ),
    # Debian's and Android's levels, at which the kernel gives nothing at all to ordinary users.
    "paranoid 3": Case(
        ("stamps",), "ptrace", ("perf_event_paranoid is 3",), as_nobody=True, paranoid="3",
        refused=("perf_event_open",), error=errno.EACCES,
    ),
    "paranoid 4": Case(
        ("stamps",), "ptrace", ("perf_event_paranoid is 4",), as_nobody=True, paranoid="4",
        refused=("perf_event_open",), error=errno.EPERM,
    ),
    "a seccomp filter": Case(("stamps",), "ptrace", ("seccomp",), refused=("perf_event_open", "bpf")),
    "a kernel without perf": Case(
        ("stamps",), "ptrace", ("does not have perf_event_open",), refused=("perf_event_open", "bpf"),
        error=errno.ENOSYS,
    ),
    "bpf alone is refused": Case(("tracepoints",), "tracepoints", ("bpf",), refused=("bpf",)),
    "lockdown, perf and bpf": Case(
        ("stamps",), "ptrace", ("locked down (confidentiality)",), refused=("perf_event_open", "bpf"),
        lockdown="none integrity [confidentiality]",
    ),
    "lockdown, tracefs": Case(
        ("own",), "ptrace", ("locked down (confidentiality)",), empty=TRACEFS, refused=MOUNTING,
        lockdown="none integrity [confidentiality]",
    ),
    "tracefs is not mounted": Case(("tracepoints",), "tracepoints", (), empty=TRACEFS),
    "not mounted, an old kernel": Case(
        ("tracepoints",), "tracepoints", (), empty=TRACEFS, refused=("fsopen",), error=errno.ENOSYS
    ),
    "not mounted, no mounting": Case(
        ("own",), "ptrace", ("Operation not permitted", "mount -t tracefs tracefs /sys/kernel/tracing"), empty=TRACEFS,
        refused=MOUNTING,
    ),
    "a kernel without tracefs": Case(
        ("own",), "ptrace", ("CONFIG_FTRACE",), empty=TRACEFS, refused=MOUNTING, error=errno.ENODEV
    ),
    "no BTF": Case(("tracepoints",), "tracepoints", (), empty=("/sys/kernel/btf",)),
}  # fmt: skip


@pytest.fixture(params=CASES)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Case, Installed]:
    """A case, and a way to start commands in it."""
    case = CASES[request.param]
    if int(Path(PARANOID).read_text()) < 2 and case.as_nobody:
        pytest.skip("this kernel forbids ordinary users nothing, whatever a file says")
    given: Installed = request.getfixturevalue("ordinary") if case.as_nobody else HERE
    changes = [(place, str(made(tmp_path / "empty"))) for place in case.empty if Path(place).is_dir()]
    if case.paranoid is not None:
        changes.append((PARANOID, str(made(tmp_path / "paranoid", case.paranoid))))
    if case.lockdown is not None:
        if not Path("/sys/kernel/security").is_dir():
            pytest.skip("there is no place for securityfs")
        made(tmp_path / "security" / "lockdown", case.lockdown)
        changes.append(("/sys/kernel/security", str(tmp_path / "security")))

    def before() -> None:
        container.change_mounts(*changes)
        if case.refused:
            container.refuse(case.refused, case.error)
        if case.as_nobody:
            as_nobody()()

    return case, Installed(given.python, given.modules, before)


def made(place: Path, text: str | None = None) -> Path:
    """A file with this text, or an empty folder."""
    if text is None:
        place.mkdir(exist_ok=True)
    else:
        place.parent.mkdir(exist_ok=True)
        place.write_text(text + "\n")
    return place


def _mounts() -> list[str]:
    """Those of the kernel's files, such as tracefs: other tests mount disks and networks meanwhile."""
    lines = Path("/proc/self/mounts").read_text().splitlines()
    return [line for line in lines if line.split()[2] in ("tracefs", "debugfs", "bpf", "securityfs", "cgroup", "proc")]


def run(installed: Installed, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command; afterwards nothing may be attached, mounted or enabled that was not before."""
    enabled = [name.read_text() for name in tracing_files()]
    mounts = _mounts()
    with nothing_left(folder) as trace:
        ended = subprocess.run(
            [installed.python, "-c", IN_A_HURRY, *words],
            cwd=folder,
            env={**os.environ, **trace.environ, "PYTHONPATH": installed.modules, "COLUMNS": "80"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=150,
            preexec_fn=installed.before,
        )
    assert "Traceback" not in ended.stderr
    # Perf events and BPF programs are held by descriptors, which went with the tasks that had them.
    assert _mounts() == mounts
    assert [name.read_text() for name in tracing_files()] == enabled
    return ended


def answer_of(ended: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


def test_the_tier_is_chosen_and_named_and_the_rest_is_said(machine: tuple[Case, Installed], tmp_path: Path) -> None:
    case, installed = machine
    ended = run(installed, tmp_path / "work", "explain", "launch.fork", "--processes", "1", "--json")
    assert ended.returncode == 0, ended.stderr
    answer = answer_of(ended)
    assert answer["tier"]["name"] in case.tiers, answer["tier"]
    reasons = " ".join(answer["tier"]["refused"].values())
    assert all(words in reasons for words in case.words), reasons
    assert bool(reasons) == bool(case.words)
    assert answer["tier"]["cannot_see"]
    if answer["tier"]["name"] != "tracepoints":
        # Calls come from ptrace, whose times are said to be too long; counters take tracepoints.
        assert {call["call"] for call in answer["system_calls"]} >= {"exit_group"}
        assert answer["system_calls_inflated"] is True
        assert any("ptrace" in note for note in answer["notes"])
        assert answer["counters"]["reason"]
    assert answer["unexplained"] <= 1


def test_a_census_takes_the_best_way_that_is_left(machine: tuple[Case, Installed], tmp_path: Path) -> None:
    case, installed = machine
    ended = run(installed, tmp_path / "work", "census", "--json", "--", "sh", "-c", "/bin/true; (exit 0); exit 3")
    assert ended.returncode == 3, ended.stderr
    answer = answer_of(ended)
    # A shell may run what it likes without a task of its own, but not these two.
    assert (answer["tasks_created"], answer["exit_status"]) == (2, 3)
    assert answer["how"] == case.how
    if case.how == "ptrace":
        assert all(words in answer["without"] for words in case.words), answer["without"]


def test_a_tier_that_is_asked_for_by_name_is_not_exceeded(tmp_path: Path) -> None:
    ended = run(HERE, tmp_path / "work", "explain", "launch.fork", "--processes", "1", "--tier", "stamps", "--json")
    assert (ended.returncode, answer_of(ended)["tier"]["name"]) == (0, "stamps")
