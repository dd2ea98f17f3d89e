"""Break the program in one place after the other, in a copy of it, and see that the tests nearest to each notice.

A test that nothing can fail is worth nothing. ``mutants.toml`` names what is broken, and the tests of which one must
then fail: a program of ``core/test`` or a file of pytest's. Only what a mutant changes is built again, and what it is
noticed by must pass again without it. Arguments choose mutants by a part of their names or files; with ``--few`` only
those tests are run that `make test` chooses in a fresh clone.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import venv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = ROOT / "tools" / "mutants.toml"
# The copy, what is built of it, and the Python that has it for its package.
FOLDER = ROOT / "build" / "mutations"
TREE, BUILT, PYTHON = FOLDER / "tree", FOLDER / "core", FOLDER / "python"

CORE_TESTS = "core/"
CORE_TEST_SECONDS, PYTEST_SECONDS, BUILD_SECONDS = 60, 600, 600
NOT_POSSIBLE = 77
NOTHING_SELECTED = 5


@dataclass(frozen=True)
class Mutant:
    """What stands once in a file, what to put in its place, and the tests that must notice."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """The test that noticed; without one, whether any could be run here."""

    noticed_by: str
    possible: bool


def mutants() -> tuple[Mutant, ...]:
    """Read the list."""
    entries = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return tuple(
        Mutant(name, entry["file"], entry["old"], entry["new"], tuple(entry["tests"]))
        for name, entry in entries.items()
    )


def run(command: Sequence[str | Path], seconds: int, **variables: str) -> tuple[int | None, str]:
    """Give the exit status and the output of a command in the copy; None: it had not ended, and was killed."""
    with subprocess.Popen(
        command,
        cwd=TREE,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            return None, ""
    return process.returncode, output


def cmake(*words: str | Path) -> None:
    """Configure, build or install, with the tools of this environment; what fails ends everything."""
    bin_folder = Path(sys.executable).parent
    path = os.pathsep.join([str(bin_folder), os.environ.get("PATH", os.defpath)])
    status, output = run([bin_folder / "cmake", *words], BUILD_SECONDS, PATH=path, CMAKE_GENERATOR="Ninja")
    if status != 0:
        raise SystemExit(f"mutations: it cannot be built\n{output[-4000:]}")


def copy_tree() -> None:
    """Bring the copy to what stands here: a file that is the same keeps its time, so that it is not built again."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    names = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    for name in names:
        source, copy = ROOT / name, TREE / name
        if not copy.exists() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
            shutil.copymode(source, copy)
    for part in ("core", "src", "tests"):
        for copy in (TREE / part).rglob("*.[chp]*"):
            name = str(copy.relative_to(TREE))
            if copy.is_file() and "/_" not in name and name not in names:
                copy.unlink()


def make_python() -> None:
    """Make a Python that takes the package from the copy and all else from this one's packages."""
    venv.create(PYTHON, symlinks=True)
    (packages,) = PYTHON.glob("lib/python3*/site-packages")
    packages_of_this = Path(sys.prefix, packages.relative_to(PYTHON))
    (packages / "copy.pth").write_text(f"{TREE / 'src'}\n{packages_of_this}\n", encoding="utf-8")
    command = PYTHON / "bin" / "clonometer"
    command.write_text(
        f"#!{PYTHON / 'bin' / 'python'}\nimport sys\nfrom clonometer.cli.start import main\nsys.exit(main())\n",
        encoding="utf-8",
    )
    command.chmod(0o755)


def install() -> None:
    """Build the programs, and lay them where the copy's package looks for them."""
    cmake("--build", BUILT)
    cmake("--install", BUILT, "--component", "probe", "--prefix", TREE / "src")


def make_copy() -> None:
    """Make all that mutants are tried in."""
    TREE.mkdir(parents=True, exist_ok=True)
    copy_tree()
    make_python()
    cmake("-S", TREE, "-B", BUILT, "-DCLONOMETER_CORE_TESTS=ON")
    install()


def try_core_test(test: str) -> Verdict:
    """Build and run a program of ``core/test``."""
    name = test.removeprefix(CORE_TESTS)
    cmake("--build", BUILT, "--target", name)
    status, _ = run([BUILT / "core" / name], CORE_TEST_SECONDS)
    return Verdict("" if status in (0, NOT_POSSIBLE) else test, status != NOT_POSSIBLE)


def try_pytest(tests: Iterable[str], *options: str) -> Verdict:
    """Run tests of pytest's until one fails."""
    words = ["-m", "pytest", "-qx", "-o", "timeout=60", "-p", "no:cacheprovider", *options, *tests]
    status, output = run([PYTHON / "bin" / "python", *words], PYTEST_SECONDS)
    if status is None:
        return Verdict("it had not ended", True)
    if status not in (0, 1, NOTHING_SELECTED):
        raise SystemExit(f"mutations: the tests cannot be run\n{output[-4000:]}")
    failed = [line.split(" ", 1)[1] for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return Verdict(failed[0].split(" - ")[0] if failed else "", " passed" in output or bool(failed))


def chosen_tests() -> list[str]:
    """Ask which tests `make test` runs where nothing has changed since main; the core's are all among them."""
    words = ["-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    _, output = run([PYTHON / "bin" / "python", *words], PYTEST_SECONDS, FEW_TESTS="yes", GIT_DIR=os.devnull)
    return [line for line in output.splitlines() if "::" in line]


def is_within(test: str, place: str) -> bool:
    """Whether a test is the one, or in the file or the folder, that is named."""
    return test == place or test.startswith((f"{place}::", f"{place}/", f"{place}["))


def verdict(mutant: Mutant, few: Sequence[str] | None = None) -> Verdict:
    """Break the copy, build what it needs, run its tests or the few among them, and put the file back."""
    path = TREE / mutant.file
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    possible = False
    try:
        for test in mutant.tests:
            asked = [test] if few is None else [each for each in few if is_within(each, test)]
            if test.startswith(CORE_TESTS):
                tried = try_core_test(test)
            elif not asked:
                tried = Verdict("", True)
            elif mutant.file.startswith("src/"):
                # Real launches would only take longer.
                tried = try_pytest(asked, "-m", "not real")
            else:
                install()
                tried = try_pytest(asked)
            possible = possible or tried.possible
            if tried.noticed_by:
                return tried
    finally:
        path.write_text(text, encoding="utf-8")
    return Verdict("", possible)


def red_without(tests: Sequence[str]) -> list[str]:
    """Run what noticed a mutant without any: what fails then as well has noticed nothing."""
    install()
    of_core = sorted({test for test in tests if test.startswith(CORE_TESTS)})
    of_pytest = sorted({test for test in tests if test.startswith("tests/")})
    red = [test for test in of_core if try_core_test(test).noticed_by]
    failed = try_pytest(of_pytest).noticed_by if of_pytest else ""
    return [*red, *([failed] if failed else [])]


def main(words: Sequence[str]) -> int:
    """Print a line a mutant; 1 if one survived, or was noticed by a test that is red without it."""
    all_of_them = mutants()
    stale = [
        mutant.name for mutant in all_of_them if (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.old) != 1
    ]
    if stale:
        raise SystemExit(f"mutations: what is to be broken does not stand there once: {', '.join(stale)}")
    few_only = "--few" in words
    words = [word for word in words if word != "--few"]
    chosen = [mutant for mutant in all_of_them if not words or any(word in mutant.name + mutant.file for word in words)]
    if not chosen:
        raise SystemExit(f"mutations: no mutant or file has a name with {' or '.join(words)}")
    make_copy()
    few = chosen_tests() if few_only else None
    survivors, noticing = 0, []
    for mutant in chosen:
        began_s = time.monotonic()
        tried = verdict(mutant, few)
        ending = "killed" if tried.noticed_by else "SURVIVED" if tried.possible else "not possible here"
        survivors += ending == "SURVIVED"
        noticing.append(tried.noticed_by)
        seconds = time.monotonic() - began_s
        print(f"{ending}: {mutant.name} ({seconds:.0f} s): {tried.noticed_by or ' '.join(mutant.tests)}", flush=True)
    red = red_without(noticing)
    for test in red:
        print(f"RED WITHOUT ANY MUTANT: {test}")
    print(f"{sum(map(bool, noticing))} of {len(chosen)} killed, {survivors} survived")
    return 1 if survivors or red else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
