"""``make coverage``: how often medians, ratios, differences and adaptive stopping contain the truth, simulated.

What is claimed of each stands in its module. Exit 1 where a claim does not hold. bench/README.md has the last answer.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Protocol

from tools.coverage import looks, medians, ratios, stopping


class Line(Protocol):
    """A line of a table: what was simulated, and whether all that is claimed of it holds."""

    def holds(self) -> bool:
        """Whether all that is claimed of the line is so."""

    def text(self) -> str:
        """The line as printed."""


_PARTS = {"medians": medians, "ratios": ratios, "stopping": stopping, "looks": looks}


def lines(parts: Sequence[str], sets: int, seed: int) -> Iterator[Line | str]:
    """The headings and lines of the tables, one after the other."""
    for part in parts:
        yield _PARTS[part].HEAD.format(sets=sets)
        yield from _PARTS[part].rows(sets, seed)


def main(arguments: list[str] | None = None) -> int:
    """Print every line; 1 if a claim does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*_PARTS, []], help="which tables; all where none is named")
    parser.add_argument("--sets", type=int, default=1500, help="simulated runs a line")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    began = time.monotonic()
    missed = 0
    for line in lines(options.parts or list(_PARTS), options.sets, options.seed):
        if isinstance(line, str):
            sys.stdout.write("\n" + line)
        else:
            missed += not line.holds()
            sys.stdout.write(line.text() + "\n")
        sys.stdout.flush()
    sys.stdout.write(f"\n{missed or 'none'} missed; {time.monotonic() - began:.0f} s\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
