"""How a command ends: errors as one or two clean lines, and the exit status that design gives each."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

import rich_click as click
from click.exceptions import NoSuchOption

from clonometer.cli.app import app
from clonometer.errors import EXIT_INTERRUPTED, ClonometerError, unknown

EXIT_DEFECT = 70  # EX_SOFTWARE of sysexits.h
EXIT_BROKEN_PIPE = 128 + signal.SIGPIPE


def run_to_the_end(words: Sequence[str]) -> int:
    """Run the command line and give its exit status; nothing expected ends in a traceback."""
    try:
        result = app.main(args=list(words), prog_name="clonometer", standalone_mode=False)
        sys.stdout.flush()
    except SystemExit as error:
        # click ends so by itself after completion and help; and where the reader of our answer has gone, with
        # a status that means something else here.
        if isinstance(error.__context__, BrokenPipeError):
            return EXIT_BROKEN_PIPE
        return error.code if isinstance(error.code, int) else 0
    except BrokenPipeError:
        # The same, seen by the flush above. Python flushes standard output once more on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except (KeyboardInterrupt, click.Abort):
        complain("interrupted")
        return EXIT_INTERRUPTED
    except (ClonometerError, click.ClickException, OSError) as error:
        return _explain(error)
    return result if isinstance(result, int) else 0


def complain(message: str, hint: str | None = None) -> None:
    """Say on standard error what was wrong and, on a second line, the next step.

    Messages quote names of files, cells and values, and what Arrow says of damaged bytes: nothing of that may reach a
    terminal as it is.
    """
    from clonometer.views.terminal.text import clean

    click.echo(f"clonometer: {clean(message)}", err=True)
    if hint:
        click.echo(f"  {clean(hint)}", err=True)


def complain_of_a_defect() -> None:
    """Print the traceback of what nobody expected, and what to do with it."""
    import traceback

    traceback.print_exc()
    complain("this is a defect of Clonometer's, not of what you asked", "please report it with the lines above")


def _explain(error: ClonometerError | click.ClickException | OSError) -> int:
    """Say an expected error and give its exit status."""
    if isinstance(error, ClonometerError):
        complain(error.message, error.hint)
        return error.exit_status
    if isinstance(error, OSError):
        # A file that vanished or a disk that filled up between our checks and the work.
        complain(_os_message(error))
        return ClonometerError.exit_status
    if isinstance(error, NoSuchOption) and error.ctx is not None:
        # click offers everything that is remotely like it.
        known = [name for param in error.ctx.command.get_params(error.ctx) for name in param.opts]
        nearest = unknown("option", error.option_name, [name for name in known if name.startswith("--")])
        return _explain(nearest)
    message = error.format_message()
    hint = None
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f"'{error.ctx.command_path} --help' shows what exists"
    complain(message[:1].lower() + message[1:].removesuffix("."), hint)
    return int(error.exit_code)


def _os_message(error: OSError) -> str:
    where = f": {error.filename}" if error.filename else ""
    return f"{(error.strerror or str(error)).lower()}{where}"
