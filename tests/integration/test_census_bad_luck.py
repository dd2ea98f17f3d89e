"""Programs that a census meets in the field and was not made for: it counts them, or says what it could not see."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.integration.census import CLONOMETER, can_trace, run, taken

from clonometer.runner.census import NAME
from clonometer.runner.drivers import bin_folder

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(shutil.which("cc") is None, reason="takes a C compiler"),
]

#: Five forks by a program that needs no C library, which a machine may not have for 32 bits.
_NARROW = """
static int call(int number, int a, int b) {
    int result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(0) : "memory");
    return result;
}
void _start(void) {
    for (int i = 0; i < 5; i++) {
        int status, child = call(2, 0, 0);
        if (child == 0) call(1, 0, 0);
        call(7, child, (int)&status);
    }
    call(1, 0, 0);
}
"""
#: Each task makes the next one: waits for it, or leaves.
_CHAIN = r"""
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words) {
    int waits = count > 2 && strcmp(words[2], "waits") == 0;
    for (int left = atoi(words[1]); left > 0; left--) {
        pid_t child = fork();
        if (child < 0) _exit(1);
        if (child > 0) {
            if (waits) wait(NULL);
            _exit(0);
        }
    }
    _exit(0);
}
"""
_IDENTITY = r"""
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    if (fork() == 0) _exit(0);
    wait(NULL);
    printf("%d", (int)geteuid());
    return 0;
}
"""


def built(folder: Path, source: str, *options: str, name: str = "program") -> str:
    (folder / "program.c").write_text(source)
    words = ["cc", *options, "-o", name, "program.c"]
    compiled = subprocess.run(words, cwd=folder, check=False, timeout=60, capture_output=True, text=True)
    if compiled.returncode != 0:
        pytest.skip(f"cannot be built here: {compiled.stderr[-200:]}")
    return str(folder / name)


def test_tasks_of_a_32_bit_program_are_counted_and_what_is_not_seen_is_said(seen_by: str, tmp_path: Path) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("32-bit programs of x86 alone are written here")
    options = ("-m32", "-nostdlib", "-static", "-ffreestanding", "-no-pie", "-fno-pie", "-fno-stack-protector")
    narrow = built(tmp_path, _NARROW, *options)
    try:
        subprocess.run([narrow], check=True, timeout=30)
    except OSError:
        pytest.skip("this kernel runs no 32-bit programs")
    answer = taken(narrow, how=seen_by)
    assert answer["tasks_created"] == 5
    assert [group["mechanism"] for group in answer["creators"]] == ["fork"]
    reason = "unseen_calls" if seen_by == "tracepoints" else "narrow"
    assert answer["stacks"]["missing"] == {reason: 5}
    if seen_by == "tracepoints":
        # No call is made up for them, nor that their children did nothing.
        assert [group["call"] for group in answer["creators"]] == [None]
        assert all(site["did_known"] == 0 for site in answer["sites"])
        assert answer["creating_share"] < 1
    assert "32-bit" in run("--how", seen_by, "--", narrow).stdout


@pytest.mark.parametrize("ends", ["waits", "leaves"])
def test_a_long_chain_is_followed_to_its_end(ends: str, tmp_path: Path) -> None:
    if not can_trace():
        pytest.skip("by ptrace ten thousand stops take too long")
    # Those that wait are there together: the kernel links each one's memory with that of all before it, and a thousand
    # take half a minute, with or without a census.
    length = 10_000 if ends == "leaves" else 300
    chain = built(tmp_path, _CHAIN, "-O1")
    ended = run("--until-all-end", "--json", "--", chain, str(length), ends)
    answer = json.loads(ended.stdout)
    made = answer["tasks_created"] + sum(answer["failed_calls"].values())
    assert (made if not answer["failed_calls"] else length) == length
    assert answer["lost_events"] == 0
    assert answer["still_running"] == 0
    assert sum(group["created"] for group in answer["creators"]) == answer["tasks_created"]


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root to have a setuid program, and an ordinary user")
def test_a_setuid_program_that_ptrace_follows_is_named(public: Path) -> None:
    tool = public / NAME
    shutil.copy(bin_folder() / NAME, tool)
    identity = built(public, _IDENTITY, name="identity")
    Path(identity).chmod(0o4755)
    nobody = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": "/"}
    alone = subprocess.run([identity], capture_output=True, text=True, timeout=30, check=True, **nobody)
    if alone.stdout != "0":
        pytest.skip("no program gets privileges here")
    reading, writing = os.pipe()
    with os.fdopen(reading) as answer:
        words = [tool, "--fd", str(writing), "how=ptrace", "--", identity]
        followed = subprocess.run(
            words, stdout=subprocess.PIPE, text=True, timeout=30, check=True, pass_fds=[writing], **nobody
        )
        os.close(writing)
        end = json.loads(answer.read().splitlines()[-1])
    assert followed.stdout == "65534"
    assert end["unprivileged"] == identity
    # Root's census takes nothing from it, by either way.
    as_root = run("--how", "ptrace", "--json", "--", identity, env=os.environ)
    assert json.loads(as_root.stdout.removeprefix("0"))["without_privileges"] is None


def test_hostile_names_are_escaped_everywhere(seen_by: str, tmp_path: Path) -> None:
    # A path has no slash in it, so "</script>" cannot be one; an unclosed comment can.
    folder = tmp_path / "\x1b[31m<!--<img src=x onerror=alert(1)>\n\r\u202e"
    folder.mkdir()
    program = built(folder, '#line 1 "\\033[2J<b>.c"\n' + _IDENTITY, "-g", name="\x07<i>&\"'")
    page = tmp_path / "page.html"
    ended = run("--how", seen_by, "--html", str(page), "--", program)
    written = ended.stdout + ended.stderr
    assert ended.returncode == 0, written
    assert "created" in written
    assert not {letter for letter in written if ord(letter) < 32 and letter != "\n"} | ({"\x1b"} & set(written))
    assert "\u202e" not in written
    text = page.read_text()
    assert "<img src=x" not in text
    assert "<b>.c" not in text
    answer = taken(program, how=seen_by)
    assert answer["tasks_created"] == 1


def test_what_begins_before_the_census_is_not_called_lost_for_want_of_room(tmp_path: Path) -> None:
    if not can_trace():
        pytest.skip("tracepoints may not be read here")
    source = _CHAIN.replace(
        'int waits = count > 2 && strcmp(words[2], "waits") == 0;',
        "for (;;) { if (fork() == 0) _exit(0); wait(NULL); }\n    int waits = count;",
    )
    busy = built(tmp_path, source, "-O1")
    with subprocess.Popen([busy, "0"]) as running:
        words = [CLONOMETER, "census", "--pid", str(running.pid), "--for", "0.3s", "--buffer", "32MiB", "--json"]
        try:
            # Whether a call falls between the two beginnings is luck.
            answers = [
                json.loads(subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout)
                for _ in range(4)
            ]
        finally:
            running.kill()
    assert all(answer["tasks_created"] > 0 for answer in answers)
    assert not [answer["stacks"]["missing"] for answer in answers if "lost" in answer["stacks"]["missing"]]
