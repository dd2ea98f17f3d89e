"""The entry point: answers ``--version`` at once, and ends every other command with the right status."""

from __future__ import annotations

import gc
import sys

EXIT_NO_ROOM = 4
EXIT_INTERRUPTED = 130
EXIT_DEFECT = 70  # EX_SOFTWARE of sysexits.h
# Of addresses: with fewer, the allocators of Arrow and numpy end the program by SIGSEGV instead of saying so.
LEAST_ADDRESSES = 512 << 20
#: M_ARENA_MAX of glibc's malloc.h.
_ONE_ARENA = -8


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and end the program with its exit status.

    ``arguments`` are the words after the program's name; by default those it was started with. Whatever happens, the
    status is one of those in docs/cli.md: Python's own for an error would say of a check that there is a regression.
    """
    try:
        # First of all: until then a signal meets Python's own answer, which is a traceback, or none.
        from clonometer.cli import signals

        signals.listen()
        try:
            status = _run(sys.argv[1:] if arguments is None else arguments)
            signals.listen_no_more()
        except BaseException as error:
            signals.listen_no_more()
            status = _say_why(error, asked_to_end=signals.was_asked_to_end())
        status = _finished(status, asked_to_end=signals.was_asked_to_end())
    except KeyboardInterrupt:
        # Before the first handler was in place, or between two of these lines.
        status = EXIT_INTERRUPTED
    except BaseException as error:
        # What says an error in words could not be loaded, or has failed itself.
        status = EXIT_NO_ROOM if isinstance(error, MemoryError | ImportError) else EXIT_DEFECT
    # Where an interrupt has passed through text that Python ran, as it makes dataclasses of, it remembers that, and
    # `python -m` would end by SIGINT, whatever status it is given; with the next text it forgets (pythonrun.c,
    # run_eval_code_obj; main.c, Py_RunMain).
    exec("")
    # Python would search all that was loaded for circles that nobody needs any more: a sixth of what `show` takes.
    gc.freeze()
    sys.exit(status)  # noqa: TID251 (cli ends the program)


def _run(words: list[str]) -> int:
    """Run the command; what costs time to import comes after what needs none of it."""
    from clonometer.cli.streams import check_streams

    check_streams()
    if words in (["--version"], ["-V"]):
        # Before any further import: scripts ask often, and click and rich take longer to load than Python itself.
        from clonometer._version import __version__

        sys.stdout.write(f"clonometer {__version__}\n")
        return 0
    if _is_cramped():
        sys.stderr.write(
            f"clonometer: the address space is limited to less than {LEAST_ADDRESSES >> 20} MiB\n"
            f"  raise the limit: ulimit -v {LEAST_ADDRESSES >> 10}\n"
        )
        return EXIT_NO_ROOM
    _hold_threads_back()
    _reserve_no_addresses()
    # Of what a command reads hardly anything is freed before its end, and to search it for circles took 3% of `show`.
    gc.set_threshold(100_000)
    from clonometer.cli.ending import run_to_the_end

    return run_to_the_end(words)


def _address_limit() -> int | None:
    import resource

    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if most == resource.RLIM_INFINITY else most


def _is_cramped() -> bool:
    most = _address_limit()
    return most is not None and most < LEAST_ADDRESSES


def _reserve_no_addresses() -> None:
    """Where addresses are limited, let allocators take none before they need them.

    The C library reserves 64 MiB for each thread that allocates, and Arrow's allocator a GiB or what it can get of one.
    """
    if _address_limit() is None:
        return
    import ctypes
    import os

    os.putenv("ARROW_DEFAULT_MEMORY_POOL", "system")
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_ONE_ARENA, 1)


def _hold_threads_back() -> None:
    """Let the library that numpy rests on start no threads: what we compute is small."""
    # Where none may be started that library would end the program by SIGINT.
    import os

    if "OPENBLAS_NUM_THREADS" not in os.environ:
        # Not into os.environ, which is what the programs that we start get.
        os.putenv("OPENBLAS_NUM_THREADS", "1")


def _say_why(error: BaseException, *, asked_to_end: bool) -> int:
    from clonometer.cli.ending import report_error

    return report_error(error, asked_to_end=asked_to_end)


def _finished(status: int, *, asked_to_end: bool) -> int:
    """Send the last of the answer on its way; where that fails it has not been given."""
    from clonometer.cli.streams import flush_answer

    failure = flush_answer()
    if asked_to_end:
        return EXIT_INTERRUPTED
    return status if failure is None else _say_why(failure, asked_to_end=False)


if __name__ == "__main__":
    main()
