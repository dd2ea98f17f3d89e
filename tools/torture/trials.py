"""What a trial is, and what all kinds of them share."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tools.torture.sandbox import Sandbox

# What docs/cli.md promises of commands that measure, and of those that only read.
MEASURES = frozenset({0, 2, 4})
READS = frozenset({0, 2})


@dataclass(frozen=True)
class Trial:
    """One thing to try.

    Attributes
    ----------
    kind, name
        Its class, and what is tried, unique within the class.
    attempt
        Does it in a sandbox with a random generator of its own; what does not hold, in sentences.
    """

    kind: str
    name: str
    attempt: Callable[[Sandbox, random.Random], list[str]]


# Gives the trials of a class, in an order that the generator draws; mutations have no end.
Trials = Callable[[random.Random], Iterator[Trial]]
