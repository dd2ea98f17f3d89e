"""A program of the user's that starts workers by METHOD: what that costs, and what breaks; in any Python from 3.8 on.

It is run as ``python trial.py METHOD times|cases DESCRIPTOR``, as a program of the user's would be: imports stand at
the top level, so that whatever imports a program again in its workers pays for them again. What it sees goes to the
descriptor as lines of JSON, at once: where it hangs, the last line says in what.

The interval of a start ends when the parent has the worker's first result, and contains handing over the data:
inherited by a fork, shared by a thread, pickled otherwise. All times are of one clock in one process.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time

# A worker of a forkserver gets no arguments before it imports this file, but the environment.
_CODE, _DATA_MB = os.environ.get("CLONOMETER_START_CODE", ""), int(os.environ.get("CLONOMETER_START_DATA_MB", "0"))
_WORKERS = int(os.environ.get("CLONOMETER_START_WORKERS", "2"))
_LATER, _TASKS, _RECORD_BYTES = 5, 200, 1024
_LIMIT_S, _HELD_S, _COMPUTED_NS = 60.0, 0.5, 20_000_000
_THREAD, _INTERPRETER = "thread", "interpreter"
_HIGH_DESCRIPTOR = 200

if __name__ == "__main__" and not getattr(sys.flags, "safe_path", False):
    # As for a program in the folder in which the user called.
    sys.path[0] = os.getcwd()

_began_ns = time.monotonic_ns()
exec(compile(_CODE, "<imports>", "exec"), {"__name__": __name__})
_IMPORT_NS = time.monotonic_ns() - _began_ns
# A worker may import before it answers.
_CASE_LIMIT_S = 3.0 + 3 * _IMPORT_NS / 1e9

_state = "of the import"
_kept: list[bytes] = []


def make_data() -> list[bytes]:
    """Make distinct objects of a kilobyte each: what a worker looks at, it writes a reference count of."""
    return [number.to_bytes(8, "little") * (_RECORD_BYTES // 8) for number in range(_DATA_MB * 1024)]


def look(data: list[bytes]) -> int:
    """Look at all of the data."""
    return sum(map(len, data))


def keep(data: list[bytes]) -> None:
    """Begin a worker of a pool."""
    _kept[:] = data


def look_at_kept(seconds: float = 0.0) -> tuple[int, int]:
    """Look at what a worker of a pool has been given; who it is, and how much there is."""
    total = look(_kept)
    time.sleep(seconds)
    return os.getpid(), total


def nothing(number: int) -> int:
    """Do nothing: a task of a pool."""
    return number


def compute(loops: int) -> int:
    """Compute in pure Python: a task that keeps a CPU busy."""
    total = 0
    for number in range(loops):
        total = (total * 31 + number) % 1_000_003
    return total


def loops_of_task() -> int:
    """How many turns of the loop take 20 ms here, at best."""
    loops, spent_ns = 5000, 0
    while spent_ns < _COMPUTED_NS:
        loops *= 2
        spent_ns = min(_timed(compute, loops) for _ in range(3))
    return loops * _COMPUTED_NS // spent_ns


def _timed(function, argument) -> int:
    began_ns = time.monotonic_ns()
    function(argument)
    return time.monotonic_ns() - began_ns


def send_result(connection, function, arguments):
    """Run in a process: send what the function gives."""
    try:
        connection.send((True, function(*arguments)))
    except BaseException as error:
        connection.send((False, _described(error)))


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:300]


class FailedError(Exception):
    """A worker gave no result; says why."""


class ProcessWorkers:
    """Processes, started as one of the methods of multiprocessing does."""

    def __init__(self, method: str) -> None:
        import multiprocessing

        self._context = multiprocessing.get_context(method)

    def result(self, function, arguments, limit_s):
        """Start a worker, wait for its result, and give the time in ns with it."""
        began_ns = time.monotonic_ns()
        receiver, sender = self._context.Pipe(False)
        process = self._context.Process(target=send_result, args=(sender, function, arguments))
        process.start()
        sender.close()
        try:
            if not receiver.poll(limit_s):
                raise FailedError(f"no result within {limit_s:.0f} s")
            good, value = receiver.recv()
            ns = time.monotonic_ns() - began_ns
        except EOFError:
            process.join(limit_s)
            raise FailedError(f"the worker ended with status {process.exitcode}") from None
        finally:
            if process.is_alive():
                process.join(0.5)
                process.kill()
            process.join()
            receiver.close()
        if not good:
            raise FailedError(value)
        return value, ns

    def pool(self, data):
        """Make a pool of which each worker has the data."""
        from concurrent.futures import ProcessPoolExecutor

        return ProcessPoolExecutor(_WORKERS, mp_context=self._context, initializer=keep, initargs=(data,))


class ThreadWorkers:
    """Threads of this process."""

    def result(self, function, arguments, limit_s):
        """Start a worker, wait for its result, and give the time in ns with it."""
        import queue

        began_ns = time.monotonic_ns()
        answers = queue.SimpleQueue()

        def run() -> None:
            try:
                answers.put((True, function(*arguments)))
            except BaseException as error:
                answers.put((False, _described(error)))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            good, value = answers.get(timeout=limit_s)
        except queue.Empty:
            raise FailedError(f"no result within {limit_s:.0f} s") from None
        ns = time.monotonic_ns() - began_ns
        thread.join()
        if not good:
            raise FailedError(value)
        return value, ns

    def pool(self, data):
        """Make a pool whose workers share the data."""
        from concurrent.futures import ThreadPoolExecutor

        return ThreadPoolExecutor(_WORKERS, initializer=keep, initargs=(data,))


# Like spawn, it imports the program again.
_IN_INTERPRETER = """
import pickle, sys
sys.path[:], sys.argv[:] = pickle.loads(places)
import os, runpy
_names = runpy.run_path({file!r}, run_name="__mp_main__")
"""
_CALL = """
_name, _arguments, _sink = pickle.loads(call)
try:
    _answer = (True, _names[_name](*_arguments))
except BaseException as _error:
    _answer = (False, type(_error).__name__ + ": " + str(_error)[:300])
_bytes = pickle.dumps(_answer)
while _bytes:
    _bytes = _bytes[os.write(_sink, _bytes):]
"""


class SubInterpreter:
    """An interpreter of this process, by whichever module this version of Python has."""

    def __init__(self) -> None:
        import pickle

        self._module, kind = _interpreters_module()
        self._kind = kind
        self._id = self._module.create()
        self.run(_IN_INTERPRETER.format(file=__file__), places=pickle.dumps((sys.path, sys.argv or [""])))

    def run(self, script: str, **shared: bytes) -> None:
        """Run a script that has these names; RuntimeError where it fails."""
        if self._kind == "public":
            self._id.prepare_main(shared)
            self._id.exec(script)
        elif self._kind == "exec":
            failure = self._module.exec(self._id, script, shared)
            if failure is not None:
                raise RuntimeError(failure.formatted)
        else:
            self._module.run_string(self._id, script, shared)

    def call(self, function, arguments):
        """Call a function of this file there."""
        import pickle

        source, sink = os.pipe()
        try:
            # What has no name cannot be handed over, as pickle says.
            pickle.dumps(function)
            self.run(_CALL, call=pickle.dumps((function.__name__, arguments, sink)))
            os.close(sink)
            sink = -1
            with os.fdopen(source, "rb", closefd=False) as answers:
                good, value = pickle.load(answers)
        finally:
            os.close(source)
            if sink >= 0:
                os.close(sink)
        if not good:
            raise FailedError(value)
        return value

    def close(self) -> None:
        """Destroy it."""
        if self._kind == "public":
            self._id.close()
        else:
            self._module.destroy(self._id)


def _interpreters_module():
    """The module that makes interpreters, and how it is used; ImportError where there is none."""
    if sys.version_info >= (3, 14):
        from concurrent import interpreters

        return interpreters, "public"
    try:
        import _interpreters

        return _interpreters, "exec"
    except ImportError:
        import _xxsubinterpreters

        return _xxsubinterpreters, "run_string"


class InterpreterWorkers:
    """Threads that each have an interpreter; Python has such a pool ready-made from 3.14 on."""

    def __init__(self) -> None:
        _interpreters_module()
        self._threads = ThreadWorkers()
        self._local = threading.local()

    def result(self, function, arguments, limit_s):
        """Start a worker, wait for its result, and give the time in ns with it."""

        def run():
            interpreter = SubInterpreter()
            try:
                value = interpreter.call(function, arguments)
                return value, time.monotonic_ns() - began_ns
            finally:
                # Where it was used: in another thread CPython 3.11 and 3.12 crash.
                interpreter.close()

        began_ns = time.monotonic_ns()
        answer, _ = self._threads.result(run, (), limit_s)
        return answer

    def pool(self, data):
        """Make a pool of which each interpreter has the data."""
        from concurrent.futures import ThreadPoolExecutor

        local = self._local

        def begin() -> None:
            local.interpreter = SubInterpreter()
            local.interpreter.call(keep, (data,))

        class Pool(ThreadPoolExecutor):
            def submit(self, function, /, *arguments):
                return super().submit(lambda: local.interpreter.call(function, arguments))

        return Pool(_WORKERS, initializer=begin)


def make_workers(method: str):
    """Make what starts workers by a method; ValueError or ImportError where this Python cannot."""
    if method == _THREAD:
        return ThreadWorkers()
    return InterpreterWorkers() if method == _INTERPRETER else ProcessWorkers(method)


def memory():
    """PSS and private memory in bytes of all processes of this session, of which this one is the leader.

    Nothing where they cannot be read.
    """
    session, shared, private = os.getpid(), 0, 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            if int(fields[3]) != session or fields[0] == b"Z":
                continue
            with open(f"/proc/{name}/smaps_rollup", "rb") as file:
                lines = [line.split() for line in file]
        except (FileNotFoundError, ProcessLookupError):
            # It has ended, unless this kernel has no such file.
            if int(name) == session:
                return {}
            continue
        except OSError:
            return {}
        shared += sum(int(words[1]) for words in lines if words[0] == b"Pss:")
        private += sum(int(words[1]) for words in lines if words[0].startswith(b"Private_"))
    return {"memory_bytes": shared * 1024, "private_bytes": private * 1024}


def measure_times(workers, say):
    """Time the first start and later ones, then a pool and its tasks."""
    say(step="making the data")
    data = make_data()
    wanted = look(data)
    say(imports_ns=_IMPORT_NS, threads=len(os.listdir("/proc/self/task")))
    say(step="the first worker")
    times_ns = []
    for turn in range(1 + _LATER):
        value, ns = workers.result(look, (data,), _LIMIT_S)
        if value != wanted:
            raise FailedError("the worker saw other data")
        times_ns.append(ns)
        say(step=f"worker {turn + 2}")
    say(first_ns=times_ns[0], later_ns=sorted(times_ns[1:])[_LATER // 2], step="the pool")
    began_ns = time.monotonic_ns()
    with workers.pool(data) as pool:
        pool.submit(look_at_kept).result(_LIMIT_S)
        say(pool_ns=time.monotonic_ns() - began_ns, step="all workers of the pool")
        # Each sleeps, so that no worker takes the tasks of two: all have looked at the data before memory is read.
        for _ in range(2):
            for each in [pool.submit(look_at_kept, 0.1) for _ in range(_WORKERS)]:
                each.result(_LIMIT_S)
        say(**memory(), step="the tasks of the pool")
        began_ns = time.monotonic_ns()
        for each in [pool.submit(nothing, number) for number in range(_TASKS)]:
            each.result(_LIMIT_S)
        say(task_ns=(time.monotonic_ns() - began_ns) / _TASKS, step="the tasks that compute")
        loops = loops_of_task()
        began_ns = time.monotonic_ns()
        for each in [pool.submit(compute, loops) for _ in range(_WORKERS)]:
            each.result(_LIMIT_S)
        say(compute_ns=time.monotonic_ns() - began_ns, step="the end of the pool")


_lock = threading.Lock()


def take_lock() -> bool:
    """Take the program's lock, as logging and allocators do; whether that succeeded."""
    return bool(_lock.acquire(timeout=_HELD_S * 3))


def read_state() -> str:
    """Read what the program has changed since it was imported."""
    return _state


def write_byte(descriptor: int) -> int:
    """Write to a descriptor that the parent has opened."""
    return os.write(descriptor, b"!")


def with_lock_held(workers):
    """Start a worker while a thread holds a lock for half a second, which the worker takes too."""
    held = threading.Event()

    def hold() -> None:
        with _lock:
            held.set()
            time.sleep(_HELD_S)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    try:
        taken, _ = workers.result(take_lock, (), _CASE_LIMIT_S)
    finally:
        thread.join()
    if not taken:
        raise FailedError(f"the lock stayed locked in the worker, whose parent had freed it: waited {_HELD_S * 3:g} s")


def with_thread(workers):
    """Start a worker while a thread runs; give the warning that Python makes of it."""
    import warnings

    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            workers.result(nothing, (1,), _CASE_LIMIT_S)
    finally:
        ended.set()
        thread.join()
    return re.sub(r" \(pid=\d+\)", "", str(caught[0].message))[:300] if caught else None


def with_lambda(workers):
    """Start a worker with a function that has no name."""
    workers.result(lambda: 1, (), _CASE_LIMIT_S)


def with_changed_state(workers):
    """Start a worker that reads a global that the program has changed after its import."""
    global _state
    _state = "changed"
    value, _ = workers.result(read_state, (), _CASE_LIMIT_S)
    if value != _state:
        raise FailedError("the worker saw the value that the import gives, without an error")


def with_descriptor(workers):
    """Start a worker that writes to a pipe of the parent by its number."""
    import fcntl

    source, sink = os.pipe()
    # So high that the worker has no other file there.
    high = fcntl.fcntl(sink, fcntl.F_DUPFD_CLOEXEC, _HIGH_DESCRIPTOR)
    try:
        workers.result(write_byte, (high,), _CASE_LIMIT_S)
        os.set_blocking(source, False)
        if os.read(source, 1) != b"!":
            raise FailedError("nothing arrived")
    finally:
        for each in (source, sink, high):
            os.close(each)


def change_folder(folder: str) -> None:
    """Change the folder of whoever runs this."""
    os.chdir(folder)


def with_folder(workers):
    """Start a worker that changes its folder; it fails where that is the program's too."""
    folder = os.getcwd()
    try:
        workers.result(change_folder, ("/",), _CASE_LIMIT_S)
        if os.getcwd() != folder:
            raise FailedError("the folder of the whole program has changed")
    finally:
        os.chdir(folder)


_CASES = {
    "threads": with_thread,
    "lock": with_lock_held,
    "lambda": with_lambda,
    "state": with_changed_state,
    "descriptor": with_descriptor,
    "chdir": with_folder,
}


def try_cases(workers, say):
    """Try what breaks, each with a worker."""
    for name, attempt in _CASES.items():
        say(step=name)
        try:
            warning = attempt(workers)
            say(case=name, outcome="warns" if warning else "works", words=warning)
        except BaseException as error:
            say(case=name, outcome="breaks", words=str(error) if isinstance(error, FailedError) else _described(error))


def main() -> None:
    """Do what the arguments say."""
    import json

    method, what, descriptor = sys.argv[1:4]
    # What the user's module prints is no answer, and a worker must not keep the pipe open.
    sink = int(descriptor)
    os.set_inheritable(sink, False)

    def say(**values: object) -> None:
        os.write(sink, json.dumps(values).encode() + b"\n")

    say(step="the start")
    try:
        workers = make_workers(method)
    except ImportError:
        say(unavailable="needs CPython 3.8 or later, built with the module for sub-interpreters; 3.14 has a public one")
        os._exit(0)
    except ValueError as error:
        say(unavailable=_described(error))
        os._exit(0)
    try:
        (measure_times if what == "times" else try_cases)(workers, say)
        say(done=True)
    except BaseException as error:
        say(failed=str(error)[:600] if isinstance(error, (FailedError, RuntimeError)) else _described(error))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
