"""False alarms of ``clonometer budget``: ten programs whose limits are recorded, and which then run 20 times each.

Each is an ordinary program of one language or tool that launches others. ``BENCH_RUNS=5`` runs each less often.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from bench.harness import Line, say
from clonometer.app.budget import budget, record_budget
from clonometer.tracing.launch_limits import LaunchLimits

RUNS = int(os.environ.get("BENCH_RUNS", "20"))

_MAKEFILE = """\
all: a b c d
%: %.c
\t$(CC) -o $@ $<
clean:
\trm -f a b c d
"""
#: Each with what must be installed, and its command; in a folder that has a checkout and four C files.
PROGRAMS = {
    "make": ("gcc", ["sh", "-c", "make -s clean && make -s"]),
    "make -j2": ("gcc", ["sh", "-c", "make -s clean && make -s -j2"]),
    "bash": ("bash", ["bash", "-c", 'for f in *.c; do n=$(basename "$f" .c); wc -l < "$f"; done | sort | uniq -c']),
    "git": ("git", ["git", "log", "-p", "--stat"]),
    "find": ("find", ["find", ".", "-name", "*.c", "-exec", "grep", "-c", "main", "{}", ";"]),
    "python": ("python3", ["python3", "-c", "import subprocess\nfor _ in range(9): subprocess.run(['true'])"]),
    "python pool": (
        "python3",
        ["python3", "-c", "import multiprocessing as m\nwith m.Pool(2) as p: p.map(abs, range(9))"],
    ),
    "node": ("node", ["node", "-e", "const c=require('child_process'); for (let i=0;i<5;i++) c.execFileSync('true')"]),
    "ruby": ("ruby", ["ruby", "-e", "5.times { system('true'); `date` }"]),
    "perl": ("perl", ["perl", "-e", "system('true') for 1..5; my $d = `date`; exit 0"]),
}


def run() -> Iterator[Line]:
    alarms = runs = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _fill(folder)
        before = Path.cwd()
        os.chdir(folder)
        try:
            for program, (needed, command) in PROGRAMS.items():
                if shutil.which(needed) is None:
                    print(f"{program}: left out: {needed} is not here")
                    continue
                line = _alarms(program, command)
                alarms, runs = alarms + int(line.value), runs + RUNS
                yield say(line)
        finally:
            os.chdir(before)
    yield say(Line("launch_budgets.alarms", alarms, alarms, alarms, 0, "alarms", f"of {runs} runs"))


def _alarms(program: str, command: list[str]) -> Line:
    recorded = record_budget(command)
    written = tomllib.loads(recorded.text)
    limits = LaunchLimits(written["launches"], written["programs"])
    answers = [budget(command, limits, output_to_stderr=True) for _ in range(RUNS)]
    alarms = sum(bool(answer.exceeded) for answer in answers)
    note = f"{len(answers[0].limits)} limits; not limited: {', '.join(recorded.varying) or 'nothing that varied'}"
    return Line(f"launch_budgets.{program}", alarms, alarms, alarms, 0, "alarms", note)


def _fill(folder: Path) -> None:
    for name in "abcd":
        (folder / f"{name}.c").write_text("int main(void) { return 0; }\n")
    (folder / "Makefile").write_text(_MAKEFILE)
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
