"""``python -m clonometer``: the command."""

from __future__ import annotations

from clonometer.cli.start import main

if __name__ == "__main__":
    main()
