"""Fixed observations, and the lines of the book that fit them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clonometer.launch_paths.explaining import NO_SOURCE, PathFit, SourceText, explain, option_calls, seen_task
from clonometer.launch_paths.reading import load_book
from clonometer.launch_paths.source_text import source_text
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
    assert "system-root" in names(fits("ruby", "3.1.2", "fork > git", "reset_signals", is_root=True))
    assert "system-root" not in names(fits("ruby", "3.1.2", "fork > git", "reset_signals", is_root=False))
    assert names(fits("ruby", "3.1.2", "vfork > git", "umask", is_root=True)) == []


def with_stack(runtime: str, version: str, task: str, *functions: str | None) -> list[str]:
    return names(explain(BOOK.runtime(runtime), version, SeenTask.read(task), None, functions=functions))


def test_the_stack_of_the_creator_names_the_api() -> None:
    assert set(with_stack("python", "3.11.7", "fork > git", "_Fork", "os_fork", "main")) == {"os.spawn", "os.fork-exec"}
    assert with_stack("perl", "5.36.0", "fork > git", "_Fork", "Perl_pp_backtick", None) == ["backticks"]
    assert with_stack("glibc", "2.36", "posix_spawn > sh", "__clone3", "popen@@GLIBC_2.2.5", "main") == ["popen"]
    spawned = "_ZN4node17SyncProcessRunner5SpawnERKN2v820FunctionCallbackInfoE"
    assert with_stack("node", "20.20.2", "fork > git", "uv_spawn", spawned) == ["spawnSync"]


def test_the_outer_of_two_functions_of_the_book_is_what_was_called() -> None:
    inner = ["_Fork", "__fork", None, "g_spawn_sync"]
    assert "command_line_sync" not in with_stack("glib", "2.74", "fork > git", *inner, "main")
    assert with_stack("glib", "2.74", "fork > git", *inner, "g_spawn_command_line_sync", "main") == [
        "command_line_sync"
    ]
    assert with_stack("glibc", "2.36", "fork", "_Fork", "__fork", "main") == ["fork"]
    assert with_stack("glibc", "2.36", "fork", "_Fork", "main") == ["_Fork"]
    assert with_stack("glibc", "2.36", "fork", "_Fork", "__fork", "daemon", "main") == ["daemon"]


def test_a_function_further_out_than_the_shell_s_own_fork_is_no_substitution() -> None:
    """In the child of a substitution the stack of its parent is still below."""
    outer = with_stack("bash", "5.2.15", "fork > git", "_Fork", "make_child", "command_substitute", None)
    inner = with_stack("bash", "5.2.15", "fork > git", "_Fork", "make_child", None, "command_substitute", None)
    assert outer == ["substitution-program"]
    assert "command" in inner


def test_a_stack_that_is_not_whole_rules_nothing_out() -> None:
    musl = BOOK.runtime("musl")
    task = SeenTask.read("fork > git")
    calls = ["setsid", "dup2"]
    assert names(explain(musl, "1.2.3", task, calls, functions=["_Fork", None])) == ["forkpty"]
    assert names(explain(musl, "1.2.3", task, calls, functions=["_Fork", "main"])) == ["fork-exec"]


def called(runtime: str, version: str, task: str, *functions: str) -> list[str]:
    return names(explain(BOOK.runtime(runtime), version, SeenTask.read(task), (), called=functions))


def test_what_a_hook_said_was_called_decides() -> None:
    start = ["os.fork", "multiprocessing.popen_fork.Popen._launch", "multiprocessing.process.BaseProcess.start"]
    assert called("python", "3.11.7", "fork", "os.fork") == ["os.fork"]
    assert called("python", "3.11.7", "fork", *start) == ["multiprocessing-fork"]
    assert called("python", "3.11.7", "fork > git", "os.fork", "os._spawnvef", "os.spawnlp") == ["os.spawn"]
    assert called("python", "3.11.7", "fork > git", "os.fork") == ["os.fork-exec"]
    node = ("node", "20.20.2", "fork > node")
    assert "cluster" not in called(*node, "child_process.fork")
    assert "fork" not in called(*node, "primary.cluster.fork")


def with_source(runtime: str, version: str, task: str, source: SourceText, *calls: str) -> PathFit | None:
    fitting = explain(BOOK.runtime(runtime), version, SeenTask.read(task), calls, source=source)
    return fitting[0] if len(fitting) == 1 else None


@pytest.mark.parametrize(
    ("runtime", "version", "task", "text", "name"),
    [
        ("bash", "5.2.15", "fork > git", "git log", "command"),
        ("bash", "5.2.15", "fork > git", "git log >/dev/null 2>&1 || exit", "command"),
        ("bash", "5.2.15", "fork > git", "git log | head", "pipeline"),
        ("bash", "5.2.15", "fork > git", "git log &", "background"),
        ("bash", "5.2.15", "fork > git", "diff <(git log) a", "process-substitution"),
        ("bash", "5.2.15", "fork > git", "coproc git log", "coproc"),
        ("bash", "5.2.15", "fork", "text=$(echo a)", "substitution"),
        ("bash", "5.2.15", "fork", "(cd /; pwd)", "subshell"),
        ("bash", "5.2.15", "fork > git", "text=$(git log | head)", None),
        ("dash", "0.5.12", "fork > git", "git log &", "background"),
        ("dash", "0.5.12", "fork > git", "text=`git log`", "substitution-program"),
        ("rust", "1.95.0", "fork > git", "let mut c = new(); unsafe { c.pre_exec(|| Ok(())) };", "pre_exec"),
    ],
)
def test_the_text_of_the_call_names_what_the_kernel_cannot_see(
    runtime: str, version: str, task: str, text: str, name: str | None
) -> None:
    fit = with_source(runtime, version, task, SourceText(text, text))
    assert (None if fit is None else fit.path.name) == name
    assert fit is None or any(" in the call" in each or " in its file" in each for each in fit.evidence)


def test_what_is_not_in_the_text_rules_nothing_out() -> None:
    spread = source_text("import subprocess\nsubprocess.run(words, **options)\n", 2)
    assert with_source("python", "3.11.7", "fork > git", spread, "close_range") is None
    named = source_text("run(\n    words,\n    preexec_fn=limits,\n)\n", 1)
    fit = with_source("python", "3.11.7", "fork > git", named, "close_range")
    assert fit is not None
    assert fit.path.name == "preexec_fn"
    assert "'preexec_fn=' in the call" in fit.evidence
    assert with_source("bash", "5.2.15", "fork > git", NO_SOURCE) is None


def test_the_text_of_a_call_is_all_its_lines_and_no_others() -> None:
    text = "first()\nrun(\n    words,  # preexec_fn=\n    cwd='/',\n)\nlast()\n"
    assert source_text(text, 2).call == "run(\n    words,\n    cwd='/',\n)"
    chain = "Command::new(a)\n    .env(b)\n    .status();\nnext();\n"
    assert source_text(chain, 3).call == "Command::new(a)\n    .env(b)\n    .status();"
    assert source_text("git log |\n  head\nls\n", 2).call == "git log |\n  head"
    assert source_text("git log\nls\n", 2).call == "ls"
    assert source_text("check() {\n  git log\n}\n", 2).call == "git log"
    assert source_text("a\n", 7) == NO_SOURCE
    assert len(source_text("(" * 500 + "\n(" * 500, 3).call.splitlines()) <= 42


def test_many_signals_that_get_their_default_action_are_a_sign() -> None:
    assert option_calls({"rt_sigaction": 62}) == {"sigaction", "reset_signals"}
    assert option_calls({"rt_sigaction": 5}) == {"sigaction"}


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


def test_the_text_that_a_plain_launch_has_does_not_hide_an_option_that_was_seen() -> None:
    """Each line of Qt 5 that starts a process has that text."""
    text = "QProcess process;\nprocess.setWorkingDirectory(folder);\nprocess.start(program, words);\n"
    fit = with_source("qt5", "5.15.8", "fork > git", source_text(text, 3), "chdir", "dup2")
    assert fit is not None
    assert fit.path.name == "folder"
    plain = with_source("qt5", "5.15.8", "fork > git", source_text(text, 3), "dup2")
    assert plain is not None
    assert plain.path.name == "start"
