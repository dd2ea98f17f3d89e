"""Strangers: a fleet of hosts that lie, each in one way, beside some that do not, in one run over a false ``ssh``."""

from __future__ import annotations

import itertools
import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

from tests.plans import write_small_plan
from tools.torture import lies
from tools.torture.sandbox import MOST_RSS_BYTES, Command, Sandbox, descendants, judge, most_resident
from tools.torture.trials import Trial

KIND = "strangers"
HONEST = ("honest1", "honest2")
# A round may take so long for each host, and one answer so long; a host that says nothing is asked three times who it
# is. Those who measure are late where eight measure at once on two processors, and those who are silent only wait.
_LATE_S, _PATIENCE_S, _AT_ONCE = 25, 3, 8
_BOUND_S = 300.0
_LONGEST_REASON = 320


def trials(order: random.Random) -> Iterator[Trial]:
    """All lies in one fleet, again and again."""
    for turn in itertools.count():
        yield Trial(KIND, f"fleet/{turn}", _fleet)


def _fleet(sandbox: Sandbox, draw: random.Random) -> list[str]:
    hosts = [*HONEST, *lies.NAMES]
    draw.shuffle(hosts)
    programs, homes, bait = sandbox.root / "programs", sandbox.root / "hosts", sandbox.temporary
    for folder in (programs, homes):
        folder.mkdir()
    _lay(bait)
    ssh = programs / "ssh"
    ssh.write_text(lies.ssh())
    ssh.chmod(0o755)
    (sandbox.folder / "hosts").write_text("\n".join(hosts))
    write_small_plan(sandbox.folder / "plan.toml", budget_s=1, processes=3)
    before = _tree(sandbox.root)
    command = sandbox.start(
        "fleet", "run", "--plan", "plan.toml", "--hosts", "hosts", "--rounds", "1", "--retries", "0",
        "--at-once", str(_AT_ONCE), "--late", f"{_LATE_S}s", "--patience", f"{_PATIENCE_S}s", "--gone", "2s",
        "--wait", "2s", "--out", "out", "--json",
        environment={"PATH": f"{programs}:{os.environ['PATH']}", "HOSTS": str(homes), lies.BAIT: str(bait)},
    )  # fmt: skip
    most_bytes = _watch(command)
    ended = command.wait(_BOUND_S)
    faults = judge(ended, {4})
    if most_bytes > MOST_RSS_BYTES:
        faults.append(f"a process of the fleet had {most_bytes >> 20} MiB in memory")
    faults += [f"{change} in {path}" for path, change in _changes(before, _tree(sandbox.root)) if _is_foreign(path)]
    _take_up(bait)
    return [*faults, *sandbox.leftovers(), *([] if ended.hung else _answered(ended.out, sandbox))]


def _watch(command: Command) -> int:
    """The most memory of any process below the command, until that ends or must be hanging."""
    most_bytes = 0
    while command.running() and command.seconds() < _BOUND_S:
        most_bytes = max(most_bytes, *(most_resident(pid) for pid in [command.pid, *descendants(command.pid)]))
        time.sleep(0.3)
    return most_bytes


def _answered(answer: str, sandbox: Sandbox) -> list[str]:
    """What does not hold of the answer: the honest are measured, each liar is there with a short reason."""
    hosts = {host["host"]: host for host in json.loads(answer)["hosts"]}
    faults = [
        f"{host} is {hosts[host]['state']}: {hosts[host]['reason']}"
        for host in HONEST
        if hosts[host]["state"] != "measured"
    ]
    for name in lies.NAMES:
        reason = hosts.get(name, {}).get("reason") or ""
        if name not in hosts:
            faults.append(f"nothing is said of {name}")
        elif len(reason) > _LONGEST_REASON or not reason.isprintable():
            faults.append(f"{name}: a reason of {len(reason)} characters: {reason[:80]!r}")
        elif hosts[name]["state"] != "measured" and not reason:
            faults.append(f"{name}: no reason")
    if not list((sandbox.folder / "out").glob("fleet-*.json")):
        faults.append("there is no fleet-ID.json")
    return faults


_BAITS = ("clonometer-master", "clonometer-abcdef", "clonometer.7", "precious")


def _lay(folder: Path) -> None:
    for name in _BAITS:
        (folder / name).mkdir()
        (folder / name / "file").write_text("as it was")


def _take_up(folder: Path) -> None:
    for name in _BAITS:
        if (folder / name / "file").exists():
            (folder / name / "file").unlink()
            (folder / name).rmdir()


def _tree(root: Path) -> dict[Path, int]:
    """Every file below a folder, and when it was written."""
    return {path.relative_to(root): path.lstat().st_mtime_ns for path in root.rglob("*") if not path.is_dir()}


def _changes(before: dict[Path, int], after: dict[Path, int]) -> Iterator[tuple[Path, str]]:
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            yield path, "deleted" if path not in after else "written"


def _is_foreign(path: Path) -> bool:
    """Whether a fleet's run has no business there: its answer, its own output and what hosts keep at home aside."""
    return path.parts[0] not in ("out", "err", "hosts", "data") and path.parts[:2] != ("work", "out")
