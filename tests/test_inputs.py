"""Files and answers of others: whatever stands under a name is read in bounds, or refused with a sentence."""

from __future__ import annotations

import json
import os
import resource
import socket
import threading
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from clonometer import inputs
from clonometer.errors import InputError, MissingFileError
from clonometer.fields import Fields, shown
from clonometer.inputs import (
    MOST_DEPTH,
    InputKind,
    open_input,
    parse_json,
    parse_toml,
    read_input,
    read_json,
    read_toml,
)

KIND = InputKind("a list", 100, "write one")


def fifo(path: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    # Its whole path may be too long.
    with chdir(path.parent), socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path.name)


def loop(path: Path) -> None:
    path.symlink_to(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (fifo, "is a pipe, not a file"),
        (unix_socket, "is a socket, not a file"),
        (loop, "symbolic links"),
        (device, "is a device, not a file"),
        (Path.mkdir, "Is a directory"),
    ],
)
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, make: Callable[[Path], None], words: str) -> None:
    path = tmp_path / "input"
    make(path)
    for read in (lambda: open_input(path), lambda: read_input(path, KIND)):
        with pytest.raises(InputError, match=words):
            read()


def test_what_takes_the_name_of_a_file_meanwhile_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, opened = tmp_path / "input", os.open
    path.write_text("[]")

    def swapped(name: Path, flags: int) -> int:
        path.unlink()
        os.mkfifo(path)
        return opened(name, flags)

    monkeypatch.setattr(os, "open", swapped)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(InputError, match="is a pipe"):
        open_input(path)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_is_read_up_to_the_size_of_its_kind(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(b" " * 100)
    assert len(read_input(path, KIND)) == 100
    for size in (101, 1 << 40):
        os.truncate(path, size)
        with pytest.raises(InputError, match="is too large for a list: more than 0 KiB") as caught:
            read_input(path, KIND)
        assert caught.value.hint == "write one"
    with pytest.raises(MissingFileError, match="No such file"):
        read_input(tmp_path / "none", KIND)
    with pytest.raises(InputError, match="has a NUL in it"):
        read_input(tmp_path / "a\0b", KIND)


def handed(text: bytes, *, closed: bool = True) -> tuple[Path, int]:
    reading, writing = os.pipe()
    os.write(writing, text)
    if closed:
        os.close(writing)
    return Path(f"/dev/fd/{reading}"), writing


def test_a_pipe_that_was_handed_to_us_is_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, writing = handed(b"[1,", closed=False)
    threading.Timer(0.1, lambda: (os.write(writing, b"2]"), os.close(writing))).start()
    assert read_json(path, KIND) == [1, 2]
    path, _ = handed(b" " * 101)
    with pytest.raises(InputError, match="too large"):
        read_input(path, KIND)
    # Who never writes, and never closes it, is not waited for.
    monkeypatch.setattr(inputs, "MOST_SILENT_S", 0.05)
    path, writing = handed(b"[", closed=False)
    with pytest.raises(InputError, match=r"is silent: nothing has come from it for 0.05 s"):
        read_input(path, KIND)
    os.close(writing)
    # A file that was handed to us is a file.
    (tmp_path / "input").write_text("[3]")
    with (tmp_path / "input").open() as file:
        assert read_json(Path(f"/dev/fd/{file.fileno()}"), KIND) == [3]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "it is not JSON"),
        ("[NaN]", "NaN is not a valid JSON number"),
        ('{"a": [0, 1e999]}', r"^a\[1\] is not a finite number"),
        ('{"a": {"b": 9223372036854775808}}', "^a.b is a whole number beyond 64 bits"),
        ("-9223372036854775809", "^it is a whole number beyond 64 bits"),
        ("9" * 5000, "a number has too many digits"),
        ("[" * 100_000, "nested too deeply"),
        ("[" * (MOST_DEPTH + 1) + "]" * (MOST_DEPTH + 1), "nested too deeply"),
        (b"\xff\xfe[\0]\0", "it is not UTF-8"),
        (r'["\ud800"]', "half of a surrogate pair"),
    ],
)
def test_json_that_nobody_can_use_is_refused(text: bytes | str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        parse_json(text)
    assert len(caught.value.message) < 200


def test_ordinary_json_is_read_as_it_is() -> None:
    document = {"a": [1.5, -(2**63), 2**63 - 1, "9" * 5000, "1e999", "\N{GRINNING FACE}"], "b": {"c": None}}
    assert parse_json(json.dumps(document)) == document
    deep = "[" * MOST_DEPTH + "]" * MOST_DEPTH
    assert parse_json(deep) == json.loads(deep)
    assert parse_json(r'"\ud800"', allow_halves=True) == "\ud800"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = ", "it is not TOML"),
        ("a = [nan]", r"^a\[0\] is not a finite number"),
        ("[a]\nb = 0x" + "f" * 20, "^a.b is a whole number beyond 64 bits"),
        ("a = " + "9" * 5000, "a number has too many digits"),
        ("a = " + "[" * 100_000, "nested too deeply"),
        ("a" + ".a" * 60_000 + " = 1", "nested too deeply"),
        ("a = {" + "\"a\" . 'b'." * 60_000 + "a = 1}", "nested too deeply"),
        ("[" + "a." * 60_000 + "a]", "nested too deeply"),
        (b"a = '\xff'", "it is not UTF-8"),
    ],
)
def test_toml_that_nobody_can_use_is_refused(text: bytes | str, words: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError, match=words) as caught:
        parse_toml(text)
    assert len(caught.value.message) < 200
    # The parser would ask for gigabytes.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10


def test_a_file_that_is_not_of_its_kind_is_named_with_what_makes_one(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_text("a =")
    for read in (read_json, read_toml):
        with pytest.raises(InputError, match=f"^{path} is not a list: it is not ") as caught:
            read(path, KIND)
        assert caught.value.hint == "write one"


def test_a_number_that_python_does_not_print_can_be_shown() -> None:
    assert shown(10**5000) == "a number of too many digits"


WHOLE = {
    "name": "a",
    "none": None,
    "flag": True,
    "seed": -3,
    "rows": 4,
    "share": 0.5,
    "words": ["a", "b"],
    "list": [{"x": 1}, 2],
}


class Reader(Fields):
    def complaint(self, place: str, wanted: str, actual: str) -> InputError:
        return InputError(f"{place or 'all'}: {actual}, not {wanted}")


def test_fields_are_given_as_what_they_are() -> None:
    fields = Reader(WHOLE, "top")
    assert fields.text("name") == fields.one_of("name", ("a", "b")) == "a"
    assert fields.text_or_none("none") is fields.count_or_none("absent") is None
    assert fields.boolean("flag") is True
    assert (fields.whole("seed"), fields.count("rows"), fields.count_or_none("rows")) == (-3, 4, 4)
    assert fields.texts("words") == ("a", "b")
    assert fields.entries("list") == [("top.list[0]", {"x": 1}), ("top.list[1]", 2)]


@pytest.mark.parametrize(
    ("method", "key", "complaint"),
    [
        ("text", "rows", "top.rows: 4, not a text"),
        ("text", "absent", "top.absent: missing, not a text"),
        ("text_or_none", "rows", "top.rows: 4, not a text"),
        ("boolean", "rows", "top.rows: 4, not true or false"),
        ("whole", "flag", "top.flag: True, not a whole number"),
        ("whole", "share", "top.share: 0.5, not a whole number"),
        ("count", "seed", "top.seed: -3, not a whole number from 0"),
        ("texts", "list", "top.list: [{'x': 1}, 2], not a list of texts"),
        ("entries", "name", "top.name: 'a', not a list"),
    ],
)
def test_a_complaint_names_the_place_and_what_stands_there(method: str, key: str, complaint: str) -> None:
    with pytest.raises(InputError) as refused:
        getattr(Reader(WHOLE, "top"), method)(key)
    assert refused.value.message == complaint


def test_a_text_must_be_one_of_those_allowed() -> None:
    with pytest.raises(InputError, match="name: 'a', not one of b, c"):
        Reader(WHOLE, "").one_of("name", ("b", "c"))


@pytest.mark.parametrize("content", [None, 3, "text", ["list"]])
def test_what_is_no_object_has_no_fields(content: Any) -> None:
    with pytest.raises(InputError, match=r"all: .*, not an object"):
        Reader(content, "")


def test_what_is_long_is_cut() -> None:
    with pytest.raises(InputError, match=r"top.words: 'x{56}\.\.\., not a list"):
        Reader({"words": "x" * 500}, "top").entries("words")
