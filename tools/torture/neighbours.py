"""Neighbours: another user of the machine beside root's census.

Nothing of theirs is believed, nothing blocks, and memory stays bounded.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tools.torture.neighbour import FALSE_WORDS
from tools.torture.sandbox import BOUND_S, Command, NotPossibleError, Sandbox, descendants, judge, most_resident
from tools.torture.trials import Trial
from tools.torture.users import USER

KIND = "neighbours"
# What a census may take more than when nobody disturbs it.
MOST_MORE_BYTES = 64 << 20
_ATTACKS = ("inject", "flood", "hold", "squat", "silence")
_SECONDS = 5.0
# Bash has a hook; the program leaves a child that goes on launching when the census has ended, and counts.
_VICTIM = """\
: victim
end=$((SECONDS + 3))
setsid bash -c ': victim; exec >daemon.log 2>&1; for i in {1..20}; do sleep 0.25; echo $i; done' &
while [ $SECONDS -lt $end ]; do /bin/true; sleep 0.01; done
echo whole
"""
_DAEMON_S, _TICKS = 20.0, 20
_PATIENCE_S = 30.0


def trials(order: random.Random) -> Iterator[Trial]:
    """Each attack once, shuffled, again and again."""
    for turn in itertools.count():
        for attack in order.sample(_ATTACKS, len(_ATTACKS)):
            yield Trial(KIND, f"{attack}/{turn}", partial(_beside, attack))


def _beside(attack: str, sandbox: Sandbox, draw: random.Random) -> list[str]:
    if os.geteuid() != 0:
        raise NotPossibleError("only root has neighbours that it can be")
    (sandbox.folder / "victim.sh").write_text(_VICTIM)
    program = sandbox.root / "neighbour.py"
    shutil.copy(Path(__file__).with_name("neighbour.py"), program)
    answer, log = sandbox.folder / "answer.json", sandbox.folder / "daemon.log"
    command = sandbox.start("census", "--no-advice", "--out", str(answer), "--", "bash", "victim.sh")
    name, quiet_bytes = _name_of_channel(command), _most_bytes(command)
    neighbour = subprocess.Popen(
        ["/usr/bin/python3", program, attack, name, str(_SECONDS)], user=USER, group=USER, extra_groups=[],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    most_bytes = quiet_bytes
    while command.running() and command.seconds() < BOUND_S:
        most_bytes = max(most_bytes, _most_bytes(command))
        time.sleep(0.02)
    ended = command.wait()
    end_s = time.monotonic() + _DAEMON_S
    while _ticks(log) < _TICKS and time.monotonic() < end_s:
        time.sleep(0.05)
    done = json.loads(neighbour.communicate(timeout=_PATIENCE_S)[0] or "{}")
    sandbox.note(f"the neighbour: {attack}: {done}; {most_bytes >> 20} MiB, {quiet_bytes >> 20} before")
    print(done, most_bytes >> 20, quiet_bytes >> 20)
    faults = judge(ended, {0})
    if "whole" not in ended.out:
        faults.append("the program did not come to its end")
    if any(words in answer.read_text() for words in (FALSE_WORDS, "/etc/shadow")):
        faults.append("a neighbour's words were believed")
    if _ticks(log) < _TICKS:
        faults.append(f"what outlives the census stopped after {_ticks(log)} of {_TICKS} launches")
    if most_bytes > quiet_bytes + MOST_MORE_BYTES:
        faults.append(f"{most_bytes >> 20} MiB in memory, {quiet_bytes >> 20} before the neighbour came")
    if done.get("heard"):
        faults.append(f"the neighbour heard {done['heard']} bytes that were meant for the census")
    if not any(done.values()):
        faults.append(f"the neighbour could do nothing: {done}")
    return [*faults, *sandbox.leftovers()]


def _name_of_channel(command: Command) -> str:
    """The name of the abstract socket that a census listens on, once its program has a hook."""
    while command.running() and command.seconds() < _PATIENCE_S:
        with contextlib.suppress(OSError):
            open_files = [str(path.readlink()) for path in Path(f"/proc/{command.pid}/fd").iterdir()]
            for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
                *_, inode, name = line.split(maxsplit=7)[-2:]
                if name.startswith("@clonometer") and f"socket:[{inode}]" in open_files:
                    return name[1:]
        time.sleep(0.02)
    raise RuntimeError("the census listens on no socket")


def _ticks(log: Path) -> int:
    with contextlib.suppress(OSError):
        return len(log.read_text().splitlines())
    return 0


def _most_bytes(command: Command) -> int:
    """The most memory that any process of a census has had so far."""
    return max(map(most_resident, [command.pid, *descendants(command.pid)]))
