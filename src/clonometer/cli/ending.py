"""How a command ends: errors as one or two clean lines, and the exit status that design gives each."""

from __future__ import annotations

import errno
import signal
from collections.abc import Sequence

import rich_click as click
from click.exceptions import NoSuchOption

from clonometer.cli.group import app
from clonometer.cli.habits import suggest_option
from clonometer.errors import EXIT_FAILED_CELLS, EXIT_INTERRUPTED, ClonometerError, UsageError, unknown

EXIT_DEFECT = 70  # EX_SOFTWARE of sysexits.h
EXIT_BROKEN_PIPE = 128 + signal.SIGPIPE
EXIT_USAGE = ClonometerError.exit_status
#: No room: on disk, in a file that may grow no further, in memory.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENOMEM)
# What a message quotes may be as long as a file.
_LONGEST = 2000
_NO_MEMORY_WORDS = ("cannot allocate memory", "failed to map segment")


def run_to_the_end(words: Sequence[str]) -> int:
    """Run the command line and give its exit status; nothing expected ends in a traceback."""
    try:
        result = app.main(args=list(words), prog_name="clonometer", standalone_mode=False)
    except click.UsageError as error:
        # The parser of options does not say which command's they are.
        error.ctx = error.ctx or _context_of(words)
        return report_error(error)
    except SystemExit as error:
        return _status_of_exit(error)
    except (KeyboardInterrupt, ClonometerError, click.Abort, click.ClickException, OSError, MemoryError) as error:
        return report_error(error)
    return result if isinstance(result, int) else 0


def _context_of(words: Sequence[str]) -> click.Context | None:
    """The command that a command line begins with, to say how it is called."""
    parent = click.Context(app, info_name="clonometer")
    command = app.get_command(parent, words[0]) if words else None
    return None if command is None else click.Context(command, info_name=words[0], parent=parent)


def report_error(error: BaseException, *, asked_to_end: bool = False) -> int:
    """Say why a command has failed and give its exit status.

    Where a signal had come (``asked_to_end``), the error may be a library's own, made of it.
    """
    if asked_to_end or isinstance(error, KeyboardInterrupt | click.Abort):
        complain("interrupted")
        return EXIT_INTERRUPTED
    if isinstance(error, BrokenPipeError):
        # The reader of our answer has gone, and knows why.
        return EXIT_BROKEN_PIPE
    if _is_lack_of_memory(error):
        complain("there is not enough memory", "end other programs, or raise the limit (ulimit -v)")
        return EXIT_FAILED_CELLS
    if isinstance(error, ClonometerError | click.ClickException | OSError):
        return _explain(error)
    _complain_of_a_defect(error)
    return EXIT_DEFECT


def _status_of_exit(error: SystemExit) -> int:
    """Translate the status of click, which ends so by itself after completion and help."""
    if isinstance(error.__context__, BrokenPipeError):
        return EXIT_BROKEN_PIPE
    if isinstance(error.code, int | None):
        # Its 1 is wrong usage; ours would be a regression.
        return EXIT_USAGE if error.code == 1 else error.code or 0
    return report_error(error)


def _is_lack_of_memory(error: BaseException) -> bool:
    # A library that finds no room for its code cannot be imported.
    return isinstance(error, MemoryError) or (
        isinstance(error, ImportError | OSError) and any(word in str(error).lower() for word in _NO_MEMORY_WORDS)
    )


def complain(message: str, hint: str | None = None) -> None:
    """Say on standard error what was wrong and, on a second line, the next step.

    Messages quote names of files, cells and values, and what Arrow says of damaged bytes: nothing of that may reach a
    terminal as it is.
    """
    from clonometer.views.terminal.text import clean

    click.echo(f"clonometer: {_cut(clean(message))}", err=True)
    if hint:
        click.echo(f"  {_cut(clean(hint))}", err=True)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _complain_of_a_defect(error: BaseException) -> None:
    """Print the traceback of what nobody expected, and what to do with it."""
    import traceback

    traceback.print_exception(error)
    complain("this is a defect of Clonometer, not of what you asked", "please report it with the lines above")


def _explain(error: ClonometerError | click.ClickException | OSError) -> int:
    """Say an expected error and give its exit status."""
    if isinstance(error, ClonometerError):
        complain(error.message, error.hint)
        return error.exit_status
    if isinstance(error, OSError):
        # A file that vanished or a disk that filled up between our checks and the work.
        complain(_os_message(error))
        return EXIT_FAILED_CELLS if error.errno in _NO_ROOM else EXIT_USAGE
    if isinstance(error, NoSuchOption) and error.ctx is not None:
        # click offers everything that is remotely like it.
        known = [name for param in error.ctx.command.get_params(error.ctx) for name in param.opts]
        meant = suggest_option(error.option_name, known)
        if meant is not None:
            return _explain(UsageError(f"there is no option {error.option_name} here", meant))
        nearest = unknown("option", error.option_name, [name for name in known if name.startswith("--")])
        return _explain(nearest)
    message = error.format_message()
    hint = _how_it_is_called(error) if isinstance(error, click.UsageError) else None
    complain(message[:1].lower() + message[1:].removesuffix("."), hint)
    # Some of click's errors carry a 1.
    return EXIT_USAGE


def _how_it_is_called(error: click.UsageError) -> str:
    """An example of a command's help, with the option that is wrong if one has it, and where there are more."""
    ctx = error.ctx
    if ctx is None:
        return "'clonometer --help' lists the commands"
    lines = str(ctx.command.epilog or "").splitlines()
    every = [line.strip().partition("   ")[0] for line in lines if line.strip().startswith("clonometer ")]
    wrong = error.param.opts if isinstance(error, click.BadParameter) and error.param is not None else []
    example = next((line for line in every if set(wrong) & set(line.split())), every[0] if every else "")
    return f"{f'for example: {example}; ' if example else ''}'{ctx.command_path} --help' shows more"


def _os_message(error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    if error.filename:
        return f"{reason}: {error.filename}"
    # A write that fails tells no name.
    return f"cannot write: {reason}" if error.errno in _NO_ROOM else reason
