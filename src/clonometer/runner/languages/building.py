"""Building the driver of a language with the user's toolchain, once for each version of it and of the sources."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from clonometer.errors import DriverError
from clonometer.launch_paths.drivers import FAILED, MISSING, NOT_BUILT, READY, LanguageDriver
from clonometer.runner.drivers import Driver, built_program
from clonometer.runner.languages.toolchains import measured_toolchains
from clonometer.runner.languages.types import Language, Toolchain
from clonometer.runner.launches import filled
from clonometer.runner.process import answer_of
from clonometer.user_cache import user_folder

_TETHER = "clonometer-tether"
_BUILD_S = 300.0
_UNUSED_S = 30 * 86_400.0
_KEPT_CHARACTERS = 4000
_IN_FOLDER = 'cd "$1" && shift && exec "$@"'
_NO_FOLDER = "no cache folder can be made that you alone may write to ($XDG_CACHE_HOME, ~/.cache)"


def state_of(toolchain: Toolchain) -> LanguageDriver:
    """Say whether the driver of a toolchain is ready, without building it."""
    language = toolchain.language
    state = LanguageDriver(
        toolchain.name, language.runtime.title, READY, toolchain.version, toolchain.program, _too_old(toolchain)
    )
    if state.reason is not None:
        return replace(state, status=MISSING)
    if not language.build:
        return state
    place = _place(toolchain)
    if place is None:
        return replace(state, status=FAILED, reason=_NO_FOLDER)
    if place.is_dir():
        return state
    with contextlib.suppress(OSError):
        return replace(state, status=FAILED, reason=_failure(place).read_text(encoding="utf-8"))
    return replace(state, status=NOT_BUILT, reason="it is built when it is first needed")


def missing_state(language: Language) -> LanguageDriver:
    """Say that a language is not here."""
    return LanguageDriver(language.name, language.runtime.title, MISSING, reason=language.missing)


def build(toolchain: Toolchain) -> None:
    """Build the driver of a toolchain, whether that failed before or not.

    Raises
    ------
    DriverError
        If that fails, with what the toolchain complaint, which is kept.
    """
    place = _place(toolchain)
    if place is None:
        raise DriverError(f"the driver of {toolchain.language.runtime.title} cannot be built: {_NO_FOLDER}")
    if place.is_dir():
        return
    place.parent.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=place.parent) as name:
        new = Path(name) / "new"
        new.mkdir(mode=0o700)
        complaint = _run_toolchain(toolchain, new)
        if complaint is not None:
            with contextlib.suppress(OSError):
                _failure(place).write_text(complaint, encoding="utf-8")
            raise DriverError(f"the driver of {toolchain.language.runtime.title} could not be built: {complaint}")
        # Somebody else may have built the same meanwhile, which is as good.
        with contextlib.suppress(OSError):
            new.rename(place)
    _failure(place).unlink(missing_ok=True)
    _forget_old(place, toolchain.language.name)


def _forget_old(place: Path, language: str) -> None:
    """Remove what was built of this language for other sources or toolchains and has not been used for a month."""
    for other in place.parent.glob(f"{language}-*"):
        with contextlib.suppress(OSError):
            if other != place and time.time() - other.stat().st_mtime > _UNUSED_S:
                shutil.rmtree(other) if other.is_dir() else other.unlink()


def usable_drivers(
    languages: Sequence[Language], say: Callable[[str], None], names: Sequence[str] = (), versions: int | None = None
) -> tuple[list[Driver], list[dict[str, str]]]:
    """Make the drivers of these languages ready, and build what is not; ``say`` hears of each that is built.

    ``names`` are ids of workloads or globs, which may ask for further versions. ``versions`` is how many of each
    language there are at most.

    Returns
    -------
    drivers
        Not described yet.
    lacks
        Languages, or versions of them, that cannot be measured: ``what``, the first word of their workloads, and
        ``reason``. What could not be built once is not tried again here.
    """
    drivers, lacks = [], []
    for language in languages:
        toolchains = measured_toolchains(language, names)[:versions]
        if not toolchains:
            lacks.append({"what": language.name, "reason": language.missing})
        for toolchain in toolchains:
            reason = _made_ready(toolchain, say)
            if reason is None:
                about = {"program": toolchain.program, "version": toolchain.version}
                drivers.append(Driver(toolchain.name, _command(toolchain), {}, about))
            else:
                lacks.append({"what": toolchain.name, "reason": reason})
    return drivers, lacks


def _made_ready(toolchain: Toolchain, say: Callable[[str], None]) -> str | None:
    state = state_of(toolchain)
    place = _place(toolchain) if toolchain.language.build else None
    if state.status == READY and place is not None:
        # It is in use: what is not for long is forgotten.
        with contextlib.suppress(OSError):
            os.utime(place)
    if state.status == NOT_BUILT:
        say(f"clonometer: building the driver of {state.language} {state.version} (once)")
        try:
            build(toolchain)
        except DriverError as error:
            return _in_short(error.message)
        return None
    if state.status == FAILED:
        return f"its driver could not be built: {_in_short(state.reason or '')}; see clonometer drivers"
    return state.reason


def _in_short(text: str) -> str:
    return " ".join(text.split())[:200]


def _too_old(toolchain: Toolchain) -> str | None:
    if not toolchain.is_too_old:
        return None
    language = toolchain.language
    return f"{language.runtime.title} {toolchain.version} is too old: the driver needs {language.oldest} or later"


def _command(toolchain: Toolchain) -> tuple[str, ...]:
    return (str(built_program(_TETHER)), *filled(toolchain.language.run, _values(toolchain, _place(toolchain))))


def _values(toolchain: Toolchain, out: Path | None) -> dict[str, str]:
    return {
        "program": toolchain.program,
        "bin": str(Path(toolchain.program).resolve().parent),
        "folder": str(toolchain.language.folder),
        "out": str(out),
        "name": toolchain.name,
    }


def _place(toolchain: Toolchain) -> Path | None:
    """Where what is built of these sources by this toolchain is kept; None where nothing can be."""
    cache = user_folder("XDG_CACHE_HOME", ".cache")
    if cache is None:
        return None
    language = toolchain.language
    digest = hashlib.sha256(repr((toolchain.program, toolchain.version, language.build)).encode())
    for file in sorted(path for path in language.folder.rglob("*") if path.is_file()):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return cache / "drivers" / f"{language.name}-{toolchain.version}-{digest.hexdigest()[:12]}"


def _failure(place: Path) -> Path:
    return place.with_name(f"{place.name}.failed")


def _run_toolchain(toolchain: Toolchain, out: Path) -> str | None:
    """Run the build in a copy of the sources; what the toolchain said where it failed, else None."""
    language = toolchain.language
    sources = out.parent / "sources"
    shutil.copytree(language.folder, sources)
    values = {**_values(toolchain, out), "folder": str(sources)}
    command = ["sh", "-c", _IN_FOLDER, "sh", str(sources), *filled(language.build, values)]
    printed, ending = answer_of(command, timeout_s=_BUILD_S, environment={**os.environ, **language.environment})
    if ending.exit_status == 0:
        return None
    if ending.stopped is not None:
        return f"{toolchain.program} {ending.describe()}"
    message = (ending.stderr + printed.decode("utf-8", "replace")).strip()
    return message[-_KEPT_CHARACTERS:] or f"{toolchain.program} {ending.describe()}"
