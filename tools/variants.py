"""`make variants`: the tests that may end otherwise elsewhere, on machines made of this one: poorer, or ordinary.

One line a variant: ok with its counts and why tests were skipped, FAILED with what pytest says, or why the variant
cannot be made here. Nothing outside the tests' own processes changes. VARIANT=name runs one.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.integration import container

from tools import poorer

# One more than there are processors, since they often wait: for the kernel to forget a tracer, above all.
AT_A_TIME = 1 + (os.cpu_count() or 1)
ENTER = "--enter"  # what this program starts itself with to become one of a variant
NOT_POSSIBLE = 77
MOST_REASONS = 4
# What may end otherwise: facts of the machine, launches by every call, tracing, watching, the whole command.
EXPLAIN, CENSUS = "tests/integration/test_explain.py", "tests/integration/test_census.py"
CENSUS_START = "tests/integration/test_census_start.py"
SURROUNDINGS = "tests/integration/test_surroundings.py"
FLAGS = "tests/integration/test_flags.py"
# Of the host what looks at the real one: most of its tests read trees that they make.
REAL_HOST = tuple(f"tests/host/test_{name}.py" for name in ("facts", "runtime", "target", "strangers"))
LAUNCHING = (*REAL_HOST, "tests/integration/test_launches.py")
WHOLE = (
    f"{CENSUS}::test_threads_and_children_are_counted_by_mechanism",
    f"{CENSUS_START}::test_a_process_that_ends_meanwhile_ends_its_census",
    f"{CENSUS}::test_an_ordinary_user_gets_what_ptrace_tells",
    f"{SURROUNDINGS}::test_as_an_ordinary_user",
)
TESTS = (*LAUNCHING, FLAGS, EXPLAIN, *WHOLE)
# What others hear who may listen, and how languages launch: where that may be seen at all it is the same.
SAME_EVERYWHERE = (
    f"{EXPLAIN}::test_whoever_listens_by_perf_meanwhile_misses_nothing",
    f"{EXPLAIN}::test_a_launch_of_a_language_is_traced_whatever_thread_makes_it",
)
LITTLE_MEMORY = {
    f"{EXPLAIN}::test_an_ordinary_user_who_may_lock_little_memory_gets_smaller_rings": "there are no rings to be small"
}


@dataclass(frozen=True)
class Variant:
    """Another machine: what makes it, whether that takes root, and tests that make no sense on it, with the reason."""

    make: Callable[[], None]
    root: bool = True
    filters: bool = False
    tests: tuple[str, ...] = TESTS
    left_out: Mapping[str, str] = field(default_factory=dict)


# What looks at something global: mounts, tasks, descriptors.
GLOBAL = ("tests/integration/alone/test_private_mounts.py", "tests/integration/alone/test_leftovers.py")
VARIANTS: dict[str, Variant] = {
    "ordinary-machine": Variant(poorer.on_an_ordinary_machine, tests=(*LAUNCHING, EXPLAIN, *WHOLE, *GLOBAL)),
    "no-tracefs": Variant(poorer.without_tracefs, filters=True),
    "ordinary-user": Variant(poorer.as_an_ordinary_user),
    "no-perf-events": Variant(poorer.without_perf_events, root=False, filters=True, left_out=LITTLE_MEMORY),
    # From the next one it differs by the errors of two calls, neither of which is traced.
    "old-container": Variant(poorer.in_an_old_container, root=False, filters=True, tests=(*LAUNCHING, FLAGS, *WHOLE)),
    "old-kernel": Variant(poorer.on_an_old_kernel, root=False, filters=True),
    # What flags the kernel receives depends on none of these.
    "one-cpu": Variant(poorer.on_one_cpu, root=False, tests=(*LAUNCHING, EXPLAIN, *WHOLE)),
    "no-cgroupfs": Variant(poorer.without_cgroupfs, tests=(*LAUNCHING, *WHOLE)),
    "hidden-proc": Variant(poorer.as_an_ordinary_user_who_sees_only_his_own_tasks, tests=(*LAUNCHING, EXPLAIN, *WHOLE)),
    # Most other tests look into /proc themselves.
    "empty-proc": Variant(
        poorer.with_an_empty_proc,
        tests=(*LAUNCHING, FLAGS, f"{SURROUNDINGS}::test_as_an_ordinary_user"),
        left_out={
            "tests/host/test_facts.py::test_this_machine_tells_the_essential": "the essential is read in /proc",
            "tests/host/test_runtime.py": "files that strangers name are opened by /proc/self/fd",
            "tests/host/test_strangers.py": "as of test_runtime",
            "tests/integration/test_launches.py::test_what_preparing_needed_of_the_stack_is_not_copied_by_forks": "it "
            "looks into /proc",
            "tests/integration/test_launches.py::"
            "test_a_program_is_given_arguments_and_variables_of_the_size_that_is_asked_for": "the program "
            "that is given them reads them in /proc",
        },
    ),
}


def enter(name: str, arguments: list[str]) -> int:
    """Become one of this variant, then pytest; 77 with the reason where this machine does not let that happen."""
    variant = VARIANTS[name]
    if variant.root and os.geteuid() != 0:
        sys.stderr.write("only root can make it\n")
        return NOT_POSSIBLE
    if variant.filters and not container.KNOWN:
        sys.stderr.write("no filter of system calls is written for this architecture\n")
        return NOT_POSSIBLE
    try:
        variant.make()
    except OSError as error:
        sys.stderr.write(f"{error.strerror or error}\n")
        return NOT_POSSIBLE
    return os.execv(sys.executable, [sys.executable, "-m", "pytest", *arguments])


def run(name: str) -> tuple[bool, str]:
    """Run the tests on this variant; whether it is sound, and the line that says so."""
    variant = VARIANTS[name]
    with tempfile.TemporaryDirectory(prefix="variant-") as folder:
        Path(folder).chmod(0o1777)
        written = Path(folder, "junit.xml")
        command = [sys.executable, "-m", "tools.variants", ENTER, name, "-q", "-p", "no:cacheprovider"]
        command += [f"--junitxml={written}", "--basetemp", f"{folder}/tests", *variant.tests]
        command += [word for test in (*SAME_EVERYWHERE, *variant.left_out) for word in ("--deselect", test)]
        began = time.monotonic()
        ended = subprocess.run(
            command,
            check=False,
            cwd=poorer.PROJECT,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        seconds = time.monotonic() - began
        if ended.returncode == NOT_POSSIBLE:
            return True, f"not possible here: {name}: {ended.stdout.strip()}"
        if ended.returncode != 0 or not written.exists():
            return False, f"{ended.stdout}\nFAILED  {name} ({seconds:.0f} s), again: make variants VARIANT={name}"
        return True, f"ok      {name}: {counted(written, variant.left_out)} ({seconds:.0f} s)"


def counted(written: Path, left_out: Mapping[str, str]) -> str:
    """How many tests passed, were skipped and left out, and why."""
    cases = list(ET.parse(written).getroot().iter("testcase"))
    reasons = [plain(skip.get("message") or "") for case in cases for skip in case.iter("skipped")]
    text = f"{len(cases) - len(reasons)} passed, {len(reasons)} skipped"
    common = collections.Counter(reasons).most_common()
    parts = [f"{count} {reason}" for reason, count in common[:MOST_REASONS]]
    if len(common) > MOST_REASONS:
        parts.append(f"{sum(count for _, count in common[MOST_REASONS:])} for other reasons")
    parts += [f"left out {test.rpartition('::')[2]}: {reason}" for test, reason in left_out.items()]
    return text + (f": {'; '.join(parts)}" if parts else "")


def plain(reason: str) -> str:
    """A reason without numbers that differ from test to test, short enough for a line."""
    text = re.sub(r"\b[0-9]{3,}\b", "N", " ".join(reason.split()))
    return text if len(text) <= 100 else f"{text[:97]}..."


def main() -> int:
    """Run the variants named, or all of them; 1 where one of them fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="VARIANT", help=f"one of {', '.join(VARIANTS)}")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(VARIANTS):
        parser.error(f"no such variant: {', '.join(sorted(unknown))}")
    failed = shown(arguments.names or list(VARIANTS), AT_A_TIME)
    if failed:
        sys.stdout.write("what failed beside others is asked again alone\n")
        failed = shown(failed, 1)
    return 1 if failed else 0


def shown(names: list[str], at_a_time: int) -> list[str]:
    """Run these variants and write their lines; the names of those that failed."""
    failed = []
    with ThreadPoolExecutor(at_a_time) as pool:
        for name, (good, line) in zip(names, pool.map(run, names), strict=True):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
            failed += [] if good else [name]
    return failed


if __name__ == "__main__":
    sys.exit(enter(sys.argv[2], sys.argv[3:]) if sys.argv[1:2] == [ENTER] else main())
