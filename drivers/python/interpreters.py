"""A function that is run in another interpreter of this process, which from Python 3.12 on has a GIL of its own.

Timed: from before the interpreter is made until it is there, until the first line of its script, until the script has
ended and the interpreter is gone. In a pool: until submit has returned, until the function's first line, until its
result is here. Outside: storing the sample, making the pipe. Bias: the script writes its first line's time into a pipe,
which is a system call within result. A cold launch in a pool contains making it.
"""

import os
import struct
import sys
from concurrent import futures

from calls import ran_and_waited
from measure import SLEEP_NS, now

_STAGES = ("call_returns_ns", "task_runs_ns", "result_ns", "lock_wait_ns")
_STAMPS = struct.Struct("=qq")
_POOL = "InterpreterPoolExecutor"
# These modules are built in: nothing is imported from files.
_SCRIPT = """
import posix, time
ran = time.monotonic_ns()
waited = -1
if %(beside_busy)d:
    due = time.monotonic_ns() + %(sleep_ns)d
    time.sleep(%(sleep_ns)d / 1e9)
    waited = max(time.monotonic_ns() - due, 0)
posix.write(%(sink)d, ran.to_bytes(8, %(order)r) + waited.to_bytes(8, %(order)r, signed=True))
"""


def workloads(workload):
    return {
        "interpreter": workload(
            "runtime_call",
            "a new interpreter runs a script that returns at once, and is closed",
            _STAGES,
            _interpreter,
            ("busy_threads",),
            api="concurrent.interpreters.create",
            reason=lacking(sys.version_info, sys.implementation.name),
        ),
        "interpreter_pool": workload(
            "runtime_call",
            _POOL + ".submit of a function that returns at once, result()",
            _STAGES,
            _pool,
            ("busy_threads",),
            contains="answer",
            api=_POOL + ".submit",
            reason=None if hasattr(futures, _POOL) else "%s needs Python 3.14 or later" % _POOL,
        ),
    }


def lacking(version, implementation):
    """Why no interpreters can be made here, None where they can."""
    if implementation != "cpython":
        return "only CPython has interpreters of its own kind within a process"
    if version < (3, 12):
        return "an interpreter with a GIL of its own needs Python 3.12 or later"
    try:
        _functions()
    except ImportError as error:
        return "this Python was built without the module for interpreters: %s" % error
    return None


def _functions():
    """How this version makes an interpreter, runs a script in it, and closes it."""
    if sys.version_info >= (3, 14):
        from concurrent import interpreters

        return interpreters.create, lambda made, script: made.exec(script), lambda made: made.close()
    if sys.version_info >= (3, 13):
        import _interpreters as module

        run = module.exec
    else:
        import _xxsubinterpreters as module

        run = module.run_string
    return module.create, run, module.destroy


def _interpreter(request):
    create, run, destroy = _functions()
    source, sink = os.pipe()
    beside_busy = request.busy_threads > 0
    script = _SCRIPT % {"beside_busy": beside_busy, "sleep_ns": SLEEP_NS, "sink": sink, "order": sys.byteorder}

    def launch():
        before = now()
        made = create()
        returned = now()
        run(made, script)
        destroy(made)
        ended = now()
        ran, waited = _STAMPS.unpack(os.read(source, _STAMPS.size))
        return before, returned, ran, ended, before + waited if beside_busy else None

    def close():
        os.close(source)
        os.close(sink)

    return launch, close


def _pool(request):
    pool = futures.InterpreterPoolExecutor(1)
    function = ran_and_waited if request.busy_threads else now

    def launch():
        before = now()
        future = pool.submit(function)
        returned = now()
        answer = future.result()
        ended = now()
        ran, waited = answer if request.busy_threads else (answer, None)
        return before, returned, ran, ended, None if waited is None else before + waited

    return launch, pool.shutdown
