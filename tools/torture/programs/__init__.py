"""Programs in many languages, made by combining fragments with ways to start them; a seed gives the same ones again.

What a language is made of is in its text file: below ``--- ways`` a line for each way to start it (options, and
before them ``env NAME=VALUE`` for what is in its environment), and below each other ``--- NAME`` a fragment.
"""

from __future__ import annotations

import itertools
import random
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

# What programs find on their standard input.
INPUT = b"first\nsecond\0third\xff\xfe\n" + bytes(range(256))
# A shell that tells what the program with a given number is by the kernel's account.
STATE = Path(__file__).with_name("state.sh").read_text(encoding="utf-8")

_Card = TypeVar("_Card")


@dataclass(frozen=True)
class Way:
    """How an interpreter is started: options, and variables of the environment."""

    options: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """As it stands in a trial's name."""
        return " ".join([*(f"{name}={value}" for name, value in self.environment), *self.options]) or "plain"


@dataclass(frozen=True)
class Language:
    """What makes programs of a language.

    Attributes
    ----------
    name
        Of the language.
    interpreters
        Words that start it, by a name; those that this machine lacks are left out.
    file
        What the program's file is called.
    fragments
        What programs are combined of: text by name.
    ways
        The ways in which it is started.
    whole
        Programs that stand alone: text by name.
    join
        Makes one text of several fragments.
    files
        Further files beside the program.
    last
        Words before and after the program's file.
    count
        How many programs a round has of it.
    build, source
        Of a language that is compiled: the line for a shell that builds the only source, once. Its programs are told
        the names of their fragments.
    within
        Whether the program counts its own launches. ``HOW`` among the words is then alone or watched.
    wrappers
        The only ones that it is started in; none stands for all.
    """

    name: str
    interpreters: Mapping[str, Sequence[str]]
    file: str
    fragments: Mapping[str, str]
    ways: Sequence[Way] = (Way(),)
    whole: Mapping[str, str] = field(default_factory=dict)
    join: Callable[[Sequence[str]], str] = "\n".join
    files: Mapping[str, str] = field(default_factory=dict)
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    count: int = 40
    build: str = ""
    source: str = ""
    within: bool = False
    wrappers: tuple[str, ...] = ()

    @property
    def present(self) -> dict[str, Sequence[str]]:
        """The interpreters that this machine has; of a compiled language there is one where its compiler is."""
        if self.build:
            return dict(self.interpreters) if shutil.which(self.build.split()[0]) else {}
        return {name: words for name, words in self.interpreters.items() if shutil.which(words[0])}


@dataclass(frozen=True)
class Program:
    """One program and how it is started: ``script`` is given to a shell, in a folder with the ``files``."""

    name: str
    language: Language
    files: Mapping[str, str]
    script: str
    way: Way


def parts(name: str) -> tuple[dict[str, str], list[Way]]:
    """The fragments of a file of this folder by their names, and its ways."""
    text = Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8")
    pieces = re.split(r"^--- (.+)\n", text, flags=re.MULTILINE)
    fragments = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    ways = [_way(line) for line in fragments.pop("ways", "").splitlines()]
    return fragments, ways


def _way(line: str) -> Way:
    words = shlex.split(line)
    count = 0
    if words[0] == "env":
        words = words[1:]
        count = sum(1 for _ in itertools.takewhile(lambda word: "=" in word, words))
    settings = [word.split("=", 1) for word in words[:count]]
    return Way(tuple(words[count:]), tuple((name, value) for name, value in settings))


def _deck(cards: Sequence[_Card], draw: random.Random) -> Iterator[_Card]:
    """The same cards again and again, each time in another order: all have come before one comes again."""
    while True:
        order = list(cards)
        draw.shuffle(order)
        yield from order


def _of_language(language: Language, wrappers: Mapping[str, str], draw: random.Random) -> Iterator[Program]:
    """The programs of a language in one round."""
    present = language.present
    if not present:
        return
    interpreters, wrapping = _deck(list(present), draw), _deck(language.wrappers or list(wrappers), draw)
    fragments, ways = _deck(list(language.fragments), draw), _deck(language.ways, draw)
    whole = iter(language.whole)
    for number in range(language.count):
        # What is unusual in two respects at once may hide one of them: now and then each is plain.
        alone = next(whole, "") if number % 2 == 0 else ""
        chosen = [alone] if alone else [next(fragments) for _ in range(draw.choice((1, 2, 3)))]
        text = language.whole[alone] if alone else language.join([language.fragments[name] for name in chosen])
        way = Way() if alone or number % 3 == 0 else next(ways)
        wrapper = "plain" if number % 2 == 0 else next(wrapping)
        interpreter = next(interpreters)
        place = chosen if language.build else [f"$PWD/{language.file}"]
        options = [*present[interpreter], *way.options, *language.first]
        words = " ".join(
            [*map(shlex.quote, options), *(f'"{word}"' for word in place), *map(shlex.quote, language.last)]
        )
        yield Program(
            f"{interpreter}/{way.name}/{wrapper}/{'+'.join(chosen)}",
            language,
            {"state.sh": STATE, **language.files, **({} if language.build else {language.file: text})},
            wrappers[wrapper].replace("{words}", words).replace("{quoted}", shlex.quote(words)),
            way,
        )


def programs(languages: Sequence[Language], wrappers: Mapping[str, str], draw: random.Random) -> Iterator[Program]:
    """Rounds of programs without end; each round has every fragment, every way and every wrapper."""
    while True:
        each = [program for language in languages for program in _of_language(language, wrappers, draw)]
        draw.shuffle(each)
        yield from each
