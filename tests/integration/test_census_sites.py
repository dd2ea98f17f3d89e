"""Call sites of real programs whose lines are known: where a task is made is named, or it is said why not."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.integration.census import CLONOMETER, can_trace, run, taken, watched
from tests.integration.test_census import attached

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(shutil.which("cc") is None, reason="takes a C compiler to plant calls"),
]

#: Each call is in a function that no other is in, on the line that has its name in a comment.
PLANTED = r"""
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
#define KEPT __attribute__((noinline, noclone))
static void *nothing(void *none) { return none; }
KEPT void plant_fork(void) {
    if (fork() == 0) _exit(0); /* fork */
    wait(NULL);
}
KEPT void plant_vfork(void) {
    if (vfork() == 0) _exit(0); /* vfork */
    wait(NULL);
}
KEPT void plant_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL); /* pthread_create */
    pthread_join(thread, NULL);
}
KEPT void plant_spawn(void) {
    char *words[] = {"true", NULL};
    pid_t child;
    posix_spawn(&child, "/bin/true", NULL, NULL, words, environ); /* posix_spawn */
    wait(NULL);
}
KEPT void plant_system(void) {
    if (system("exit 0") != 0) abort(); /* system */
}
KEPT void plant_deep(volatile int depth) {
    volatile char room[512] = "";
    if (depth > 0) plant_deep(depth - 1);
    else plant_fork();
    room[depth] = 1;
}
int main(int count, char **words) {
    for (volatile int i = 0; i < 2; i++) {
        plant_fork(); plant_vfork(); plant_thread(); plant_spawn(); plant_system();
    }
    if (count > 1) plant_deep(atoi(words[1]));
    return 0;
}
"""
FUNCTIONS = {
    "plant_fork": "fork",
    "plant_vfork": "vfork",
    "plant_thread": "pthread_create",
    "plant_spawn": "posix_spawn",
    "plant_system": "system",
}


def plant(folder: Path, *options: str) -> str:
    (folder / "planted.c").write_text(PLANTED)
    words = ["cc", *options, "-pthread", "-o", "planted", "planted.c"]
    built = subprocess.run(words, cwd=folder, check=False, timeout=60, capture_output=True, text=True)
    if built.returncode != 0:
        pytest.skip(f"cannot be built here: {built.stderr[-200:]}")
    return str(folder / "planted")


def line_of(comment: str) -> int:
    return next(n for n, line in enumerate(PLANTED.splitlines(), 1) if f"/* {comment} */" in line)


def needs_libdw(answer: dict[str, Any]) -> None:
    if answer["stacks"]["by"] != "libdw":
        pytest.skip(f"not unwound by libdw: {answer['stacks']['without']}")


@pytest.mark.parametrize(
    "options",
    [
        ("-g", "-O0", "-fno-omit-frame-pointer"),
        ("-g", "-O2", "-fomit-frame-pointer"),
        ("-g", "-O2", "-no-pie"),
        ("-g", "-O2", "-static"),
    ],
    ids=" ".join,
)
def test_the_line_of_each_call_is_named(seen_by: str, options: tuple[str, ...], tmp_path: Path) -> None:
    answer = taken(plant(tmp_path, *options), how=seen_by)
    needs_libdw(answer)
    assert answer["stacks"]["missing"] == {}
    places = {site["where"]["function"]: site for site in answer["sites"]}
    assert set(places) == set(FUNCTIONS)
    for function, api in FUNCTIONS.items():
        site = places[function]
        assert site["created"] == 2
        assert site["where"]["file"].endswith("planted.c")
        assert site["where"]["line"] == line_of(api)
        assert site["frames_end"] is None
        assert "main" in [frame["function"] for frame in site["frames"]]
        assert site["where"]["build_id"] is None or len(site["where"]["build_id"]) == 40
    assert sum(site["created"] for site in answer["sites"]) == answer["tasks_created"]
    if options[-1] != "-static":
        assert {function: places[function]["api"] for function in FUNCTIONS} == FUNCTIONS


def test_of_a_stripped_program_the_address_is_told(seen_by: str, tmp_path: Path) -> None:
    program = plant(tmp_path, "-O2", "-g")
    table = subprocess.run(["nm", program], check=True, capture_output=True, text=True, timeout=60).stdout
    starts = {line.split()[2]: int(line.split()[0], 16) for line in table.splitlines() if " plant_" in line}
    subprocess.run(["strip", program], check=True, timeout=60)
    answer = taken(program, how=seen_by)
    needs_libdw(answer)
    for site in answer["sites"]:
        where = site["where"]
        assert (where["function"], where["file"], where["line"]) == (None, None, None)
        assert where["module"] == program
        nearest = max((at, name) for name, at in starts.items() if at <= where["module_offset"])[1]
        assert FUNCTIONS[nearest] == site["api"]


@pytest.mark.parametrize("kind", ["file", "link", "pipe"])
def test_debug_data_beside_a_program_is_opened_only_where_it_is_a_file(kind: str, tmp_path: Path) -> None:
    program = plant(tmp_path, "-g", "-O1", "-Wl,--build-id=none")
    for words in (
        ["objcopy", "--only-keep-debug", "planted", "planted.debug"],
        ["strip", "planted"],
        ["objcopy", "--add-gnu-debuglink=planted.debug", "planted"],
    ):
        subprocess.run(words, cwd=tmp_path, check=True, timeout=60)
    data = tmp_path / "planted.debug"
    if kind != "file":
        data.rename(tmp_path / "elsewhere")
    if kind == "link":
        data.symlink_to("elsewhere")
    elif kind == "pipe":
        # To open it to read would wait for somebody who writes.
        os.mkfifo(data)
    answer = taken(program)
    needs_libdw(answer)
    named = {site["where"]["function"] for site in answer["sites"]}
    assert named == ({None} if kind == "pipe" else set(FUNCTIONS))


def test_a_stack_that_is_larger_than_what_is_copied_says_so(seen_by: str, tmp_path: Path) -> None:
    answer = taken(plant(tmp_path, "-g", "-O1"), "30", how=seen_by)
    needs_libdw(answer)
    deep = [site for site in answer["sites"] if site["frames_end"] is not None]
    assert [site["frames_end"] for site in deep] == ["the stack is deeper than the part that is copied"]
    assert deep[0]["where"]["line"] == line_of("fork"), "the innermost call is known all the same"


#: A child that shows options, one that shows none, and one that executes nothing.
PREPARES = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static void begin(void) { execl("/bin/true", "true", (char *)0); }
static void plain(void) { if (fork() == 0) begin(); wait(0); }
static void stays(void) { if (fork() == 0) { umask(0); _exit(0); } wait(0); }
static void prepared(void) {
    if (fork() == 0) {
        if (setsid() < 0 || chdir("/") != 0) _exit(1);
        umask(022);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(0, 50);
        dup2(0, 51);
        for (int fd = 100; fd < 300; fd++) close(fd);
        for (int n = 0; n < 3; n++) signal(SIGUSR1, SIG_IGN);
        execl("/bin/sh", "sh", "-c", "exec true", (char *)0);
    }
    wait(0);
}
int main(void) {
    for (volatile int i = 0; i < 3; i++) prepared();
    plain();
    stays();
    return 0;
}
"""


def prepares(folder: Path, how: str) -> dict[str, Any]:
    (folder / "prepares.c").write_text(PREPARES)
    subprocess.run(["cc", "-g", "-O0", "-o", "prepares", "prepares.c"], cwd=folder, check=True, timeout=60)
    return taken(str(folder / "prepares"), how=how)


def test_what_a_child_does_before_its_exec_is_counted(tmp_path: Path) -> None:
    answer = prepares(tmp_path, "auto")
    if answer["calls_missing"] is not None:
        pytest.skip(answer["calls_missing"])
    needs_libdw(answer)
    places = {site["where"]["function"]: site for site in answer["sites"]}
    once = {"tasks": 3, "times": 3}
    assert places["prepared"]["did"] == {
        "close": {"tasks": 3, "times": 600},
        "rt_sigaction": {"tasks": 3, "times": 9},
        "dup2": {"tasks": 3, "times": 6},
        **dict.fromkeys(("setsid", "chdir", "umask", "prctl(PR_SET_PDEATHSIG)"), once),
    }
    assert places["prepared"]["helpers"] == {"/bin/sh": 3}
    assert places["plain"]["did"] == {}
    assert places["stays"]["did"] == {"umask": {"tasks": 1, "times": 1}}
    assert all(site["did_known"] == site["created"] for site in answer["sites"])
    assert all(site["did_cut"] == 0 for site in answer["sites"])


def test_by_ptrace_it_is_said_that_childrens_calls_are_not_seen(tmp_path: Path) -> None:
    answer = prepares(tmp_path, "ptrace")
    assert "ptrace" in answer["calls_missing"]
    assert all(site["did_known"] == 0 for site in answer["sites"])


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="takes root to hide a library")
def test_without_libdw_frame_pointers_serve_and_its_package_is_named(tmp_path: Path) -> None:
    libraries = subprocess.run(["ldconfig", "-p"], check=True, capture_output=True, text=True, timeout=60).stdout
    places = [line.rsplit(" ", 1)[1] for line in libraries.splitlines() if "libdw.so.1 " in line]
    hidden = "".join(f"mount --bind /dev/null {place} && " for place in places)
    program = plant(tmp_path, "-O1", "-fno-omit-frame-pointer", "-static")
    script = f"{hidden}exec {CLONOMETER} census --json -- {program}"
    ended = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], check=False, capture_output=True, text=True, timeout=120
    )
    if "unshare failed" in ended.stderr or "mount:" in ended.stderr:
        pytest.skip(f"no private mounts here: {ended.stderr[-200:]}")
    answer = json.loads(ended.stdout)
    assert answer["stacks"]["by"] == "frame pointers"
    assert "libdw1" in answer["stacks"]["without"]
    assert all(site["frames"] for site in answer["sites"])
    assert {frame["function"] for site in answer["sites"] for frame in site["frames"]} == {None}


def test_a_table_says_where_and_no_stacks_says_nothing_of_it(tmp_path: Path) -> None:
    program = plant(tmp_path, "-g", "-O1")
    shown = run("--no-advice", "--", program).stdout
    assert f"planted.c:{line_of('pthread_create')} " in shown
    assert "planted.c" not in run("--no-advice", "--no-stacks", "--", program).stdout


def test_a_creator_that_dies_at_once_is_known_all_the_same(tmp_path: Path) -> None:
    """Its mappings are gone when its stack is read: the kernel's records tell them."""
    if not can_trace():
        pytest.skip("tracepoints may not be read here")
    program = plant(tmp_path, "-g", "-O1")
    answer = taken("sh", "-c", f"for i in 1 2 3 4 5 6 7 8 9 10; do {program} & done; wait")
    needs_libdw(answer)
    assert answer["stacks"]["missing"] == {}
    planted = [site for site in answer["sites"] if (site["program"] or "").endswith("planted")]
    assert len(planted) == len(FUNCTIONS)
    assert all(site["created"] == 20 for site in planted)


def test_a_running_process_is_read_from_outside(tmp_path: Path) -> None:
    if not can_trace():
        pytest.skip("tracepoints may not be read here")
    main = 'int main(int n, char **w) { (void)getchar(); planted_main(n, w); puts("done"); fflush(stdout); pause(); }'
    source = f"#include <stdio.h>\n{PLANTED.replace('int main(', 'int planted_main(')}{main}\n"
    (tmp_path / "waits.c").write_text(source)
    subprocess.run(["cc", "-g", "-O1", "-pthread", "-o", "waits", "waits.c"], cwd=tmp_path, check=True, timeout=60)
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([str(tmp_path / "waits")], start_new_session=True, **pipes) as process:
        try:
            answer = watched(process.pid, attached, lambda: works(process))
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    needs_libdw(answer)
    assert {site["where"]["function"] for site in answer["sites"]} == set(FUNCTIONS)


def works(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "done\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root to change the root")
def test_in_another_root_files_are_those_of_the_process(tmp_path: Path) -> None:
    """Whoever lives long enough is read through its root; of others the addresses are told, and why not more."""
    if not can_trace():
        pytest.skip("tracepoints may not be read here")
    # Neither a shell nor `true` is there.
    quick = "#define _GNU_SOURCE\n" + PLANTED.replace("!= 0) abort()", "< 0) abort()")
    sources = {"quick": quick, "waits": quick.replace("    return 0;\n", "    usleep(500000);\n    return 0;\n")}
    for name, source in sources.items():
        (tmp_path / f"{name}.c").write_text(source)
        words = ["cc", "-g", "-O1", "-static", "-pthread", "-o", name, f"{name}.c"]
        subprocess.run(words, cwd=tmp_path, check=True, timeout=60)
    answer = taken("chroot", str(tmp_path), "/waits")
    needs_libdw(answer)
    assert {site["where"]["function"] for site in answer["sites"]} == set(FUNCTIONS)
    assert {site["where"]["module"] for site in answer["sites"]} == {"/waits"}
    for site in taken("chroot", str(tmp_path), "/quick")["sites"]:
        named = site["where"] is not None and site["where"]["function"] in FUNCTIONS
        assert named or "in another root" in (site["frames_end"] or ""), site


GO = """package main

import "os/exec"

func launch() {
	if err := exec.Command("/bin/true").Run(); err != nil {
		panic(err)
	}
}

func main() {
	launch()
}
"""


@pytest.mark.skipif(shutil.which("go") is None, reason="no Go is installed")
def test_the_line_of_a_go_program_is_named(tmp_path: Path) -> None:
    """Go keeps the return address of its vfork in a register, and has no table of its compilation units."""
    if not can_trace():
        pytest.skip("tracepoints may not be read here")
    (tmp_path / "launches.go").write_text(GO)
    words = ["go", "build", "-o", "launches", "launches.go"]
    environment = os.environ | {"GO111MODULE": "off"}
    subprocess.run(words, cwd=tmp_path, check=True, timeout=300, env=environment)
    answer = taken(str(tmp_path / "launches"))
    needs_libdw(answer)
    execed = [site for site in answer["sites"] if site["execed"]]
    assert [site["api"] for site in execed] == ["os/exec.(*Cmd).Run"]
    where = execed[0]["where"]
    assert (where["function"], Path(where["file"]).name, where["line"]) == ("main.launch", "launches.go", 6)
