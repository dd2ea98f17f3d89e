"""Small multiples: more lines than an eye follows in one panel are shared out among several, by what they are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TypeVar

#: Lines of one panel.
MOST_LINES = 5

#: What a line is called, word by word; the words of all lines are of the same kinds, empty where one says nothing.
LineWords = tuple[str, ...]
_Line = TypeVar("_Line")


def joined(words: LineWords) -> str:
    """Write the words of a line.

    Examples
    --------
    >>> joined(("fork", "", "warm"))
    'fork, warm'
    """
    return ", ".join(word for word in words if word)


def multiples(lines: Sequence[tuple[_Line, LineWords]]) -> list[tuple[str, list[tuple[_Line, str]]]]:
    """Share lines out among as few panels of five as their words allow.

    For each panel what its lines have in common, and each line with what it is called there. Those of the same
    words stay together. Groups of a kind of word that are still too large are shared out in their order.

    Examples
    --------
    >>> sides = [(n, (side, warmth)) for n, side in enumerate("abc") for warmth in ("warm", "cold")]
    >>> [(title, [label for _, label in members]) for title, members in multiples(sides)]
    [('warm', ['a', 'b', 'c']), ('cold', ['a', 'b', 'c'])]
    """
    names = list(dict.fromkeys(words for _, words in lines))
    if len(names) <= MOST_LINES:
        return [("", [(line, joined(words)) for line, words in lines])] if lines else []
    kinds = range(len(names[0]))
    ways = [_groups(names, chosen) for chosen in (*combinations(kinds, 1), *combinations(kinds, 2), ())]
    # A title that says what is in a panel is worth a panel more than a number.
    best = min(ways, key=lambda groups: len(_fives(groups)) + (len(_fives(groups)) > len(groups)))
    return [
        (title, [(line, labels[words]) for line, words in lines if words in labels])
        for title, labels in _fives(best).items()
    ]


def _groups(names: Sequence[LineWords], chosen: tuple[int, ...]) -> dict[str, dict[LineWords, str]]:
    """Group names by some of their words; each keeps the others as its label."""
    groups: dict[str, dict[LineWords, str]] = {}
    for words in names:
        title = joined(tuple(words[place] for place in chosen))
        rest = joined(tuple(word for place, word in enumerate(words) if place not in chosen))
        groups.setdefault(title, {})[words] = rest or joined(words)
    return groups


def _fives(groups: dict[str, dict[LineWords, str]]) -> dict[str, dict[LineWords, str]]:
    """Share groups that are too large out in their order."""
    panels: dict[str, dict[LineWords, str]] = {}
    for title, labels in groups.items():
        count = -(-len(labels) // MOST_LINES)
        size = -(-len(labels) // count)
        for index in range(count):
            inside = list(labels.items())[index * size : (index + 1) * size]
            panels[joined((title, f"{index + 1} of {count}" if count > 1 else ""))] = dict(inside)
    return panels
