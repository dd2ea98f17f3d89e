"""Data handed over and back: to another thread by queues, to another process by a pipe of multiprocessing.

Timed: from before the data is handed over until it has come back whole. Outside: making the data, starting the other
one. A thread gets a reference, so that its size is nothing; to a process the data is pickled and copied, both ways.
"""

import multiprocessing
import queue
import threading

from calls import end_with_parent
from measure import now

_STAGES = ("call_returns_ns", "result_ns")


def workloads(workload):
    return {
        "exchange_thread": workload(
            "runtime_data",
            "queue.SimpleQueue to a thread and back: bytes of message_bytes, by reference",
            _STAGES,
            _threads,
            ("message_bytes",),
            contains="answer",
            api="queue.SimpleQueue",
        ),
        "exchange_process": workload(
            "runtime_data",
            "multiprocessing.Pipe to a process and back: bytes of message_bytes, copied",
            _STAGES,
            _processes,
            ("message_bytes",),
            contains="answer",
            api="multiprocessing.Pipe",
        ),
    }


def _threads(request):
    request_queue, answer_queue = queue.SimpleQueue(), queue.SimpleQueue()
    data = b"x" * request.message_bytes
    other = threading.Thread(target=_echo, args=(request_queue.get, answer_queue.put))
    other.start()

    def launch():
        before = now()
        request_queue.put(data)
        returned = now()
        answer_queue.get()
        return before, returned, now()

    def close():
        request_queue.put(None)
        other.join()

    return launch, close


def _processes(request):
    context = multiprocessing.get_context("fork")
    near, far = context.Pipe()
    other = context.Process(target=_serve, args=(far,), daemon=True)
    other.start()
    far.close()
    data = b"x" * request.message_bytes
    # It has started when it has answered once.
    near.send(b"")
    near.recv()

    def launch():
        before = now()
        near.send(data)
        returned = now()
        near.recv()
        return before, returned, now()

    def close():
        near.send(None)
        other.join()

    return launch, close


def _serve(connection):
    end_with_parent()
    _echo(connection.recv, connection.send)


def _echo(receive, send):
    while True:
        data = receive()
        if data is None:
            return
        send(data)
