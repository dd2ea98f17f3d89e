"""What only the driver of Perl has: threads that are copies of the program, and failures that it explains on stderr."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests import probe
from tests.probe import present

from clonometer.runner.languages.toolchains import find_languages

pytestmark = pytest.mark.real

FOLDER = next(language.folder for language in find_languages() if language.name == "perl")
PERL = shutil.which("perl") or ""
HEAP_BYTES = 16 << 20
PAGE_BYTES = 4096
COMMANDS = ["command", "command_shell", "command_backticks", "command_open", "command_open3", "command_fork_exec"]
#: Stands before the interpreter's own description, and takes the threads out of it.
WITHOUT_THREADS = r"""
my ($real) = grep { $_ ne __FILE__ && -e $_ } map { "$_/Config.pm" } @INC;
do $real;
my %known = %Config::Config;
untie %Config::Config;
%Config::Config = (%known, usethreads => undef);
1;
"""


@pytest.fixture(scope="module", autouse=True)
def _needs_perl() -> None:
    if not PERL or subprocess.run([PERL, "-MTime::HiRes", "-MJSON::PP", "-e1"], capture_output=True).returncode:
        pytest.skip("there is no Perl with its core modules here: the package perl brings it")


def driver(*further: str) -> list[str]:
    return [PERL, *further, f"-I{FOLDER}", str(FOLDER / "driver.pl"), "perl"]


def ask(word: str, *words: str, command: Sequence[str] | None = None) -> probe.Answer:
    cell = (f"workload=perl.{word}", "placement=free", "samples=4", "blocks=1", "warmup=1")
    return probe.ask(*cell, *words, command=command or driver(), clock=("clock=monotonic",))


def described(*further: str) -> dict[str, dict[str, object]]:
    text = subprocess.run([*driver(*further), "--describe"], capture_output=True, text=True, check=True).stdout
    return {entry["id"]: entry for entry in json.loads(text)["workloads"]}


def needs_threads() -> None:
    if not described()["perl.os_thread"]["available"]:
        pytest.skip("this Perl was built without threads")


def faults(word: str, heap_bytes: int) -> int:
    [block] = ask(word, f"parent_bytes={heap_bytes}", "temperatures=cold").blocks
    return int(block.facts["minor_faults"])


def test_a_thread_gets_a_copy_of_the_heap() -> None:
    """Later launches reuse the memory of the first copy."""
    needs_threads()
    assert faults("os_thread", HEAP_BYTES) - faults("os_thread", 0) > HEAP_BYTES / PAGE_BYTES / 2


def test_a_thread_gets_no_copy_of_the_samples() -> None:
    needs_threads()
    [block] = ask("os_thread", "samples=500000", "block_limit_ns=1").blocks
    assert block.rows == 3
    assert block.facts["minor_faults"] < 500_000 * 8 / PAGE_BYTES


@pytest.mark.parametrize("word", COMMANDS)
def test_a_program_that_is_not_there_is_counted_and_perl_says_nothing(word: str) -> None:
    answer = ask(word, "program=/no/such/program")
    assert answer.done.status == "ok"
    assert answer.blocks[0].outcomes == {"ok": 0, "ENOENT": 4}
    assert len(present(answer.blocks[0], "reaped_ns")) == 0
    # A shell is another program, which has its own words.
    assert answer.stderr == "" or word == "command_shell"


@pytest.mark.parametrize("word", [word for word in COMMANDS if word != "command_backticks"])
def test_the_environment_reaches_the_program(word: str) -> None:
    program = 'program=/bin/sh:-c:test "$CLONOMETER_FILL000003" || exit 127'
    assert ask(word, program, "env_bytes=1024").blocks[0].outcomes["ok"] == 4
    assert ask(word, program).blocks[0].outcomes["ok"] == 0


def test_words_for_which_backticks_need_a_shell_are_refused_with_the_word() -> None:
    answer = ask("command_backticks", "program=/bin/sh:-c:exit 3")
    assert answer.done.status == "skipped"
    assert "'exit 3'" in str(answer.done.reason)


def test_a_perl_without_threads_says_so(tmp_path: Path) -> None:
    (tmp_path / "Config.pm").write_text(WITHOUT_THREADS)
    entries = described(f"-I{tmp_path}")
    for word in ("os_thread", "exchange_thread"):
        assert not entries[f"perl.{word}"]["available"]
        assert "built without threads" in str(entries[f"perl.{word}"]["reason"])
    assert entries["perl.command"]["available"]
    answer = ask("os_thread", command=driver(f"-I{tmp_path}"))
    assert (answer.done.status, answer.exit_status) == ("skipped", 0)
    assert "built without threads" in str(answer.done.reason)
