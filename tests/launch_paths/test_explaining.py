"""Fixed observations, and the lines of the book that fit them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clonometer.launch_paths.explaining import PathFit, explain, seen_task
from clonometer.launch_paths.reading import load_book
from clonometer.launch_paths.types import PROGRAM, SeenTask

BOOK = load_book()


def fits(runtime: str, version: str | None, task: str, *calls: str, is_root: bool | None = None) -> tuple[PathFit, ...]:
    return explain(BOOK.runtime(runtime), version, SeenTask.read(task), calls, is_root=is_root)


def names(fitting: tuple[PathFit, ...]) -> list[str]:
    return [each.path.name for each in fitting]


@pytest.mark.parametrize(
    ("runtime", "version", "task", "calls", "name"),
    [
        ("python", "3.11.7", "fork > ffmpeg", ["close_range", "rt_sigaction", "setsid"], "preexec_fn-setsid"),
        ("python", "3.11.7", "fork > ffmpeg", ["close_range", "dup2", "setsid"], "preexec_fn-setsid"),
        ("python", "3.11.7", "fork > ffmpeg", ["close_range", "rt_sigaction", "setreuid"], "user"),
        ("python", "3.11.7", "fork > ffmpeg", ["close_range", "setgroups"], "extra_groups"),
        ("python", "3.10.13", "fork > ffmpeg", ["getdents64", "prlimit64"], "preexec_fn-limits"),
        ("python", "3.11.7", "vfork > ffmpeg", ["close_range", "rt_sigaction", "chdir"], "cwd"),
        ("python", "3.11.7", "fork > bash", ["setsid", "dup2"], "pty.fork"),
        ("python", "3.9.18", "fork > ffmpeg", ["closing loop", "setsid"], "subprocess-3.9"),
        ("node", "20.20.2", "fork > sh", ["dup2", "rt_sigaction"], None),
        ("node", "20.20.2", "fork > convert", ["dup2", "rt_sigaction", "setsid"], "detached"),
        ("ruby", "3.1.2", "vfork > convert", ["rt_sigaction", "chdir"], "chdir"),
        ("go", "1.26.8", "container > bwrap", ["dup3"], "newuser"),
        ("rust", "1.95.0", "fork > git", ["setgroups", "setuid"], "uid"),
        ("java", "17.0.15", "fork > git", [], "fork"),
        ("java", "17.0.15", "vfork > git", [], "vfork"),
        ("glib", "2.74.6", "fork > true", ["close_range", "chdir", "dup2"], None),
        ("qt6", "6.8.1", "fork > xdg-open", ["setsid"], "modifier-6.6"),
        ("dotnet", "9.0.1", "vfork > git", ["chdir"], "folder"),
    ],
)
def test_the_option_is_named(runtime: str, version: str, task: str, calls: list[str], name: str | None) -> None:
    fitting = fits(runtime, version, task, *calls)
    if name is None:
        assert len(fitting) > 1
        assert not any(each.is_only for each in fitting)
    else:
        assert names(fitting) == [name]
        assert fitting[0].is_only


def test_advice_comes_with_it() -> None:
    [fit] = fits("python", "3.11.7", "fork > ffmpeg", "close_range", "setsid")
    assert (fit.path.option, fit.path.instead, fit.path.lose) == (
        "preexec_fn=os.setsid",
        "start_new_session=True",
        "nothing",
    )


def test_where_nothing_tells_options_apart_none_is_sure() -> None:
    fitting = fits("python", "3.11.7", "fork > ffmpeg", "close_range", "rt_sigaction")
    assert set(names(fitting)) == {"preexec_fn", "use_vfork"}
    assert not any(each.is_only for each in fitting)
    unseen = explain(BOOK.runtime("python"), "3.11.7", SeenTask.read("fork > ffmpeg"), None)
    assert {"user", "preexec_fn", "os.spawn"} <= set(names(unseen))


def test_a_path_that_no_line_has_fits_nothing() -> None:
    assert fits("make", "4.3", "fork > gcc") == ()
    assert fits("python", "3.11.7", "clone(VM|VFORK) > git") == ()
    assert fits("python", "2.7.18", "vfork > git", "close_range") == ()
    assert fits("php", "8.2.36", "posix_spawn > convert") == ()
    assert names(fits("php", "8.3.1", "posix_spawn > convert")) == ["proc_open-array-8.3"]


def test_lines_of_all_versions_fit_where_the_version_is_not_known() -> None:
    assert set(names(fits("dash", None, "vfork > cp"))) == {"command", "last-command"}
    assert set(names(fits("dash", None, "fork > cp"))) >= {"command-0.5.10", "background"}


def test_who_is_root_decides_between_lines() -> None:
    assert "system-root" in names(fits("ruby", "3.1.2", "fork > git", "rt_sigaction", is_root=True))
    assert "system-root" not in names(fits("ruby", "3.1.2", "fork > git", "rt_sigaction", is_root=False))
    assert names(fits("ruby", "3.1.2", "vfork > git", "umask", is_root=True)) == []


def with_stack(runtime: str, version: str, task: str, *functions: str | None) -> list[str]:
    return names(explain(BOOK.runtime(runtime), version, SeenTask.read(task), None, functions=functions))


def test_the_stack_of_the_creator_names_the_api() -> None:
    assert set(with_stack("python", "3.11.7", "fork > git", "_Fork", "os_fork", "main")) == {"os.spawn", "os.fork-exec"}
    assert with_stack("perl", "5.36.0", "fork > git", "_Fork", "Perl_pp_backtick", None) == ["backticks"]
    assert with_stack("glibc", "2.36", "posix_spawn > sh", "__clone3", "popen@@GLIBC_2.2.5", "main") == ["popen"]
    spawned = "_ZN4node17SyncProcessRunner5SpawnERKN2v820FunctionCallbackInfoE"
    assert with_stack("node", "20.20.2", "fork > git", "uv_spawn", spawned) == ["spawnSync"]


def test_a_stack_without_names_decides_nothing() -> None:
    assert with_stack("perl", "5.36.0", "fork > git", "_Fork", None) == with_stack("perl", "5.36.0", "fork > git")


def test_a_creation_by_code_that_no_line_names_fits_no_line() -> None:
    """As of a C extension that forks by itself."""
    assert with_stack("python", "3.11.7", "fork > git", "_Fork", "my_extension_fork", "main") == []


def test_what_no_line_knows_is_named() -> None:
    [fit] = fits("python", "3.11.7", "vfork > git", "close_range", "setsid", "unshare", "write")
    assert fit.path.name == "start_new_session"
    assert fit.unexplained == ("unshare",)


def test_a_shell_that_is_executed_first_is_named_before_any_program() -> None:
    fitting = fits("python", "3.11.7", "vfork > sh", "close_range", "dup2")
    assert names(fitting) == ["os.popen"]
    assert names(fits("java", "17.0.15", "posix_spawn > jspawnhelper > git")) != []
    assert names(fits("java", "17.0.15", "posix_spawn > git")) == []


def test_new_namespaces_copy_unless_the_memory_is_shared() -> None:
    assert str(seen_task("container", ["CLONE_NEWNS", "CLONE_VM", "CLONE_VFORK"])) == "container(VM|VFORK)"
    assert str(seen_task("container", ["CLONE_NEWUSER"])) == "container"
    assert str(seen_task("vfork", ["CLONE_VM", "CLONE_VFORK"], ["git"])) == "vfork > git"


def test_each_line_of_the_book_fits_itself() -> None:
    """Whatever a line says of a task fits that line, or one that says more of it."""
    for each in BOOK.seen:
        runtime = BOOK.runtime(each.runtime)
        for path in runtime.of_version(each.version):
            for task in path.tasks:
                if task.mechanism and (task.programs or len(path.tasks) == 1):
                    fitting = explain(runtime, each.version, task, path.child, is_root=None)
                    assert path in [fit.path for fit in fitting] or _is_outdone(path.child, fitting, task), path.name
                    assert PROGRAM not in task.programs or fitting


def _is_outdone(child: tuple[str, ...], fitting: tuple[PathFit, ...], task: SeenTask) -> bool:
    return bool(fitting) and all(set(child) <= set(fit.path.child) for fit in fitting)


def test_what_was_seen_of_real_launches_is_explained_by_their_line() -> None:
    """Seen by strace and a census: each line of the book that could be run, the last of its tasks (tests/data)."""
    file = Path(__file__).parents[1] / "data/launches_seen.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    missed, sure = [], 0
    for each in lines:
        fitting = names(
            explain(
                BOOK.runtime(each["runtime"]),
                each["version"],
                SeenTask.read(each["task"]),
                each["calls"],
                functions=each["functions"],
                is_root=each["root"],
            )
        )
        sure += fitting == [each["line"]]
        missed += [] if each["line"] in fitting else [(each["runtime"], each["line"], fitting)]
    assert missed == []
    assert len(lines) > 240
    assert sure >= 120
