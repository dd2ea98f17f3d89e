"""What tasks used themselves, by the census and by the kernel's report to their parent, which must agree."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.census import can_trace, taken, watched
from tests.integration.test_census import attached

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(shutil.which("cc") is None, reason="takes a C compiler: children without any runtime's faults"),
]

CHILDREN, PAGES = 5, 300
# Children that write PAGES pages of 4 KiB and compute for 10 ms; of each the parent writes CPU time (us) and faults.
KNOWN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double cpu_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int count, char **words) {
    long children = atol(words[1]), pages = atol(words[2]), bytes = sysconf(_SC_PAGESIZE);
    char *memory = mmap(0, (size_t)(pages * bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, (size_t)(pages * bytes), MADV_NOHUGEPAGE);
    for (long i = 0; i < children; i++) {
        struct rusage used;
        pid_t child = fork();
        if (child == 0) {
            for (long page = 0; page < pages; page++) {
                memory[page * bytes] = 1;
            }
            for (double since = cpu_ms(); cpu_ms() - since < 10;) {
            }
            _exit(0);
        }
        wait4(child, 0, 0, &used);
        printf("%ld %ld\n", used.ru_utime.tv_sec * 1000000L + used.ru_utime.tv_usec +
               used.ru_stime.tv_sec * 1000000L + used.ru_stime.tv_usec, used.ru_minflt);
    }
    return count < 3;
}
"""


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("known")
    (folder / "known.c").write_text(KNOWN)
    words = ["cc", "-O1", "-D_GNU_SOURCE", "-o", "known", "known.c"]
    subprocess.run(words, cwd=folder, check=True, timeout=60)
    return folder / "known"


def reported(known: Path, how: str) -> tuple[dict[str, float], dict[str, object], list[list[int]]]:
    """What the census says, with the whole answer, and what wait4 tells the program of each child."""
    log = known.with_name(f"{how}.log")
    answer = taken("sh", "-c", f'exec "{known}" {CHILDREN} {PAGES} >"{log}"', how=how)
    assert answer["tasks_created"] == CHILDREN
    return (
        answer["creators"][0]["used"],
        answer,
        [[int(word) for word in line.split()] for line in log.read_text().splitlines()],
    )


def test_time_and_faults_are_those_that_the_parent_is_told(known: Path) -> None:
    if not can_trace():
        pytest.skip("tracepoints may not be read here")
    used, answer, rusage = reported(known, "tracepoints")
    if used is None:
        pytest.skip(f"not known here: {answer['usage_missing']}")
    assert answer["usage_missing"] is None
    assert used["known"] == CHILDREN
    # Between its parent's report and its last switch a child may go on for a little on another CPU.
    assert used["minor_faults"] == sum(faults for _, faults in rusage) >= CHILDREN * PAGES
    cpu_us = sum(time_us for time_us, _ in rusage)
    assert cpu_us - CHILDREN <= used["cpu_ns"] / 1000 < 1.05 * cpu_us + 1000
    assert answer["sites"][0]["used"] == used
    # Those of its own start are among them: nothing is said, rather than none.
    assert answer["own_faults"] is None


def test_by_ptrace_faults_are_those_until_the_end_begins(known: Path) -> None:
    used, answer, rusage = reported(known, "ptrace")
    assert CHILDREN * PAGES <= used["minor_faults"] <= sum(faults for _, faults in rusage)
    assert used["cpu_ns"] is None
    assert answer["usage_missing"]


# Forks a child that computes for 50 ms and then sleeps: it outlives the census.
OUTLIVED = """
import os, time
input()
if os.fork() == 0:
    until = time.process_time() + 0.05
    while time.process_time() < until:
        pass
    print("used", flush=True)
    time.sleep(60)
os.wait()
"""


def test_what_a_child_has_used_so_far_is_known_where_it_outlives_the_census() -> None:
    if not can_trace():
        pytest.skip("tracepoints may not be read here")
    words, pipe = [sys.executable, "-c", OUTLIVED], subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, start_new_session=True) as parent:

        def fork() -> None:
            assert parent.stdin is not None
            assert parent.stdout is not None
            parent.stdin.write("\n")
            parent.stdin.flush()
            assert parent.stdout.readline() == "used\n"

        answer = watched(parent.pid, attached, fork)
        os.killpg(parent.pid, signal.SIGKILL)
    (creator,) = answer["creators"]
    assert (creator["mechanism"], creator["still_running"], creator["used"]) == ("fork", 1, None)
    assert creator["used_so_far"]["cpu_ns"] > 40_000_000
    assert creator["used_so_far"]["minor_faults"] > 0
    # Its pages were copied as the parent wrote them.
    assert answer["own_faults"] > 0
