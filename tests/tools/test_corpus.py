"""What fuzzers keep is read back as it was, and what no reader of a diff would look at is left out."""

from __future__ import annotations

from pathlib import Path

from tools import corpus

PROJECT = Path(__file__).parents[2]


def test_inputs_are_read_back_the_shortest_first_and_long_ones_are_left_out(tmp_path: Path) -> None:
    text, before, after = tmp_path / "kept.txt", tmp_path / "before", tmp_path / "after"
    before.mkdir()
    after.mkdir()
    for number, content in enumerate((b"\x00\xff\n", b"a", b"a", b"", bytes(corpus.MOST_BYTES + 1))):
        (before / str(number)).write_bytes(content)
    corpus.pack(text, before)
    assert text.read_text() == "61\n00ff0a\n"
    corpus.unpack(text, after)
    assert sorted(path.read_bytes() for path in after.iterdir()) == [b"\x00\xff\n", b"a"]


def test_every_fuzzer_has_inputs() -> None:
    fuzzers = {path.stem for path in (PROJECT / "core/fuzz").glob("fuzz_*.c")}
    assert len(fuzzers) >= 6
    assert fuzzers == {path.stem for path in (PROJECT / "core/fuzz/corpus").glob("*.txt") if path.read_text()}
