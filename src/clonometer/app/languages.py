"""``drivers``: the languages whose launches can be measured here, and building what measures them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from clonometer.app.shown import shown_as
from clonometer.errors import DriverError, unknown

if TYPE_CHECKING:
    from clonometer.launch_paths.drivers import LanguageDrivers
    from clonometer.runner.languages.types import Language, Toolchain

__all__ = ["build_language_drivers", "language_drivers"]


def _nothing(line: str) -> None:
    """Say nothing."""


@shown_as("languages", "languages_document")
def language_drivers(names: Sequence[str] = ()) -> LanguageDrivers:
    """The drivers of languages: which are ready, which would be built, and what the others lack.

    Parameters
    ----------
    names
        Languages, such as ``python``, or versions of them, such as ``java_25_0``; none: all.

    Raises
    ------
    UsageError
        For an unknown language, with the nearest.
    """
    from clonometer.launch_paths.drivers import LanguageDrivers
    from clonometer.runner.languages.building import missing_state, state_of

    return LanguageDrivers(
        tuple(
            state
            for language, toolchains in _chosen(names)
            for state in ([state_of(each) for each in toolchains] or [missing_state(language)])
        )
    )


@shown_as("languages", "languages_document")
def build_language_drivers(names: Sequence[str] = (), say: Callable[[str], None] = _nothing) -> LanguageDrivers:
    """Build the drivers of languages whose toolchains are here, also those that could not be built before.

    Parameters
    ----------
    names
        Languages, or versions of them; none: all.
    say
        Hears what is built next.

    Raises
    ------
    UsageError
        For an unknown language, with the nearest.
    """
    from clonometer.launch_paths.drivers import FAILED, NOT_BUILT
    from clonometer.runner.languages.building import build, state_of

    for language, toolchains in _chosen(names):
        for toolchain in toolchains:
            if state_of(toolchain).status in (FAILED, NOT_BUILT):
                say(f"building the driver of {language.runtime.title} {toolchain.version}")
                try:
                    build(toolchain)
                except DriverError as error:
                    say(error.message)
    return language_drivers(names)


def _chosen(names: Sequence[str]) -> list[tuple[Language, list[Toolchain]]]:
    """Languages, each with those of its versions that are named; all of them where it is named itself."""
    from clonometer.runner.languages.toolchains import find_languages, find_toolchains

    languages = {language.name: language for language in find_languages()}
    # A name without a version, or of no language, stands for itself.
    named = {name: name if name in languages else name.partition("_")[0] for name in names or languages}
    versions = {name: find_toolchains(languages[name]) for name in dict.fromkeys(named.values()) if name in languages}
    known = {*languages, *(each.name for toolchains in versions.values() for each in toolchains)}
    for name in named:
        if name not in known:
            raise unknown("language", name, known)
    return [
        (languages[language], [each for each in toolchains if language in named or each.name in named])
        for language, toolchains in versions.items()
    ]
