"""What a command that is watched can see of the mounts that its watcher needed."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from tests.integration import container
from tests.integration.test_surroundings import HERE, Installed
from tests.integration.test_tiers import TRACEFS, answer_of, made, pytestmark, run  # noqa: F401 (marks these too)


@pytest.mark.parametrize("refused", [(), ("fsopen",)], ids=["in no namespace", "in one of its own"])
def test_what_is_watched_sees_nothing_of_a_private_mount(tmp_path: Path, refused: tuple[str, ...]) -> None:
    alone = tmp_path / "alone"
    changes = [(place, str(made(tmp_path / "empty"))) for place in TRACEFS if Path(place).is_dir()]

    def before() -> None:
        container.change_mounts(*changes)
        # A mount of the machine's own is still listed, below the empty folder that hides it.
        mounts = [line for line in Path("/proc/self/mounts").read_text().splitlines() if "tracefs" in line]
        alone.write_text("\n".join([*mounts, str(Path("/proc/self/ns/mnt").readlink())]))
        container.refuse(refused, errno.ENOSYS)

    look = "grep tracefs /proc/self/mounts; readlink /proc/self/ns/mnt /proc/$$/fd/*; ls /sys/kernel/tracing; true"
    installed = Installed(HERE.python, HERE.modules, before)
    ended = run(installed, tmp_path / "work", "census", "--no-advice", "--json", "--", "sh", "-c", look)
    assert (ended.returncode, answer_of(ended)["how"]) == (0, "tracepoints")
    expected, seen = alone.read_text().splitlines(), ended.stderr.splitlines()
    assert seen[: len(expected)] == expected
    # Input, output and errors; and what readlink makes of the folder's own, which is closed by then.
    descriptors = seen[len(expected) :]
    assert len(descriptors) <= 3
    assert all(target.startswith(("/dev/null", "pipe:")) for target in descriptors)
