"""`make bench`: every benchmark, or the one that is named."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

NOT_BENCHMARKS = {"__init__", "__main__", "forking", "harness"}


def main(names: list[str]) -> int:
    """Run the benchmarks; 1 if a figure misses its limit, 2 for an unknown name, 3 where an interval is too wide."""
    known = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NOT_BENCHMARKS)
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"unknown benchmark {unknown[0]!r}; what exists: {', '.join(known)}", file=sys.stderr)
        return 2
    missed = unclear = 0
    for name in names or known:
        for line in import_module(f"bench.{name}").run():
            missed += line.verdict == "miss"
            unclear += line.verdict == "unclear"
    if unclear:
        print(f"cannot tell of {unclear}: the limit lies within the interval; run it on a quieter machine")
    print(f"{missed} missed" if missed else "none missed" if unclear else "all within their limits")
    return 1 if missed else 3 if unclear else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
