"""Names of functions as their programmers wrote them, from those that compilers of C++ and Rust make of them."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache

#: Behind the path of a function of Rust, in the scheme that looks like that of C++.
_HASH = re.compile(r"::h[0-9a-f]{16}(?=$|\.)")
#: What that scheme writes for characters that no symbol may have (rustc_symbol_mangling/src/legacy.rs).
_ESCAPES = {
    "_$LT$": "<",
    "_$u7b$": "{",
    "$LT$": "<",
    "$GT$": ">",
    "$RF$": "&",
    "$BP$": "*",
    "$LP$": "(",
    "$RP$": ")",
    "$C$": ",",
    "$u20$": " ",
    "$u7b$": "{",
    "$u7d$": "}",
    "..": "::",
}
#: Of Rust's scheme v0: what tells equal names apart, what refers back, and a name with its length before it.
_V0 = re.compile(r"s[0-9A-Za-z]*_|B[0-9A-Za-z]*_|(?P<length>[1-9]\d*)_?")
_LONGEST = 1000


@lru_cache(maxsize=4096)
def demangle(name: str) -> str:
    """Turn a symbol's name into what the programmer wrote; of what is not known to be mangled it is the name itself.

    C++ and Rust before its scheme v0 by libstdc++, where that is installed. Of v0 (rust-lang/rfcs 2603) only the names
    are given, in their order: they say which function it is, without the types that it is made for.

    Examples
    --------
    >>> demangle("_RNvMsk_NtCsjrHSEGnQ3l9_3std7processNtB5_7Command6status"), demangle("main")
    ('std::process::Command::status', 'main')
    """
    if name.startswith("_R") and len(name) <= _LONGEST:
        return "::".join(_names(name)) or name
    if not name.startswith("_Z") or len(name) > _LONGEST:
        return name
    written = _itanium()(name)
    if _HASH.search(written):
        written = _HASH.sub("", written)
        for escape, character in _ESCAPES.items():
            written = written.replace(escape, character)
    return written


def _names(name: str) -> list[str]:
    names, at = [], 2
    while at < len(name):
        match = _V0.match(name, at)
        if match is None:
            at += 1
            continue
        at = match.end()
        if match["length"]:
            if at + int(match["length"]) > len(name):
                return []
            names.append(name[at : at + int(match["length"])])
            at += int(match["length"])
    return names


@cache
def _itanium() -> Callable[[str], str]:
    """The demangler of libstdc++; one that changes nothing where there is none."""
    try:
        library = ctypes.CDLL("libstdc++.so.6")
        convert = library.__cxa_demangle
        free = ctypes.CDLL(None).free
    except (OSError, AttributeError):
        return lambda name: name
    convert.restype = ctypes.c_void_p
    convert.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    free.argtypes = [ctypes.c_void_p]

    def written(name: str) -> str:
        status = ctypes.c_int()
        with suppress(UnicodeEncodeError):
            text = convert(name.encode(), None, None, ctypes.byref(status))
            if text:
                try:
                    return ctypes.string_at(text).decode("utf-8", "replace")
                finally:
                    free(text)
        return name

    return written
