"""Languages whose start methods can be tried: a folder each, with a ``language.toml`` and the program of a trial."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from clonometer.errors import UsageError
from clonometer.inputs import parse_toml

__all__ = ["RefusedCode", "StartLanguage", "UnguardedProgram", "find_start_languages", "language_of", "split_command"]

_DESCRIPTION = "language.toml"


@dataclass(frozen=True)
class UnguardedProgram:
    """A program that starts a worker as its first act, for a case that no trial can try.

    ``case`` is what it tries, with these ``methods`` alone. ``error`` begins the message that it may end with.
    """

    case: str
    methods: Sequence[str]
    run: Sequence[str]
    error: str


@dataclass(frozen=True)
class RefusedCode:
    """Code of which no trial would be right: the pattern in it, why, and what to write instead."""

    pattern: str
    why: str
    hint: str


@dataclass(frozen=True)
class StartLanguage:
    """A language: how its commands look, which start methods it has, and what is tried of each.

    Attributes
    ----------
    folder
        Where its trial is.
    programs
        Its runtimes' names begin with one of these; ``usual`` is the one that is taken where none is named, and
        ``package`` brings it.
    oldest
        The first version for which the trial is.
    example
        A command, for whoever has given another.
    code
        The options before which code stands; ``with_word`` are those that take another word.
    import_code
        The code that imports a module ``{}``; ``modules`` is the pattern of names.
    identify
        Code that prints JSON: version, implementation, default method, and the lock by which threads take turns.
    run, check
        Words after the runtime's: of a trial, and of the import alone.
        ``{resolver}`` in them stands for ``resolver`` where the options or the code are as ``es_module``.
    error
        The pattern of the line in which an error says what it is.
    methods, cases
        By their names, what people call them.
    """

    folder: Path
    name: str
    title: str
    programs: Sequence[str]
    usual: str
    package: str
    oldest: str
    example: str
    code: Sequence[str]
    with_word: Sequence[str]
    import_code: str
    modules: str
    identify: str
    run: Sequence[str]
    check: Sequence[str]
    error: str
    methods: Mapping[str, str]
    cases: Mapping[str, str]
    unguarded: UnguardedProgram | None = None
    refused: RefusedCode | None = None
    es_module: str = ""
    resolver: str = ""

    @property
    def usage(self) -> str:
        """A command that can be tried."""
        return f"clonometer start-method -- {self.example}"

    def imports(self, modules: Sequence[str]) -> str:
        """The code that imports modules.

        Raises
        ------
        UsageError
            If one is no name of a module.
        """
        for name in modules:
            if not re.fullmatch(self.modules, name):
                raise UsageError(f"{name!r} is not the name of a module of {self.title}", self.usage)
        return "\n".join(self.import_code.format(name) for name in modules)


@cache
def find_start_languages() -> tuple[StartLanguage, ...]:
    """All languages, by name."""
    return tuple(_read(file) for file in sorted(Path(__file__).parent.glob(f"*/{_DESCRIPTION}")))


def _read(file: Path) -> StartLanguage:
    fields = parse_toml(file.read_text(encoding="utf-8"))
    unguarded, refused = fields.pop("unguarded", None), fields.pop("refused", None)
    return StartLanguage(
        file.parent,
        import_code=fields.pop("import"),
        unguarded=UnguardedProgram(**unguarded) if unguarded else None,
        refused=RefusedCode(**refused) if refused else None,
        **fields,
    )


def language_of(program: str) -> StartLanguage:
    """The language of a runtime, by the name of its file, or of what that is a link to.

    Raises
    ------
    UsageError
        If it is none that is known; names those that are.

    Examples
    --------
    >>> language_of("/opt/python3.14t/bin/python3.14t").name
    'python'
    """
    path = Path(program)
    for name in (path.name, path.resolve().name):
        for language in find_start_languages():
            if any(name.startswith(each) for each in language.programs):
                return language
    known = ", ".join(f"{each.title} ({each.usual})" for each in find_start_languages())
    message = f"{program!r} is no runtime whose start methods are known: {known}"
    raise UsageError(message, " or ".join(each.usage for each in find_start_languages()))


def split_command(language: StartLanguage, words: Sequence[str]) -> tuple[list[str], str]:
    r"""Give the runtime with its options, and the code.

    Raises
    ------
    UsageError
        If the words are no such command.

    Examples
    --------
    >>> split_command(language_of("python3"), ["python3", "-X", "dev", "-c", "import json"])
    (['python3', '-X', 'dev'], 'import json')
    """
    at = 1
    while at < len(words) and words[at] not in language.code and words[at].startswith("-"):
        at += 2 if words[at] in language.with_word else 1
    if at >= len(words) or words[at] not in language.code:
        what = f"'{language.usual} {language.code[0]} CODE', with what a program imports"
        raise UsageError(f"the command must be {what}", language.usage)
    if len(words) != at + 2:
        raise UsageError(f"{words[at]} must have the code, and nothing after it", language.usage)
    return list(words[:at]), words[at + 1]
