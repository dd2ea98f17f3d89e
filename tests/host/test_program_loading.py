"""Which variables of the loader a program does not heed."""

from __future__ import annotations

import os
import shutil
import struct
import sys
from pathlib import Path

import pytest

from clonometer.host.program_loading import unheeded_variables

VARIABLES = ("LD_PRELOAD", "GLIBC_TUNABLES", "HOME")
LOADED, INTERPRETER = 1, 3


def program(path: Path, *kinds: int, bits: int = 64) -> Path:
    """A program that has headers of these kinds, after its own."""
    if bits == 64:
        head = struct.pack("<4sBB26xQ14xHH6x", b"\x7fELF", 2, 1, 64, 56, len(kinds))
    else:
        head = struct.pack("<4sBB22xI10xHH6x", b"\x7fELF", 1, 1, 52, 32, len(kinds))
    path.write_bytes(head + b"".join(struct.pack("<I", kind).ljust(56 if bits == 64 else 32, b"\0") for kind in kinds))
    return path


@pytest.mark.parametrize("bits", [32, 64])
def test_a_static_program_heeds_no_variable_of_the_loader(tmp_path: Path, bits: int) -> None:
    static = program(tmp_path / "static", LOADED, LOADED, bits=bits)
    assert unheeded_variables(static, VARIABLES) == (["LD_PRELOAD"], "it is linked statically")
    assert unheeded_variables(static, ["HOME"]) is None
    assert unheeded_variables(program(tmp_path / "dynamic", LOADED, INTERPRETER, bits=bits), VARIABLES) is None
    assert unheeded_variables(Path(sys.executable), VARIABLES) is None


def test_of_a_script_it_is_the_interpreter(tmp_path: Path) -> None:
    static, script = program(tmp_path / "static", LOADED), tmp_path / "script"
    script.write_text(f"#! {static} -x\n")
    assert unheeded_variables(script, VARIABLES) == (["LD_PRELOAD"], "its interpreter is linked statically")
    script.write_text(f"#!{script}\n")
    assert unheeded_variables(script, VARIABLES) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a program to another user")
def test_a_program_with_the_rights_of_another_user_heeds_none_that_is_unsafe(tmp_path: Path) -> None:
    copy = Path(shutil.copy(sys.executable, tmp_path / "other"))
    os.chown(copy, 1, -1)
    assert unheeded_variables(copy, VARIABLES) is None
    copy.chmod(0o4755)
    unsafe = ["LD_PRELOAD", "GLIBC_TUNABLES"]
    assert unheeded_variables(copy, (*VARIABLES, "LD_BIND_NOW")) == (unsafe, "it is set-uid or set-gid")


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"#!", b"#!\n", b"\x7fELF\x02\x01" + b"\xff" * 100])
def test_what_is_no_program_has_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other").write_bytes(content)
    assert unheeded_variables(tmp_path / "other", VARIABLES) is None
    assert unheeded_variables(tmp_path, VARIABLES) is None
    assert unheeded_variables(tmp_path / "none", VARIABLES) is None
