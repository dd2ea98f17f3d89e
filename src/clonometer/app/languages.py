"""``drivers``: the languages whose launches can be measured here, and building what measures them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from clonometer.errors import DriverError, unknown

if TYPE_CHECKING:
    from clonometer.launch_paths.drivers import LanguageDriver, LanguageDrivers
    from clonometer.runner.languages.types import Language

__all__ = ["build_language_drivers", "language_drivers"]


def _nothing(line: str) -> None:
    """Say nothing."""


def language_drivers(names: Sequence[str] = ()) -> LanguageDrivers:
    """The drivers of languages: which are ready, which would be built, and what the others lack.

    Parameters
    ----------
    names
        Languages, such as ``python``; none: all.

    Raises
    ------
    UsageError
        For an unknown language, with the nearest.
    """
    from clonometer.launch_paths.drivers import LanguageDrivers

    return LanguageDrivers(tuple(state for language in _chosen(names) for state in _states(language)))


def build_language_drivers(names: Sequence[str] = (), say: Callable[[str], None] = _nothing) -> LanguageDrivers:
    """Build the drivers of languages whose toolchains are here, also those that could not be built before.

    Parameters
    ----------
    names
        Languages; none: all.
    say
        Hears what is built next.

    Raises
    ------
    UsageError
        For an unknown language, with the nearest.
    """
    from clonometer.launch_paths.drivers import FAILED, NOT_BUILT
    from clonometer.runner.languages.building import build, state_of
    from clonometer.runner.languages.toolchains import find_toolchains

    for language in _chosen(names):
        for toolchain in find_toolchains(language):
            if state_of(toolchain).status in (FAILED, NOT_BUILT):
                say(f"building the driver of {language.runtime.title} {toolchain.version}")
                try:
                    build(toolchain)
                except DriverError as error:
                    say(error.message)
    return language_drivers(names)


def _chosen(names: Sequence[str]) -> list[Language]:
    from clonometer.runner.languages.toolchains import find_languages

    known = {language.name: language for language in find_languages()}
    for name in names:
        if name not in known:
            raise unknown("language", name, known)
    return [known[name] for name in dict.fromkeys(names or known)]


def _states(language: Language) -> list[LanguageDriver]:
    from clonometer.runner.languages.building import missing_state, state_of
    from clonometer.runner.languages.toolchains import find_toolchains

    return [state_of(toolchain) for toolchain in find_toolchains(language)] or [missing_state(language)]
