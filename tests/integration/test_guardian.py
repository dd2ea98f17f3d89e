"""The frequency guardian on a made /sys tree: what it sets, and that all comes back whoever dies."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from tests import probe

pytestmark = pytest.mark.real

CPU = "devices/system/cpu"
GUARDIAN = "clonometer-guardian"
SAVED = "saved"
BOOT = Path("/proc/sys/kernel/random/boot_id")


def make_tree(root: Path, turbo: str = "intel_pstate/no_turbo", cpus: Iterable[int] = range(4)) -> dict[str, str]:
    """CPUs with settings that differ, and the switch for turbo of one of the two kinds."""
    files = {f"{CPU}/{turbo}": "0" if turbo.endswith("no_turbo") else "1"}
    for cpu in cpus:
        folder = f"{CPU}/cpu{cpu}/cpufreq"
        files |= {
            f"{folder}/cpuinfo_min_freq": "800000",
            f"{folder}/cpuinfo_max_freq": "4000000",
            f"{folder}/base_frequency": "2600000",
            f"{folder}/scaling_governor": "powersave" if cpu % 2 else "schedutil",
            f"{folder}/scaling_min_freq": str(900000 + cpu),
            f"{folder}/scaling_max_freq": str(3900000 + cpu),
            f"{folder}/energy_performance_preference": "balance_power",
        }
    for name, value in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value + "\n")
    return files


@pytest.fixture
def tree(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    return tmp_path, make_tree(tmp_path)


def read(root: Path, name: str) -> str:
    return (root / CPU / name).read_text().strip()


def now(root: Path, files: dict[str, str]) -> dict[str, str]:
    return {name: (root / name).read_text().strip() for name in files}


def start(root: Path, wish: str, cpus: str = "0-3", **options: Callable[[], None]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [probe.folder() / GUARDIAN, wish, cpus, str(root), str(root / SAVED)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def ready(guardian: subprocess.Popen[str]) -> None:
    assert guardian.stdout.readline() == "ready\n"


def becomes(root: Path, files: dict[str, str]) -> bool:
    for _ in range(200):
        if now(root, files) == files:
            return True
        time.sleep(0.05)
    return False


def end(guardian: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, errors = guardian.communicate(timeout=30)
    return guardian.returncode, out, errors


@pytest.mark.parametrize(
    ("wish", "khz", "no_turbo"),
    [
        ("base", "2600000", "1"),
        ("turbo", "4000000", "0"),
        ("2000000", "2000000", "1"),
        ("3000000", "3000000", "0"),
    ],
)
def test_a_wish_is_set_and_all_comes_back(
    tree: tuple[Path, dict[str, str]], wish: str, khz: str, no_turbo: str
) -> None:
    root, files = tree
    guardian = start(root, wish, "1,3")
    ready(guardian)
    assert read(root, "intel_pstate/no_turbo") == no_turbo
    for cpu in (1, 3):
        assert read(root, f"cpu{cpu}/cpufreq/scaling_min_freq") == khz
        assert read(root, f"cpu{cpu}/cpufreq/scaling_max_freq") == khz
        assert read(root, f"cpu{cpu}/cpufreq/scaling_governor") == "performance"
    others = {name: value for name, value in files.items() if "/cpu0/" in name or "/cpu2/" in name}
    assert now(root, others) == others
    assert end(guardian) == (0, "restored\n", "")
    assert now(root, files) == files


def test_the_other_kind_of_switch_for_turbo(tmp_path: Path) -> None:
    files = make_tree(tmp_path, "cpufreq/boost")
    guardian = start(tmp_path, "base")
    ready(guardian)
    assert read(tmp_path, "cpufreq/boost") == "0"
    assert end(guardian) == (0, "restored\n", "")
    assert now(tmp_path, files) == files


def test_it_restores_when_its_parent_is_killed(tree: tuple[Path, dict[str, str]]) -> None:
    """The parent holds the other end of its stdin and dies by SIGKILL; it even asked to be followed into death."""
    root, files = tree
    code = (
        "import ctypes, subprocess, sys, time\n"
        "follow = lambda: ctypes.CDLL(None).prctl(1, 9)\n"
        "g = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=follow)\n"
        "sys.stdout.write(g.stdout.readline().decode() + str(g.pid) + chr(10))\n"
        "sys.stdout.flush()\n"
        "time.sleep(600)\n"
    )
    words = ["base", "0-3", str(root), str(root / SAVED)]
    command = [sys.executable, "-c", code, str(probe.folder() / GUARDIAN), *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout.readline() == "ready\n"
        assert now(root, files) != files
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert becomes(root, files)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_signals_do_not_stop_it_before_its_stdin_ends(tree: tuple[Path, dict[str, str]], name: str) -> None:
    root, files = tree
    guardian = start(root, "base")
    ready(guardian)
    guardian.send_signal(getattr(signal, name))
    time.sleep(0.1)
    assert guardian.poll() is None
    assert now(root, files) != files
    assert end(guardian) == (0, "restored\n", "")
    assert now(root, files) == files


def test_it_is_not_in_the_group_that_ctrl_c_reaches(tree: tuple[Path, dict[str, str]]) -> None:
    guardian = start(tree[0], "base")
    ready(guardian)
    assert os.getsid(guardian.pid) == guardian.pid
    assert end(guardian)[0] == 0


def test_settings_come_back_even_if_it_is_killed_itself(tree: tuple[Path, dict[str, str]]) -> None:
    root, files = tree
    guardian = start(root, "base")
    ready(guardian)
    guardian.kill()
    guardian.wait()
    time.sleep(0.1)
    # Whoever measures is still there, and still gets the frequency that was asked for.
    assert read(root, "cpu0/cpufreq/scaling_max_freq") == "2600000"
    end(guardian)
    assert becomes(root, files)


_IN_MODIFY, _IN_DELETE, _IN_NONBLOCK = 0x2, 0x200, os.O_NONBLOCK


class Changes:
    """What is written and removed below some folders, in its order."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.inotify_init1(_IN_NONBLOCK)
        self._folders = {
            self._libc.inotify_add_watch(self._fd, bytes(folder), _IN_MODIFY | _IN_DELETE): folder for folder in folders
        }
        assert self._fd >= 0
        assert min(self._folders) >= 0

    def names(self) -> list[str]:
        """Those since the last call; of one after the other to the same file one."""
        data, names = os.read(self._fd, 1 << 16), []
        while data:
            folder, _, _, length = struct.unpack_from("iIII", data)
            file = data[16 : 16 + length].rstrip(b"\0").decode()
            data = data[16 + length :]
            name = f"{self._folders[folder].parent.name}/{file}"
            if names[-1:] != [name]:
                names.append(name)
        return names

    def close(self) -> None:
        os.close(self._fd)


def test_settings_are_written_in_an_order_that_the_kernel_takes(tree: tuple[Path, dict[str, str]]) -> None:
    """No limit may cross the other at any time, and the powersave governor alone lets a preference be written."""
    root, files = tree
    (root / SAVED).mkdir(mode=0o700)
    cpufreq = root / CPU / "cpu1/cpufreq"
    changes = Changes([cpufreq, root / SAVED])
    try:
        guardian = start(root, "base", "1")
        ready(guardian)
        saved, *changed = changes.names()
        assert saved == f"{root.name}/frequency", "nothing is changed before it is saved"
        least, most = "cpu1/scaling_min_freq", "cpu1/scaling_max_freq"
        assert changed == ["cpu1/scaling_governor", least, most, least]
        (cpufreq / "energy_performance_preference").write_text("performance\n")
        changes.names()
        assert end(guardian)[0] == 0
        restored = changes.names()
        preference = "cpu1/energy_performance_preference"
        assert restored == [least, "cpu1/scaling_governor", most, least, preference, saved]
    finally:
        changes.close()
    assert now(root, files) == files


def test_two_at_once_would_bring_back_the_wrong_settings(tree: tuple[Path, dict[str, str]]) -> None:
    root, files = tree
    first = start(root, "base")
    ready(first)
    second = start(root, "turbo")
    status, out, _ = end(second)
    assert status == 3
    assert out == "refused: another clonometer-guardian is running\n"
    assert read(root, "cpu0/cpufreq/scaling_max_freq") == "2600000"
    assert end(first)[0] == 0
    assert now(root, files) == files


def test_a_wish_that_fails_half_way_is_undone(tree: tuple[Path, dict[str, str]]) -> None:
    root, files = tree
    governor = f"{CPU}/cpu2/cpufreq/scaling_governor"
    (root / governor).unlink()
    del files[governor]
    status, out, _ = end(start(root, "base"))
    assert status == 3
    assert out.startswith("refused: ")
    assert "cpu2/cpufreq/scaling_governor" in out
    assert now(root, files) == files


def test_a_machine_without_cpufreq_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / CPU / "cpu0").mkdir(parents=True)
    status, out, errors = end(start(tmp_path, "base", "0"))
    assert (status, errors) == (3, "")
    assert "CPU 0 has no" in out


def test_no_base_frequency_is_guessed(tmp_path: Path) -> None:
    files = make_tree(tmp_path)
    (tmp_path / CPU / "intel_pstate/no_turbo").unlink()
    (tmp_path / CPU / "cpu0/cpufreq/base_frequency").unlink()
    status, out, _ = end(start(tmp_path, "base", "0"))
    assert status == 3
    assert "names no base frequency" in out
    left = {name: value for name, value in files.items() if (tmp_path / name).exists()}
    assert now(tmp_path, left) == left


def test_what_cannot_be_restored_is_said(tree: tuple[Path, dict[str, str]]) -> None:
    root, _ = tree
    guardian = start(root, "base")
    ready(guardian)
    (root / CPU / "cpu1/cpufreq/scaling_governor").unlink()
    status, out, errors = end(guardian)
    assert (status, out) == (1, "")
    assert "cpu1/cpufreq/scaling_governor could not be restored to powersave" in errors
    assert read(root, "cpu1/cpufreq/scaling_max_freq") == "3900001"


@pytest.mark.parametrize(
    "words", [[], ["base"], ["fast", "0"], ["0", "0"], ["base", ""], ["base", "3-1"], ["base", "x"], ["-5", "0"]]
)
def test_a_call_that_cannot_be_meant_changes_nothing(tree: tuple[Path, dict[str, str]], words: list[str]) -> None:
    root, files = tree
    ended = subprocess.run(
        [probe.folder() / GUARDIAN, *words, *([str(root)] if len(words) == 2 else [])],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
    )
    assert ended.returncode == 2
    assert ended.stderr
    assert now(root, files) == files


def restore(root: Path) -> tuple[int, str, str]:
    """What a start of anything does first: it puts back what is left."""
    command = [probe.folder() / GUARDIAN, "restore", str(root), str(root / SAVED)]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
    return ended.returncode, ended.stdout, ended.stderr


def saved_file(root: Path) -> Path:
    return root / SAVED / "frequency"


def kill_both(root: Path, wish: str = "base") -> None:
    """Set frequencies in a PID namespace, and kill all that is in it at once."""
    # A guardian lets nobody take it into death; the shell, which is process 1 there, dies with unshare.
    words = ["unshare", "--pid", "--fork", "--kill-child", "sh", "-c", '"$@"; true', "sh", probe.folder() / GUARDIAN]
    with subprocess.Popen(
        [*words, wish, "0-3", str(root), str(root / SAVED)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as unshare:
        ready(unshare)
        unshare.kill()
        # The end of its output is that of both.
        assert unshare.stdout.read() == ""


namespaces = pytest.mark.skipif(
    subprocess.run(["unshare", "--pid", "--fork", "true"], check=False, capture_output=True).returncode != 0,
    reason="no PID namespace can be made here",
)


@namespaces
def test_what_killed_both_guardians_loses_nothing(tree: tuple[Path, dict[str, str]]) -> None:
    root, files = tree
    restored = 0
    for time_killed in range(20):
        kill_both(root, ("base", "turbo", "2000000")[time_killed % 3])
        assert now(root, files) != files
        answer = restore(root)
        assert answer == (0, "", "put back: CPU frequency settings that a killed measurement had left changed\n")
        restored += now(root, files) == files
        assert not saved_file(root).exists()
    assert restored == 20


@namespaces
def test_the_next_guardian_restores_first_and_takes_no_pinned_value_for_the_truth(
    tree: tuple[Path, dict[str, str]],
) -> None:
    root, files = tree
    kill_both(root)
    kill_both(root, "turbo")
    guardian = start(root, "2000000")
    ready(guardian)
    status, out, errors = end(guardian)
    assert (status, out) == (0, "restored\n")
    assert errors.startswith("put back: ")
    assert now(root, files) == files


def test_what_is_saved_is_for_its_user_alone_and_only_as_long_as_it_is_needed(
    tree: tuple[Path, dict[str, str]],
) -> None:
    root, _ = tree
    guardian = start(root, "base")
    ready(guardian)
    assert saved_file(root).stat().st_mode & 0o777 == 0o600
    assert saved_file(root).parent.stat().st_mode & 0o777 == 0o700
    assert f"{CPU}/cpu3/cpufreq/scaling_max_freq 3900003\n" in saved_file(root).read_text()
    assert restore(root) == (0, "", ""), "a living guardian's settings were touched"
    assert read(root, "cpu3/cpufreq/scaling_max_freq") == "2600000"
    assert end(guardian) == (0, "restored\n", "")
    assert not saved_file(root).exists()


def test_nobody_else_can_keep_a_guardian_from_starting(tree: tuple[Path, dict[str, str]]) -> None:
    """Any user may open the folder of the CPUs, and lock it."""
    root, files = tree
    held = os.open(root / CPU, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        guardian = start(root, "base")
        ready(guardian)
        assert end(guardian) == (0, "restored\n", "")
    finally:
        os.close(held)
    assert now(root, files) == files


@namespaces
def test_settings_of_another_boot_are_discarded_and_that_is_said(tree: tuple[Path, dict[str, str]]) -> None:
    root, _ = tree
    kill_both(root)
    pinned = read(root, "cpu0/cpufreq/scaling_max_freq")
    text = saved_file(root).read_text()
    assert BOOT.read_text() in text
    saved_file(root).write_text(text.replace(BOOT.read_text().strip(), "00000000-0000-0000-0000-000000000000"))
    status, _, errors = restore(root)
    assert (status, errors[:11]) == (0, "discarded: ")
    assert read(root, "cpu0/cpufreq/scaling_max_freq") == pinned
    assert not saved_file(root).exists()


def whole(root: Path, *lines: str) -> str:
    return "".join(f"{line}\n" for line in ("clonometer-guardian 1", f"boot {BOOT.read_text().strip()}", *lines, "end"))


STRANGE = {
    "a path elsewhere": lambda root: whole(root, f"{root}/elsewhere 5"),
    "a path upwards": lambda root: whole(root, f"{root}/{CPU}/cpu0/cpufreq/../../../../../elsewhere 5"),
    "another root": lambda root: whole(root, f"/sys/{CPU}/cpu0/cpufreq/scaling_governor powersave"),
    "a file that no guardian writes": lambda root: whole(root, f"{root}/{CPU}/cpu0/cpufreq/cpuinfo_max_freq 5"),
    "a value that is none": lambda root: whole(root, f"{root}/{CPU}/cpu0/cpufreq/scaling_governor a;b"),
    "a value without end": lambda root: whole(root, f"{root}/{CPU}/cpu0/cpufreq/scaling_governor {'a' * 5000}"),
    "no value": lambda root: whole(root, f"{root}/{CPU}/cpu0/cpufreq/scaling_governor"),
    "no boot": lambda root: "clonometer-guardian 1\nend\n",
    "something else": lambda root: "\x00\xff" * 700 + "end\n",
    "the beginning of something else": lambda root: "MZ",
}


@pytest.mark.parametrize("strange", STRANGE)
def test_what_no_guardian_wrote_is_refused_and_kept(tree: tuple[Path, dict[str, str]], strange: str) -> None:
    root, files = tree
    (root / "elsewhere").write_text("4")
    (root / SAVED).mkdir(0o700)
    saved_file(root).write_text(text := STRANGE[strange](root))
    status, out, errors = restore(root)
    assert (status, out) == (1, "")
    assert "not what a guardian wrote" in errors
    guardian = start(root, "base")
    assert end(guardian)[:2] == (3, f"refused: {errors.removeprefix('clonometer-guardian: ')}")
    assert saved_file(root).read_text() == text
    assert now(root, files) == files
    assert (root / "elsewhere").read_text() == "4"


@pytest.mark.parametrize("length", [0, 10, 30, -5, -4, -1])
def test_a_guardian_that_was_killed_while_it_saved_had_changed_nothing(
    tree: tuple[Path, dict[str, str]], length: int
) -> None:
    root, files = tree
    (root / SAVED).mkdir(0o700)
    text = whole(root, f"{root}/{CPU}/cpu0/cpufreq/scaling_governor performance")
    saved_file(root).write_text(text[: length if length >= 0 else len(text) + length])
    assert restore(root) == (0, "", "")
    assert now(root, files) == files
    assert not saved_file(root).exists()


def make_link(path: Path) -> None:
    path.with_name("other").write_text("")
    path.symlink_to("other")


def make_writable(path: Path) -> None:
    path.touch()
    path.chmod(0o666)


def make_another_users(path: Path) -> None:
    path.touch()
    os.chown(path, 65534, 65534)


def make_second_name(path: Path) -> None:
    path.with_name("other").write_text("")
    path.hardlink_to(path.with_name("other"))


PLANTED: dict[str, Callable[[Path], None]] = {
    "a link": make_link,
    "a second name": make_second_name,
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a file that others may write": make_writable,
    "a folder that others may write": lambda path: path.parent.chmod(0o777),
}
if os.geteuid() == 0:
    PLANTED["a file of another user"] = make_another_users
    PLANTED["a folder of another user"] = lambda path: os.chown(path.parent, 65534, 65534)


@pytest.mark.parametrize("planted", PLANTED)
def test_what_others_may_have_put_there_is_refused(tree: tuple[Path, dict[str, str]], planted: str) -> None:
    root, files = tree
    (root / SAVED).mkdir(0o700)
    PLANTED[planted](saved_file(root))
    status, out, _ = end(start(root, "base"))
    assert (status, out[:9]) == (3, "refused: ")
    assert now(root, files) == files
