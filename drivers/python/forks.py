"""A fork that ends at once, in a program that has imported little: what is imported is copied.

Timed: from before the call until it has returned, until the child's first line, until it has been waited for. Outside:
storing the sample. Bias: `threading` is imported, as in most programs, and each child runs its hooks (Lib/threading.py,
_after_fork): they write to more than a hundred pages, which are copied.
"""

import mmap
import os
import struct

from measure import now


def workloads(workload):
    return {
        "fork": workload(
            "runtime_call",
            "os.fork, the child ends by os._exit, os.waitpid",
            ("call_returns_ns", "task_runs_ns", "result_ns"),
            _fork,
            api="os.fork",
            launch_path="os.fork",
        )
    }


def _fork(_):
    page = mmap.mmap(-1, mmap.PAGESIZE)

    def launch():
        before = now()
        pid = os.fork()
        if pid == 0:
            struct.pack_into("q", page, 0, now())
            os._exit(0)
        returned = now()
        os.waitpid(pid, 0)
        ended = now()
        return before, returned, struct.unpack_from("q", page)[0], ended

    return launch, page.close
