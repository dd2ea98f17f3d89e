"""Names of functions as programmers wrote them."""

from __future__ import annotations

import ctypes

import pytest

from clonometer.tracing.census.call_sites import StackFrame
from clonometer.tracing.census.demangling import demangle


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
