#!/usr/bin/env -S python3 -S -E
"""Starts the fake driver, without site's packages: Python keeps modules compiled, but no scripts."""

import sys

from fake_answering import main

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
