"""Call sites, gathered from lines of a census: which call is named, what is one place, and what is missing."""

from __future__ import annotations

import ctypes
import tracemalloc
from functools import partial

import pytest
from tests.fakes.census_lines import LIBRARY, MODULES, STACKS, ended, frame, module, site, taken, task
from tests.schemas import check

from clonometer.tracing.census import call_sites, language
from clonometer.tracing.census.call_sites import CallSite, StackFrame
from clonometer.tracing.census.demangling import demangle
from clonometer.tracing.census.language import LanguageRecords
from clonometer.tracing.census.to_json import census_to_json
from clonometer.tracing.census.unnamed import unnamed_lines
from clonometer.views.documents.census import census_document
from clonometer.views.terminal.document import render_document

render_census = partial(render_document, census_document)


def test_the_site_is_the_call_outside_of_the_c_library_and_the_api_what_it_called() -> None:
    stack = site(0, *LIBRARY, frame(1, "start_it", 80, line=12), frame(1, "main", 96, line=40))
    census = taken(task(site=0), task(site=0, making_ns=120_000), stack, *MODULES, ended(stacks=STACKS))
    (only,) = census.sites.by_cost()
    assert only.where == StackFrame("/bin/planted", "ab" * 20, 80, "start_it", 4, "/src/a.c", 12)
    assert (only.api, only.created, only.making_median_ns) == ("posix_spawn", 2, 100_000)
    answer = census_to_json(census, ["make"], None)
    check(answer, "census")
    assert answer["sites"][0]["where"]["line"] == 12
    assert answer["sites"][0]["frames_end"] is None
    text = render_census(census, "planted", width=100)
    assert "posix_spawn  /src/a.c:12  start_it" in text


@pytest.mark.parametrize(
    ("name", "path", "expected"),
    [
        ("fork", "/lib/libc.so.6", True),
        ("anything", "/lib/libc-2.31.so", True),
        ("anything", "/lib/ld-musl-x86_64.so.1", True),
        ("__libc_fork", "/bin/static", True),
        ("__GI___clone_internal", "/bin/static", True),
        ("pthread_create@GLIBC_2.2.5", "/bin/static", True),
        ("fork_worker", "/bin/planted", False),
        (None, "/usr/lib/libcurl.so.4", False),
        (None, None, False),
    ],
)
def test_what_belongs_to_the_c_library(name: str | None, path: str | None, expected: bool) -> None:
    assert StackFrame(path, None, 0, name).is_maker is expected


def test_ways_through_the_library_are_one_site_and_callers_are_several() -> None:
    other = [frame(0, "_Fork", 64), *LIBRARY[1:]]
    lines = [
        site(0, *LIBRARY, frame(1, "f", 80, line=12), frame(1, "main", 96)),
        site(1, *other, frame(1, "f", 80, line=12), frame(1, "main", 96)),
        site(2, *LIBRARY, frame(1, "f", 80, line=12), frame(1, "main", 128)),
    ]
    census = taken(*(task(site=number) for number in (0, 1, 2)), *lines, *MODULES, ended(stacks=STACKS))
    assert sorted(each.created for each in census.sites.by_cost()) == [1, 2]
    rows = [line for line in render_census(census, "x", width=100).splitlines() if "a.c:12" in line]
    assert len(rows) == 1, "on the terminal it is one line of the source"
    assert " 3 " in rows[0]


def test_what_is_not_known_is_said() -> None:
    stacks = {"by": "frame pointers", "without": "libdw.so.1 is not installed", "lost": 7, "narrow": 1}
    stack = site(0, frame(0, None), ends="no table")
    census = taken(task(site=0), task(site=None), stack, *MODULES, ended(stacks=stacks))
    text = " ".join(render_census(census, "x").split())
    assert "by frame pointers alone, which most programs lack: libdw.so.1 is not installed." in text
    assert "7 for want of room, 1 of 32-bit programs" in text
    assert "1 call site end at code without unwind tables" in text
    answer = census_to_json(census, ["x"], None)
    assert answer["stacks"]["missing"] == {"lost": 7, "narrow": 1}
    assert [each["where"] for each in answer["sites"]] == [None, None]
    assert answer["sites"][0]["frames_end"].startswith("code without unwind tables")


def test_code_in_no_file_has_its_address() -> None:
    lines = [site(0, frame(2, None, 0x7F00)), module(2, None, code_of=41)]
    census = taken(task(site=0), *lines, ended(stacks=STACKS))
    assert census.sites.by_cost()[0].where.place == "[code in no file]+0x7f00"  # type: ignore[union-attr]


def test_ever_new_places_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_sites, "_MOST_SITES", 3)
    census = taken(*(task(site=number) for number in range(9)), ended(stacks=STACKS))
    sites = census.sites.by_cost()
    assert sum(each.created for each in sites) == 9
    assert len(census.sites._sites) <= 4


def test_what_children_did_is_added_up_and_options_are_shown() -> None:
    did = {"setsid": 1, "close": 200, "dup2": 3}
    stack = site(0, *LIBRARY, frame(1, "f", 80, line=12))
    census = taken(
        task(site=0, did=did, did_cut=False, helper="/bin/sh"),
        task(site=0, did={"setsid": 1, "close": 40, "dup2": 1}, did_cut=True, helper=None),
        stack,
        *MODULES,
        ended(stacks=STACKS),
    )
    answer = census_to_json(census, ["x"], None)
    (only,) = answer["sites"]
    assert only["did"]["close"] == {"tasks": 2, "times": 240}
    assert (only["did_known"], only["did_cut"], only["helpers"]) == (2, 1, {"/bin/sh": 1})
    row = next(line for line in render_census(census, "x", width=140).splitlines() if "a.c:12" in line)
    assert " setsid " in row
    assert "close" not in row


def test_what_a_runtime_said_is_the_place() -> None:
    frames = ["Lsubprocess\x1frun\x1f/lib/subprocess.py\x1f548", "P__main__\x1fgo\x1f/srv/a.py\x1f9"]
    hook = "\t".join(["python", "{}", "2", "process", "os.fork", *frames])
    lines = [
        {"line": "call", "text": hook.format(1000)},
        task(site=0, creator=2, start_ns=500, previous_ns=None, creator_program="/usr/bin/python3"),
        task(site=0, creator=2, start_ns=900, previous_ns=500, creator_program="/usr/bin/python3"),
        site(0, *LIBRARY, frame(1, "do_fork_exec", 80)),
    ]
    spoken = taken(*lines, *MODULES, ended(stacks=STACKS), begin_ns=600)
    known, unknown = sorted(spoken.sites.by_cost(), key=lambda each: each.language is None)
    assert known.where is not None
    assert (known.where.place, known.where.name, known.api) == ("/srv/a.py:9", "go", "subprocess.run")
    assert unknown.where is not None
    assert unknown.where.name == "do_fork_exec", "the line of one task is lent to no other"
    assert (known.created, unknown.created) == (1, 1)
    answer = census_to_json(spoken, ["x"], None)
    check(answer, "census")
    assert "Lines are not known of python3." in " ".join(render_census(spoken, "x").split())


def test_lines_of_hooks_that_had_no_room_are_counted_in_the_answer() -> None:
    broken = [{"line": "call", "text": "no line of a hook"}] * 3
    lost = "The lines of 3 calls that hooks noted had no room or could not be read, and are not known."
    for lines, is_shown in (broken, True), ([], False):
        census = taken(*lines, task(site=0), site(0, *LIBRARY), *MODULES, ended(stacks=STACKS))
        assert (lost in " ".join(render_census(census, "x").split())) == is_shown


def test_a_function_that_python_names_for_perf_is_the_place() -> None:
    native, script = frame(1, "os_fork", 80, line=7719), frame(2, "py::Job.run:/srv/a@b.py", 24)
    python = task(site=0, creator_program="/usr/bin/python3.12")
    census = taken(python, site(0, native, script), *MODULES, module(2, None), ended(stacks=STACKS))
    (only,) = census.sites.by_cost()
    assert only.where is not None
    assert (only.where.function, only.where.place) == ("Job.run", "/srv/a@b.py")
    shown = render_census(census, "x", width=140)
    assert "/srv/a@b.py" in shown
    assert "Lines are not known" not in shown


@pytest.mark.parametrize(
    ("program", "hooked", "hint"),
    [
        ("java", True, "JAVA_TOOL_OPTIONS=-agentpath:/lib/calls.so names those of Java"),
        ("java", False, "Compiler.perfmap"),
        ("python3.12", False, "-X perf"),
        ("python3", True, "python3 did not load the hook"),
        ("php8.2", True, "php8.2 did not load the hook"),
        ("dash", True, "bash has"),
        ("dash", False, "bash has"),
        ("perl", False, "without --no-hooks"),
    ],
)
def test_what_would_name_the_lines_is_said(program: str, hooked: bool, hint: str) -> None:
    sites = [CallSite(f"/usr/bin/{program}", "fork"), CallSite("/usr/bin/make", "thread"), CallSite("/bin/ls", "fork")]
    sentences = unnamed_lines(sites, hooked=hooked, library="/lib/calls.so")
    assert sentences[0] == f"Lines are not known of {program}."
    assert hint in " ".join(sentences[1:])
    assert all(len(sentence.split()) <= 25 for sentence in sentences)


def test_a_script_with_a_name_of_its_own_is_one_of_its_runtime() -> None:
    served = [CallSite("v/bin/gunicorn", "fork")]
    assert unnamed_lines(served, hooked=False, library=None) == []
    sentences = unnamed_lines(served, hooked=False, library=None, runtimes={"v/bin/gunicorn": "python"})
    assert sentences[0] == "Lines are not known of gunicorn."
    assert "-X perf" in sentences[-1]


def test_a_shell_without_a_hook_is_not_promised_one() -> None:
    sentences = unnamed_lines([CallSite("/bin/sh", "fork")], hooked=False, library=None)
    assert "without --no-hooks" not in " ".join(sentences)


def test_launches_of_one_line_with_other_options_are_other_sites() -> None:
    stack = site(0, *LIBRARY, frame(1, "f", 80, line=12))
    options: list[dict[str, int] | None] = [{"setsid": 1}, {"chdir": 1}, {"setsid": 1, "dup2": 1}, None, {"setsid": 1}]
    lines = [task(site=0, did=did, did_cut=False, helper=None) for did in options]
    census = taken(*lines, stack, *MODULES, ended(stacks=STACKS))
    counts = {each.calls: each.created for each in census.sites.by_cost()}
    assert counts == {
        frozenset({"setsid"}): 2,
        frozenset({"chdir"}): 1,
        frozenset({"setsid", "dup2"}): 1,
        None: 1,
    }


def test_a_line_that_others_call_in_turn_is_one_place() -> None:
    library, line = "Lsubprocess\x1frun\x1f/lib/subprocess.py\x1f548", "P__main__\x1fgo\x1f/srv/a.py\x1f9"
    callers = [f"P__main__\x1fmain\x1f/srv/a.py\x1f{number}" for number in (20, 30)]
    lines = [
        {"line": "call", "text": "\t".join(["python", str(at), "2", "process", "os.fork", library, line, caller])}
        for at, caller in zip((1000, 1600), callers, strict=True)
    ]
    made = {"site": 0, "creator": 2, "creator_program": "/usr/bin/python3"}
    tasks = [task(start_ns=500, previous_ns=None, **made), task(start_ns=1100, previous_ns=500, **made)]
    stack = site(0, *LIBRARY, frame(1, "do_fork_exec", 80))
    census = taken(*lines, *tasks, stack, *MODULES, ended(stacks=STACKS), begin_ns=600)
    sites = census.sites.by_cost()
    assert [each.created for each in sites] == [1, 1]
    (place,) = call_sites.one_place(sites)
    assert (place.created, place.where.place if place.where else None) == (2, "/srv/a.py:9")


def test_a_recipe_that_two_targets_share_is_credited_to_neither() -> None:
    targets = [f"P\x1f{name}\x1f/src/Makefile\x1f7" for name in ("one.o", "two.o")]
    lines = [
        {"line": "call", "text": "\t".join(["make", str(at), "2", "process", "recipe", target])}
        for at, target in zip((1000, 1600), targets, strict=True)
    ]
    made = {"site": 0, "creator": 2, "creator_program": "/usr/bin/make"}
    tasks = [task(start_ns=500, previous_ns=None, **made), task(start_ns=1100, previous_ns=500, **made)]
    stack = site(0, *LIBRARY, frame(1, "child_execute_job", 80))
    sites = taken(*lines, *tasks, stack, *MODULES, ended(stacks=STACKS), begin_ns=600).sites.by_cost()
    assert [each.where.function for each in sites if each.where] == ["one.o", "two.o"]
    (place,) = call_sites.one_place(sites)
    assert place.where is not None
    assert (place.created, place.where.place, place.where.function) == (2, "/src/Makefile:7", "")


POPEN = "Lsubprocess\x1fPopen.__init__\x1f/usr/lib/python3/subprocess.py\x1f1024"
RUN = "Lsubprocess\x1frun\x1f/usr/lib/python3/subprocess.py\x1f548"
USER = "P__main__\x1fstart_it\x1f/srv/app.py\x1f12"


def line(time_ns: int, *frames: str, thread: int = 41, makes: str = "process", event: str = "os.fork") -> str:
    return "\t".join(["python", str(time_ns), str(thread), makes, event, *frames])


def records_of(*lines: str) -> LanguageRecords:
    records = LanguageRecords()
    for each in lines:
        records.take(each)
    return records


def test_the_place_is_outside_of_the_library_and_the_api_is_what_was_called_there() -> None:
    call = records_of(line(100, POPEN, RUN, USER)).find(41, 0, 150, makes_thread=False)
    assert call is not None
    assert call.where is not None
    assert (call.where.file, call.where.line, call.api) == ("/srv/app.py", 12, "subprocess.run")
    direct = records_of(line(100, USER)).find(41, 0, 150, makes_thread=False)
    assert direct is not None
    assert direct.api == "os.fork"
    assert records_of(line(100, POPEN)).find(41, 0, 150, makes_thread=False).where is None  # type: ignore[union-attr]


def test_a_thread_of_the_library_is_placed_outside_of_the_module_that_was_called() -> None:
    start = "Lthreading\x1fstart\x1f/lib/threading.py\x1f964"
    server = "Lsocketserver\x1fprocess_request\x1f/lib/socketserver.py\x1f705"
    begins = "Lthreading\x1f_bootstrap\x1f/lib/threading.py\x1f1002"
    call = records_of(line(100, start, server, begins, makes="thread")).find(41, 0, 150, makes_thread=True)
    assert call is not None
    assert call.where is not None
    assert (call.api, call.where.file, call.where.line) == ("threading.start", "/lib/socketserver.py", 705)


@pytest.mark.parametrize(
    ("thread", "after_ns", "until_ns", "makes_thread", "expected"),
    [
        (41, 0, 150, False, True),
        (41, 0, 100, False, True),
        (41, 0, 99, False, False),
        # It was written for the creation before.
        (41, 100, 150, False, False),
        (41, 120, 150, False, False),
        (42, 0, 150, False, False),
        (41, 0, 150, True, False),
    ],
)
def test_a_line_is_lent_to_no_other_task(
    thread: int, after_ns: int, until_ns: int, makes_thread: bool, expected: bool
) -> None:
    records = records_of(line(100, USER))
    assert (records.find(thread, after_ns, until_ns, makes_thread=makes_thread) is not None) is expected


def test_the_last_line_before_a_task_counts_whatever_the_order_of_writing() -> None:
    first, second = line(100, USER, event="a"), line(200, USER, event="b")
    for order in ((first, second), (second, first)):
        records = records_of(*order)
        assert records.find(41, 0, 150, makes_thread=False).event == "a"  # type: ignore[union-attr]
        assert records.find(41, 150, 250, makes_thread=False).event == "b"  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["", "python", "python\tx\t1\tprocess\te", line(1, "Ponly"), line(2**70, USER)])
def test_what_makes_no_sense_is_counted(text: str) -> None:
    records = records_of(text)
    assert records.left_out == 1
    assert records.find(41, 0, 2**62, makes_thread=False) is None


def test_a_line_of_another_process_is_not_believed() -> None:
    records = LanguageRecords()
    records.take(line(100, USER, event="forged"), process=66)
    assert records.find(41, 0, 150, makes_thread=False, process=40) is None
    records.take(line(90, USER, event="its own"), process=40)
    call = records.find(41, 0, 150, makes_thread=False, process=40)
    assert call is not None
    assert call.event == "its own"
    # What this process noted of itself came by no connection.
    assert records_of(line(100, USER)).find(41, 0, 150, makes_thread=False, process=40) is not None


def test_what_comes_much_too_late_is_left_out_rather_than_sorted() -> None:
    """A thread waits for each line to be sent: none writes them in reverse, and sorting those could take hours."""
    records = records_of(*(line(n, USER, event=f"e{n}") for n in range(10_000, 0, -1)))
    assert records.left_out > 9_900
    call = records.find(41, 0, 10_000, makes_thread=False)
    assert call is not None
    assert call.event == "e10000"


@pytest.mark.parametrize("many", ["calls", "threads", "lines"])
def test_it_does_not_fill_the_memory(many: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_MOST_RECORDS", 50_000)
    monkeypatch.setattr(language, "_MOST_BYTES", 4 << 20)
    records = LanguageRecords()
    frame = f"Pmodule\x1f{'f' * 3000}\x1f/srv/app.py\x1f12"
    tracemalloc.start()
    try:
        for n in range(60_000 if many == "lines" else 20_000):
            event, thread = f"e{n}" if many == "calls" else "e", n if many == "threads" else 41
            records.take(line(n, frame if many == "calls" else USER, event=event, thread=thread))
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert records.left_out > 0
    assert peak_bytes < 5 << 20


def has_libstdcxx() -> bool:
    try:
        ctypes.CDLL("libstdc++.so.6")
    except OSError:
        return False
    return True


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("_RNvMsk_NtCsjrHSEGnQ3l9_3std7processNtB5_7Command6status", "std::process::Command::status"),
        ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
        ("_R", "_R"),
        ("_RNvC9999short", "_RNvC9999short"),
        ("main", "main"),
        ("", ""),
        ("_Z" + "1a" * 600, "_Z" + "1a" * 600),
    ],
)
def test_names_that_need_no_library(name: str, written: str) -> None:
    assert demangle(name) == written


@pytest.mark.skipif(not has_libstdcxx(), reason="libstdc++.so.6 is not installed")
@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("_ZN7Snippet4main17h1c818ece6d4b3cdcE", "Snippet::main"),
        (
            "_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h8c4b4792ae027d57E",
            "std::rt::lang_start::{{closure}}",
        ),
        (
            "_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17hac6b4dfd2e1f1b32E",
            "<alloc::string::String as core::fmt::Display>::fmt",
        ),
        ("_ZN4node9SpawnSyncEi", "node::SpawnSync(int)"),
        ("_ZNonsense", "_ZNonsense"),
        ("_Z5hel\udcfflov", "_Z5hel\udcfflov"),
    ],
)
def test_names_of_c_plus_plus_and_rust(name: str, written: str) -> None:
    assert demangle(name) == written


@pytest.mark.parametrize(
    ("name", "module", "is_maker"),
    [
        ("os/exec.(*Cmd).Run", "/bin/planted", True),
        ("internal/syscall/unix.Clone", "/bin/planted", True),
        ("main.launch", "/bin/planted", False),
        ("oslo.launch", "/bin/planted", False),
        ("_RNvMsk_NtCsjrHSEGnQ3l9_3std7processNtB5_7Command6status", "/bin/planted", True),
        ("_RNvCs1234_7mycrate3foo", "/bin/planted", False),
        ("g_spawn_sync", "/lib/libglib-2.0.so.0.7400.6", True),
        ("QProcess::start", "/lib/libQt6Core.so.6.4.2", True),
        ("gimp_spawn", "/lib/libgimp-2.0.so.0", False),
    ],
)
def test_standard_libraries_launch_for_programs(name: str, module: str, is_maker: bool) -> None:
    assert StackFrame(module, None, 0, name).is_maker is is_maker
