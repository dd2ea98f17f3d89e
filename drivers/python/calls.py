"""A function that is run elsewhere: in a pool of threads or processes, or in a new process.

Timed: from before the call until it has returned, until the function's first line elsewhere, until its result is here
and, where a process was made for it, has been waited for. Outside: storing the sample. A cold launch contains making
the pool, or starting the fork server. Bias: the first line's time is the function's result, so that it travels back as
results do. Beside busy threads the function also sleeps, which tells how long it waits for the lock.
"""

import ctypes
import multiprocessing
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import forkserver

from measure import now, waited_for_lock

_STAGES = ("call_returns_ns", "task_runs_ns", "result_ns")
_PR_SET_PDEATHSIG = 1


def workloads(workload):
    offered = {
        "thread_pool": workload(
            "runtime_call",
            "ThreadPoolExecutor.submit of a function that returns at once, result()",
            (*_STAGES, "lock_wait_ns"),
            lambda request: _pool(request, ThreadPoolExecutor(1)),
            ("busy_threads",),
            contains="answer",
            api="ThreadPoolExecutor.submit",
        ),
    }
    for method in multiprocessing.get_all_start_methods():
        line = "multiprocessing-" + method
        offered["process_" + method] = workload(
            "runtime_call",
            "multiprocessing.Process by %s: a function sends its answer, join()" % method,
            _STAGES,
            lambda _, method=method: _process(method),
            api="multiprocessing.Process, start method " + method,
            launch_path=line,
        )
    offered["process_pool"] = workload(
        "runtime_call",
        "ProcessPoolExecutor.submit of a function that returns at once, result()",
        (*_STAGES, "lock_wait_ns"),
        lambda request: _pool(
            request, ProcessPoolExecutor(1, initializer=end_with_parent, mp_context=_context("fork"))
        ),
        ("busy_threads",),
        contains="answer",
        api="ProcessPoolExecutor.submit",
    )
    return offered


def end_with_parent():
    """In a process that lives longer than a launch: die with the driver, however that ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _context(method):
    return multiprocessing.get_context(method)


def ran_and_waited():
    """What a pool runs beside busy threads."""
    return now(), waited_for_lock()


def _pool(request, pool):
    def launch():
        before = now()
        future = pool.submit(now)
        returned = now()
        ran = future.result()
        return before, returned, ran, now(), None

    def launch_beside_busy():
        before = now()
        future = pool.submit(ran_and_waited)
        returned = now()
        ran, waited = future.result()
        return before, returned, ran, now(), before + waited

    return launch_beside_busy if request.busy_threads else launch, pool.shutdown


def answer(sending):
    """What a new process runs."""
    ran = now()
    sending.send(ran)


def _process(method):
    context = _context(method)

    def launch():
        receiving, sending = context.Pipe(duplex=False)
        process = context.Process(target=answer, args=(sending,))
        before = now()
        process.start()
        returned = now()
        sending.close()
        ran = receiving.recv()
        process.join()
        ended = now()
        receiving.close()
        process.close()
        return before, returned, ran, ended

    # The server ends when its last client does, which is at the driver's end; and so does the tracker.
    return launch, forkserver._forkserver._stop if method == "forkserver" else _nothing


def _nothing():
    pass
