"""`make bench`: every benchmark, or the one that is named."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

NOT_BENCHMARKS = {"__init__", "__main__", "harness"}


def main(names: list[str]) -> int:
    """Run the benchmarks; 1 if a figure misses its limit, 2 for a name that does not exist."""
    known = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NOT_BENCHMARKS)
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"unknown benchmark {unknown[0]!r}; what exists: {', '.join(known)}", file=sys.stderr)
        return 2
    missed = 0
    for name in names or known:
        for line in import_module(f"bench.{name}").run():
            missed += line.verdict == "miss"
    print(f"{missed} missed" if missed else "all within their limits")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
