"""Threads of control: an OS thread, and a task of an event loop.

Timed: from before the thread or task is made until the call has returned, until its function's first line, until join
or await has returned. Outside: storing the sample. Bias: Thread.start waits until the new thread has begun, so that
call_returns contains its start; with one CPU it is the thread that runs first. Beside busy threads the new thread also
sleeps, within reaped, which tells how long it waits for the lock.
"""

import asyncio
import threading

from measure import now, spin, waited_for_lock

_STAGES = ("call_returns_ns", "task_runs_ns", "image_runs_ns", "reaped_ns")
_NO_PROGRAM = {"image_runs_ns": "no new program is started"}


def workloads(workload):
    return {
        "os_thread": workload(
            "runtime_thread",
            "threading.Thread: start(), its function returns, join()",
            (*_STAGES, "lock_wait_ns"),
            _thread,
            ("stages", "busy_threads", "call_spin_ns", "stamp_spin_ns", "child_spin_ns"),
            _NO_PROGRAM,
            api="threading.Thread",
            launch_path="threading",
        ),
        "task": workload(
            "runtime_thread",
            "asyncio.create_task: a coroutine that returns at once, awaited",
            _STAGES,
            _task,
            nulls=_NO_PROGRAM,
            api="asyncio.create_task",
        ),
    }


def _thread(request):
    stamps = [None, None]
    stamped = request.stages == "all"
    is_beside_busy = stamped and request.busy_threads > 0

    def run():
        if request.stamp_spin_ns:
            spin(request.stamp_spin_ns)
        if stamped:
            stamps[0] = now()
        if is_beside_busy:
            stamps[1] = waited_for_lock()
        if request.child_spin_ns:
            spin(request.child_spin_ns)

    def launch():
        before = now()
        thread = threading.Thread(target=run)
        thread.start()
        if request.call_spin_ns:
            spin(request.call_spin_ns)
        returned = now()
        thread.join()
        ended, (ran, waited) = now(), stamps
        return before, returned, ran, None, ended, None if waited is None else before + waited

    return launch, _nothing


def _task(_):
    loop = asyncio.new_event_loop()

    async def run():
        return now()

    async def launch():
        before = now()
        task = asyncio.create_task(run())
        returned = now()
        ran = await task
        return before, returned, ran, None, now()

    return lambda: loop.run_until_complete(launch()), loop.close


def _nothing():
    pass
