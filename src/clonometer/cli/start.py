"""The entry point: answers ``--version`` at once, and ends every other command with the right status."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and end the program with its exit status.

    Parameters
    ----------
    arguments
        The words after the program's name; by default those it was started with.
    """
    words = sys.argv[1:] if arguments is None else arguments
    if words == ["--version"]:
        # Before any import: scripts ask often, and click and rich take longer to load than Python itself.
        from clonometer._version import __version__

        sys.stdout.write(f"clonometer {__version__}\n")
        return
    from clonometer.cli.ending import EXIT_DEFECT, complain_of_a_defect, run_to_the_end

    try:
        status = run_to_the_end(words)
    except Exception:
        # Python would end with 1, which says of a check that there is a regression.
        complain_of_a_defect()
        status = EXIT_DEFECT
    sys.exit(status)  # noqa: TID251 (cli ends the program)


if __name__ == "__main__":
    main()
