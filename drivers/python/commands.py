"""A command: each API, and options that change how the kernel is asked for it (the book of launch paths).

Timed: from before the call until it has returned, until the new program's entry, its main and its main's end (of our
targets, which leave their stamps in the file of descriptor 0), until it has been waited for. Outside: building the list
of words. `call_returns` is null where one call does all, or a shell stands between.
"""

import asyncio
import errno
import os
import shlex
import struct
import subprocess

from measure import now

_STAGES = (
    "call_returns_ns",
    "task_runs_ns",
    "image_entered_ns",
    "image_runs_ns",
    "image_ends_ns",
    "reaped_ns",
)
_BEFORE_EXEC = {"task_runs_ns": "before the exec the child runs only the runtime's code"}
_ONE_CALL = {**_BEFORE_EXEC, "call_returns_ns": "one call starts the program and waits for it"}
_STAMPS_AT, _STAMPS = 16, struct.Struct("=QQQ")


def workloads(workload):
    def command(summary, prepare, api, line, nulls=_BEFORE_EXEC, extra=()):
        contains = None if "call_returns_ns" in nulls else "child_life"
        return workload(
            "runtime_command",
            summary,
            (*_STAGES, *extra),
            prepare,
            ("program", "env_bytes"),
            nulls,
            contains,
            api,
            line,
        )

    def popen(line, what, **options):
        return command(
            "subprocess.Popen with %s, wait()" % what,
            lambda request: _popen(request, **options),
            "subprocess.Popen, " + what,
            line,
        )

    offered = {
        "command": command(
            "subprocess.Popen of a program by its path, wait()", _popen, "subprocess.Popen", "subprocess"
        ),
        "command_close_fds": popen("close_fds", "close_fds=False", close_fds=False),
        "command_preexec_fn": popen("preexec_fn", "preexec_fn=", preexec_fn=_nothing),
        "command_session": popen("start_new_session", "start_new_session=True", start_new_session=True),
        "command_shell": popen("shell", "shell=True", shell=True),
        "command_os_system": command("os.system", _os_system, "os.system", "os.system", _ONE_CALL),
        "command_posix_spawn": command("os.posix_spawn, os.waitpid", _posix_spawn, "os.posix_spawn", "os.posix_spawn"),
        "command_fork_exec": command(
            "os.fork, os.execve in the child, os.waitpid", _fork_exec, "os.fork and os.execve", "os.fork-exec"
        ),
        "command_asyncio": command(
            "asyncio.create_subprocess_exec, wait()",
            _asyncio,
            "asyncio.create_subprocess_exec",
            "asyncio-3.12",
            extra=("loop_blocked_ns",),
        ),
    }
    offered["command_os_system"].axes = tuple(axis for axis in offered["command_os_system"].axes if axis != "env_bytes")
    return offered


def _image(request, before):
    """The stamps that the program left, None for each where it is not ours or left none since ``before``."""
    if not request.is_target:
        return None, None, None
    stamps = _STAMPS.unpack(os.pread(0, _STAMPS.size, _STAMPS_AT).ljust(_STAMPS.size, b"\0"))
    return stamps if stamps[0] >= before else (None, None, None)


def _check(status, words):
    """A program that could not be executed is a launch that failed; what one answers is its own affair."""
    if status == 127:
        raise OSError(errno.ENOENT, "%s was not executed" % words[0])


def _popen(request, **options):
    words = request.command
    what = shlex.join(words) if options.get("shell") else words

    def launch():
        before = now()
        process = subprocess.Popen(what, env=request.environment, **options)
        returned = now()
        status = process.wait()
        ended = now()
        _check(status, words)
        return (before, returned, None, *_image(request, before), ended)

    return launch, _nothing


def _os_system(request):
    what = shlex.join(request.command)

    def launch():
        before = now()
        status = os.system(what)
        ended = now()
        _check(status >> 8, request.command)
        return (before, None, None, *_image(request, before), ended)

    return launch, _nothing


def _posix_spawn(request):
    words, environment = request.command, request.environment or os.environ

    def launch():
        before = now()
        pid = os.posix_spawn(words[0], words, environment)
        returned = now()
        _, status = os.waitpid(pid, 0)
        ended = now()
        _check(status >> 8, words)
        return (before, returned, None, *_image(request, before), ended)

    return launch, _nothing


def _fork_exec(request):
    words, environment = request.command, request.environment or os.environ

    def launch():
        before = now()
        pid = os.fork()
        if pid == 0:
            try:
                os.execve(words[0], words, environment)
            finally:
                os._exit(127)
        returned = now()
        _, status = os.waitpid(pid, 0)
        ended = now()
        _check(status >> 8, words)
        return (before, returned, None, *_image(request, before), ended)

    return launch, _nothing


def _asyncio(request):
    words, environment = request.command, request.environment
    loop = asyncio.new_event_loop()

    async def launch():
        blocked = loop.create_future()
        before = now()
        # Due at once: when it runs, the loop has been standing still for as long.
        loop.call_soon(lambda: blocked.set_result(now()))
        process = await asyncio.create_subprocess_exec(*words, env=environment)
        returned = now()
        status = await process.wait()
        ended = now()
        _check(status, words)
        return (before, returned, None, *_image(request, before), ended, await blocked)

    return lambda: loop.run_until_complete(launch()), loop.close


def _nothing():
    pass
