"""Which files a shell command writes, as far as its text says so: what a setting is read back from.

Read are redirections (``> FILE``), ``tee FILE`` and ``sysctl KEY=VALUE``, also within ``sh -c TEXT``. A name that only
the shell can know (``$NAME``) is left out.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

_REDIRECTIONS = frozenset((">", ">>", ">|", "&>", "&>>", "<>"))
_SHELLS = frozenset(("sh", "bash", "dash", "ash", "ksh", "zsh", "busybox"))
_ENDS_COMMAND = re.compile(r"[|&;()]+")
# A shell alone knows what these stand for.
_UNKNOWN = re.compile(r"[$`]")
_SETTING = re.compile(r"([A-Za-z0-9_./-]+)=.*", re.DOTALL)
_MOST_DEPTH = 3
_NOT_SETTINGS = ("/dev/",)


def written_files(command: str) -> tuple[str, ...]:
    """The names of files, some of them patterns such as ``cpu*/online``, that a command says it writes.

    Examples
    --------
    >>> written_files("echo always > /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null")
    ('/sys/kernel/mm/transparent_hugepage/enabled',)
    >>> written_files("sudo sysctl -qw vm.swappiness=10 && echo 1 | sudo tee -a /proc/sys/kernel/numa_balancing")
    ('/proc/sys/vm/swappiness', '/proc/sys/kernel/numa_balancing')
    >>> written_files("sh -c 'echo 1 > switched.txt'"), written_files("./switch on; echo $1 > $FILE")
    (('switched.txt',), ())
    """
    names = (_at_home(name) for name in _names(command, _MOST_DEPTH))
    return tuple(dict.fromkeys(name for name in names if not name.startswith(_NOT_SETTINGS)))


def _names(command: str, depth: int) -> Iterator[str]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        # The shell itself says what is wrong with it.
        return
    for ends, group in groupby(words, key=lambda word: _ENDS_COMMAND.fullmatch(word) is not None or word == "\n"):
        if not ends:
            yield from _of_simple_command(list(group), depth)


def _of_simple_command(words: Sequence[str], depth: int) -> Iterator[str]:
    plain = []
    place = 0
    while place < len(words):
        word = words[place]
        if word in _REDIRECTIONS and place + 1 < len(words):
            yield from _recorded_words([words[place + 1]])
            place += 1
        else:
            plain.append(word)
        place += 1
    programs = {word.rpartition("/")[2]: at for at, word in reversed(list(enumerate(plain)))}
    if "tee" in programs:
        yield from _recorded_words(word for word in plain[programs["tee"] + 1 :] if not word.startswith("-"))
    if "sysctl" in programs:
        for word in plain[programs["sysctl"] + 1 :]:
            setting = _SETTING.fullmatch(word)
            if setting and not word.startswith("-"):
                yield from _recorded_words([_sysctl_file(setting[1])])
    if depth and "-c" in plain and _SHELLS & programs.keys():
        for text in plain[plain.index("-c") + 1 :][:1]:
            yield from _names(text, depth - 1)


def _at_home(name: str) -> str:
    return str(Path(name).expanduser()) if name.startswith("~/") else name


def _recorded_words(words: Sequence[str] | Iterator[str]) -> Iterator[str]:
    yield from (word for word in words if word and not _UNKNOWN.search(word))


def _sysctl_file(key: str) -> str:
    """Where a setting of sysctl stands: dots separate, unless a slash comes first (sysctl(8))."""
    first = re.search("[./]", key)
    path = key.translate(str.maketrans("./", "/.")) if first and first[0] == "." else key
    return f"/proc/sys/{path}"
