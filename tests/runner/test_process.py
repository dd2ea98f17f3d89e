from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import time
from pathlib import Path
from unittest.mock import Mock

import pytest

from clonometer.errors import DriverError
from clonometer.runner import leftovers
from clonometer.runner.process import ANSWER_FD, STDERR_KEPT_CHARACTERS, Ending, answer_of, supervise


def python(code: str, *words: str) -> list[str]:
    return [sys.executable, "-S", "-E", "-c", f"import os, sys, time\n{code}", *words]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def run(
    code: str, *, timeout_s: float = 20.0, interrupt_fd: int | None = None, folders: tuple[str, ...] = ()
) -> tuple[bytes, Ending]:
    pieces: list[bytes] = []
    ending = supervise(
        python(code, "--fd", ANSWER_FD),
        lambda data: pieces.append(data) is None,
        timeout_s=timeout_s,
        interrupt_fd=interrupt_fd,
        folders=folders,
    )
    return b"".join(pieces), ending


def test_its_end_is_noticed_where_a_filter_refuses_pidfds(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(pid: int, flags: int = 0) -> int:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "pidfd_open", refused)
    before = signal.getsignal(signal.SIGCHLD)
    endings = [run(ANSWER + "time.sleep(0.05); os.write(out, b'late'); sys.exit(7)")]
    endings.append(run(ANSWER + "os.write(out, b'at once'); os._exit(0)"))
    endings.append(run("time.sleep(60)", timeout_s=0.2))
    # Python sets signals in its main thread only.
    elsewhere = threading.Thread(target=lambda: endings.append(run(ANSWER + "os.write(out, b'there')")))
    elsewhere.start()
    elsewhere.join()
    assert [(answer, ending.exit_status, ending.stopped) for answer, ending in endings] == [
        (b"late", 7, None), (b"at once", 0, None), (b"", None, "timeout"), (b"there", 0, None)
    ]  # fmt: skip
    assert all(ending.seconds < 20 for _, ending in endings)
    assert signal.getsignal(signal.SIGCHLD) == before
    monkeypatch.setattr(threading.Thread, "start", Mock(side_effect=RuntimeError("can't start new thread")))
    with pytest.raises(DriverError, match="cannot wait for a program: can't start new thread"):
        run("time.sleep(60)")


@pytest.mark.parametrize("end", ["sys.exit(3)", "time.sleep(60)", "os.kill(0, 9)"])
def test_what_a_driver_keeps_is_removed_whatever_ends_it(tmp_path: Path, end: str) -> None:
    kept, foreign = tmp_path / "clonometer-a1B2c3", tmp_path / "of somebody else"
    for folder in (kept, foreign):
        folder.mkdir()
        (folder / "file").touch()
    _, ending = run(
        f"os.write(2, b'one\\nkeeps: {kept}\\nkeeps: {foreign}\\ntwo')\n{end}", timeout_s=1.0, folders=(f"{tmp_path}/",)
    )
    assert not kept.exists()
    assert (foreign / "file").exists()
    assert (ending.stderr, ending.left) == ("one\ntwo", ())


def test_what_nobody_can_remove_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "_PATIENCE_S", 0.0)
    kept = tmp_path / "clonometer-a1B2c3"
    (kept / "a folder").mkdir(parents=True)
    assert run(f"os.write(2, b'keeps: {kept}')", folders=(str(tmp_path),))[1].left == (str(kept),)


@pytest.mark.parametrize("parents", [(), ("/elsewhere",), ("{0}/deeper",)])
def test_nothing_is_removed_where_the_driver_was_not_told_to_make_it(tmp_path: Path, parents: tuple[str, ...]) -> None:
    folders = tuple(each.format(tmp_path) for each in parents)
    precious = [tmp_path / "clonometer-master", tmp_path / "clonometer.7"]
    for folder in precious:
        folder.mkdir()
        (folder / "file").touch()
    lines = "".join(f"keeps: {folder}\\n" for folder in precious)
    _, ending = run(f"os.write(2, b'{lines}')", folders=folders)
    assert all((folder / "file").exists() for folder in precious)
    assert ending.left == ()


def test_a_folder_of_another_user_or_behind_a_link_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs, link = tmp_path / "clonometer-theirs", tmp_path / "clonometer-linked"
    theirs.mkdir()
    (theirs / "file").touch()
    link.symlink_to(theirs)
    run(f"os.write(2, b'keeps: {link}')", folders=(str(tmp_path),))
    monkeypatch.setattr(os, "geteuid", lambda: theirs.stat().st_uid + 1)
    run(f"os.write(2, b'keeps: {theirs}')", folders=(str(tmp_path),))
    assert (theirs / "file").exists()
    # Somebody gave it that name after it was looked at.
    monkeypatch.setattr(leftovers, "_is_ours", lambda path, folders: True)
    run(f"os.write(2, b'keeps: {theirs}')", folders=(str(tmp_path),))
    assert (theirs / "file").exists()


def test_what_a_program_is_given_is_its_input_whether_it_reads_it_or_not() -> None:
    given = b"x" * 300_000
    assert answer_of(python("print(len(sys.stdin.read()))"), timeout_s=20.0, given=given)[0] == b"300000\n"
    assert answer_of(python("print('no')"), timeout_s=20.0, given=given)[0] == b"no\n"


ANSWER = "out = int(sys.argv[2])\n"


def test_the_answer_arrives_whole_and_other_output_stays_apart() -> None:
    code = ANSWER + "print('noise')\nos.write(2, b'said')\nfor i in range(40): os.write(out, b'x' * 50_000)"
    answer, ending = run(code)
    assert answer == b"x" * 2_000_000
    assert ending.exit_status == 0
    assert ending.stderr == "said"
    assert ending.stopped is None


def test_standard_output_takes_the_answer_where_no_descriptor_was_named() -> None:
    pieces: list[bytes] = []
    ending = supervise(python("print('{}')"), lambda data: pieces.append(data) is None, timeout_s=20.0)
    assert b"".join(pieces) == b"{}\n"
    assert ending.exit_status == 0


def test_a_limit_may_be_longer_than_the_kernel_can_wait_at_once() -> None:
    assert run(ANSWER + "os.write(out, b'done')", timeout_s=1e12)[0] == b"done"


def test_the_driver_reads_nothing_and_leads_a_session_of_its_own() -> None:
    code = ANSWER + "os.write(out, b'%d %d %d' % (len(sys.stdin.read()), os.getsid(0) == os.getpid(), os.getpid()))"
    answer, _ = run(code)
    assert answer.split()[:2] == [b"0", b"1"]


def test_only_the_end_of_a_flood_of_errors_is_kept() -> None:
    code = "for i in range(100): os.write(2, 'é'.encode() * 10_000)\nos.write(2, b'the end')"
    _, ending = run(code)
    assert ending.stderr.endswith("é" * 100 + "the end")
    assert len(ending.stderr) == STDERR_KEPT_CHARACTERS


def test_errors_without_end_stop_the_driver() -> None:
    ending = supervise(python("import os\nwhile True: os.write(2, bytes(1 << 16))"), lambda data: True, timeout_s=60)
    assert ending.stopped == "refused"


def test_a_hang_is_stopped_with_all_it_started() -> None:
    code = ANSWER + (
        "child = os.fork()\nif child == 0: time.sleep(600)\n"
        "os.write(out, b'%d %d' % (os.getpid(), child))\ntime.sleep(600)"
    )
    answer, ending = run(code, timeout_s=3.0)
    assert ending.stopped == "timeout"
    assert "gave no answer within 3 s" in ending.describe()
    assert answer
    assert not any(alive(int(pid)) for pid in answer.split())


def test_a_stray_grandchild_neither_delays_the_end_nor_survives_it() -> None:
    code = ANSWER + (
        "child = os.fork()\nif child == 0: time.sleep(600)\nos.write(out, b'%d' % child)\nos.write(2, b'bye')"
    )
    began_s = time.monotonic()
    answer, ending = run(code, timeout_s=60.0)
    assert time.monotonic() - began_s < 30
    assert ending.exit_status == 0
    assert ending.stderr == "bye"
    assert not alive(int(answer))


def test_a_death_is_told_by_its_signal() -> None:
    _, ending = run("os.kill(os.getpid(), 11)")
    assert ending.exit_status == -11
    assert ending.describe() == "was killed by SIGSEGV"


def test_an_interrupt_stops_the_driver() -> None:
    read_fd, write_fd = os.pipe()
    os.write(write_fd, b"!")
    try:
        _, ending = run("time.sleep(600)", interrupt_fd=read_fd)
    finally:
        os.close(read_fd)
        os.close(write_fd)
    assert ending.stopped == "interrupt"


def test_an_answer_that_is_refused_ends_the_driver() -> None:
    seen: list[int] = []

    def refuse(data: bytes) -> bool:
        seen.append(int(data))
        return False

    code = ANSWER + "os.write(out, b'%d' % os.getpid())\ntime.sleep(600)"
    ending = supervise(python(code, "--fd", ANSWER_FD), refuse, timeout_s=60.0)
    assert ending.stopped == "refused"
    assert not alive(seen[0])


def test_an_exception_ends_the_driver_too() -> None:
    seen: list[int] = []

    def fail(data: bytes) -> bool:
        seen.append(int(data))
        raise KeyboardInterrupt

    code = ANSWER + "os.write(out, b'%d' % os.getpid())\ntime.sleep(600)"
    with pytest.raises(KeyboardInterrupt):
        supervise(python(code, "--fd", ANSWER_FD), fail, timeout_s=60.0)
    assert not alive(seen[0])


def test_what_cannot_be_started_is_named(tmp_path: Path) -> None:
    with pytest.raises(DriverError, match=r"cannot start .*absent: No such file"):
        supervise([str(tmp_path / "absent")], lambda data: True, timeout_s=1.0)


def test_no_descriptor_is_left_open() -> None:
    before = set(os.listdir("/proc/self/fd"))
    run(ANSWER + "os.write(out, b'x')")
    with pytest.raises(DriverError):
        supervise(["/nonexistent/driver"], lambda data: True, timeout_s=1.0)
    assert set(os.listdir("/proc/self/fd")) == before


def test_lazy_binding_is_not_overruled_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_BIND_NOW", "1")
    answer, _ = run(ANSWER + "os.write(out, str(os.environ.get('LD_BIND_NOW')).encode())")
    assert answer == b"None"


def test_an_interrupt_that_met_the_driver_as_well_is_an_interrupt() -> None:
    """The terminal's reaches a driver that has not yet a session of its own: no failure of the driver's."""
    reading, writing = os.pipe()

    def wish(data: bytes) -> bool:
        # It has ended before the wish is there, so its end is noticed first.
        assert os.waitid(os.P_PID, int(data), os.WEXITED | os.WNOWAIT) is not None
        os.write(writing, b"!")
        return True

    code = ANSWER + "os.write(out, str(os.getpid()).encode()); os.kill(os.getpid(), 2)"
    try:
        ending = supervise(
            python("import signal; signal.signal(2, signal.SIG_DFL)\n" + code, "--fd", ANSWER_FD),
            wish,
            timeout_s=20.0,
            interrupt_fd=reading,
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert (ending.stopped, ending.exit_status) == ("interrupt", None)
