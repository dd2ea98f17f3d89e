"""The same launches timed by pyperf: its options, and `--what`. The last line has the ns per launch of each value."""

import pyperf  # type: ignore[import-not-found] # of the environment that bench/runtimes.py makes
from loops import LAUNCHES  # type: ignore[import-not-found] # beside it


def main() -> None:
    """Let pyperf time one of them."""
    runner = pyperf.Runner(add_cmdline_args=lambda words, args: words.extend(["--what", args.what]))
    runner.argparser.add_argument("--what", choices=LAUNCHES)
    what = runner.parse_args().what
    timed = runner.bench_func(what, LAUNCHES[what])
    # A worker has nothing to print: what it has measured goes to its parent.
    if not runner.args.worker:
        print(*(seconds * 1e9 for seconds in timed.get_values()))


if __name__ == "__main__":
    main()
