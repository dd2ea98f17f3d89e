from __future__ import annotations

import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fakes.memory_run import write_raw
from tests.fakes.sample_run import sample_run

from clonometer.errors import OutputError, RunFileError
from clonometer.protocol import RawRun, RawWriter
from clonometer.protocol.frames import encode_frame


def shape(path: Path) -> list[tuple[int, list[bytes], bool, bool]]:
    """Of each process: its number, its blocks as sent, whether DONE and EXIT came."""
    return [
        (
            process.entry["process"],
            [block.raw for block in process.blocks],
            process.done is not None,
            process.ended,
        )
        for process in RawRun(path).processes()
    ]


def test_reads_what_was_written(tmp_path: Path) -> None:
    run = RawRun(write_raw(tmp_path / "a.raw", sample_run()))
    assert dict(run.metadata) == sample_run().at_start
    read = list(run.processes())
    assert [process.entry for process in read] == [process.entry for process in sample_run().processes()]
    assert [block.raw for process in read for block in process.blocks] == [
        block.raw for process in sample_run().processes() for block in process.read()[0]
    ]
    assert run.ending == sample_run().ending
    assert run.fault is None


def test_blocks_can_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.raw"
    blocks, _ = sample_run().processes()[0].read()
    with RawWriter(path, sample_run().at_start) as raw:
        raw.begin_process(sample_run().processes()[0].entry_at_start)
        again = [raw.add_block(block) for block in blocks]
    assert [load().raw for load in again] == [block.raw for block in blocks]
    process = next(RawRun(path).processes())
    assert [load().raw for load in process.reload] == [block.raw for block in blocks]
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(RunFileError, match="has changed: no whole block"):
        again[-1]()


def test_a_cut_anywhere_leaves_whole_blocks_only(tmp_path: Path) -> None:
    whole = write_raw(tmp_path / "whole.raw", sample_run(2), n_processes=2).read_bytes()
    expected = shape(tmp_path / "whole.raw")
    begin = 16 + 16 + len(json.dumps(sample_run().at_start))
    cut_path = tmp_path / "whole.raw"
    seen = set()
    for cut in [*range(len(whole) - 1, begin - 2, -1), *range(begin - 2, 0, -97)]:
        os.truncate(cut_path, cut)
        if cut < begin:
            with pytest.raises(RunFileError, match="holds no run"):
                RawRun(cut_path)
            continue
        run = RawRun(cut_path)
        read = list(run.processes())
        seen.add(sum(len(process.blocks) for process in read))
        for at, process in enumerate(read):
            blocks = [block.raw for block in process.blocks]
            assert blocks == expected[at][1][: len(blocks)]
            # Only the last process may lack something.
            assert process.ended or at == len(read) - 1
        assert run.ending is None
    assert seen == {0, 1, 2, 3, 4}


def test_says_where_a_file_was_cut(tmp_path: Path) -> None:
    path = write_raw(tmp_path / "a.raw", sample_run(), end=False)
    run = RawRun(path)
    list(run.processes())
    assert (run.ending, run.fault) == (None, None)
    path.write_bytes(path.read_bytes()[:-5])
    run = RawRun(path)
    assert [process.ended for process in run.processes()] == [True, True, False]
    assert run.fault is not None
    assert "bytes of a EXIT frame" in run.fault


def test_damage_in_the_middle_keeps_what_came_before(tmp_path: Path) -> None:
    path = write_raw(tmp_path / "a.raw", sample_run())
    data = bytearray(path.read_bytes())
    at = data.rindex(b"COLS") + 20
    data[at] ^= 1
    path.write_bytes(data)
    run = RawRun(path)
    assert [len(process.blocks) for process in run.processes()] == [3, 1, 2]
    assert run.fault is not None
    assert "the samples are damaged" in run.fault


@pytest.mark.parametrize(
    "kinds",
    ["HEAD", "EXIT", "RUNM", "PROC PROC", "PROC ENDR", "ENDR PROC", "PROC COLS", "WHAT", "PROC WHAT"],
)
def test_refuses_frames_out_of_order(kinds: str, tmp_path: Path) -> None:
    path = tmp_path / "a.raw"
    RawWriter(path, sample_run().at_start).close()
    with path.open("ab") as file:
        for kind in kinds.split():
            file.write(encode_frame(kind, b"{}"))
    run = RawRun(path)
    list(run.processes())
    assert run.fault is not None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no byte at all"),
        (b"PAR1 and so on, of some length", "does not begin with CLNMTRAW"),
        (b"CLNMTRAW\x02\0\0\0\0\0\0\0", "version 2"),
        (b"CLNMTRAW\x01\0\0\0\0\0\0\0", "ends before the run's metadata"),
    ],
)
def test_refuses_what_is_no_raw_file(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.raw"
    path.write_bytes(data)
    with pytest.raises(RunFileError, match=message):
        RawRun(path)


def test_refuses_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="No such file"):
        RawRun(tmp_path / "a.raw")


def test_never_overwrites_an_unfinished_run_unasked(tmp_path: Path) -> None:
    path = write_raw(tmp_path / "a.raw", sample_run())
    with pytest.raises(OutputError, match="an unfinished run") as caught:
        RawWriter(path, sample_run().at_start)
    assert caught.value.hint is not None
    assert f"clonometer recover {path}" in caught.value.hint
    RawWriter(path, sample_run().at_start, force=True).close()
    assert shape(path) == []


@contextmanager
def largest_file(size_bytes: int) -> Iterator[None]:
    """Let files of this process grow no larger, which fails as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_says_what_was_saved_when_the_disk_is_full(tmp_path: Path) -> None:
    path, blocks = tmp_path / "a.raw", sample_run().processes()[0].read()[0]
    with RawWriter(path, sample_run().at_start) as raw:
        raw.begin_process(sample_run().processes()[0].entry_at_start)
        again = raw.add_block(blocks[0])
        with largest_file(path.stat().st_size + 10), pytest.raises(OutputError) as caught:
            raw.add_block(blocks[1])
        assert f"cannot write {path}: a file may grow no further (ulimit -f); 1 blocks" in caught.value.message
        assert caught.value.hint == f"raise the limit: ulimit -f unlimited; then: clonometer recover {path}"
        # Nothing follows the torn frame; what came before can be read, even by a name that is gone.
        with pytest.raises(OutputError, match="is closed"):
            raw.end_process({})
        path.rename(tmp_path / "elsewhere")
        assert again().raw == blocks[0].raw


def test_leaves_nothing_where_not_even_the_beginning_has_room(tmp_path: Path) -> None:
    with largest_file(10), pytest.raises(OutputError, match="may grow no further") as caught:
        RawWriter(tmp_path / "a.raw", sample_run().at_start)
    assert (caught.value.hint, caught.value.exit_status) == ("raise the limit: ulimit -f unlimited", 4)
    assert not list(tmp_path.iterdir())


def test_a_run_that_is_being_written_is_let_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.raw"
    with RawWriter(path, sample_run().at_start) as raw:
        before = path.stat().st_ino
        for options in ({}, {"force": True}, {"aside": tmp_path / "a.previous.raw"}):
            with pytest.raises(OutputError, match="being written by another run"):
                RawWriter(path, sample_run().at_start, **options)
        assert [path.stat().st_ino for path in tmp_path.iterdir()] == [before]
        raw.end(sample_run().ending)
    kept = RawWriter(path, sample_run().at_start, aside=tmp_path / "a.previous.raw")
    assert kept.kept is not None
    assert kept.kept.stat().st_ino == before
    # What another has taken meanwhile is not removed.
    kept.close()
    RawWriter(path, sample_run().at_start, force=True).remove()
    assert [path.name for path in tmp_path.iterdir()] == ["a.previous.raw"]


def test_force_removes_a_link_and_never_follows_it(tmp_path: Path) -> None:
    path, victim = tmp_path / "a.raw", tmp_path / "victim"
    victim.write_text("precious")
    for target in (victim, tmp_path / "not-there-yet"):
        path.symlink_to(target)
        with pytest.raises(OutputError, match="exists"):
            RawWriter(path, sample_run().at_start)
        RawWriter(path, sample_run().at_start, force=True).close()
        assert not path.is_symlink()
        path.unlink()
    assert [path.name for path in tmp_path.iterdir()] == ["victim"]
    assert victim.read_text() == "precious"


def test_force_removes_no_device(tmp_path: Path) -> None:
    path = tmp_path / "a.raw"
    os.mkfifo(path)
    with pytest.raises(OutputError, match="not a regular file"):
        RawWriter(path, sample_run().at_start, force=True)
    assert path.is_fifo()


def test_removes_the_file_when_it_is_no_longer_needed(tmp_path: Path) -> None:
    raw = RawWriter(tmp_path / "a.raw", sample_run().at_start)
    raw.remove()
    assert not list(tmp_path.iterdir())
    with pytest.raises(OutputError, match="is closed"):
        raw.end({})


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damage_anywhere_gives_run_file_errors_only(tmp_path: Path, data: st.DataObject) -> None:
    path, whole = tmp_path / "damaged.raw", tmp_path / "whole.raw"
    damaged = bytearray((whole if whole.exists() else write_raw(whole, sample_run(3))).read_bytes())
    sent = {
        block.raw[block.raw.index(b"COLS") :] for process in sample_run(3).processes() for block in process.read()[0]
    }
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=6))
    path.write_bytes(damaged)
    try:
        blocks = [block for process in RawRun(path).processes() for block in process.blocks]
    except RunFileError:
        return
    samples = {raw[: raw.index(b"TAIL")] for raw in sent}
    assert all(block.raw[block.raw.index(b"COLS") : block.raw.index(b"TAIL")] in samples for block in blocks)
