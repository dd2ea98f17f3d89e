"""The driver of Python: performs one cell's launches through the standard library (docs/protocol.md).

It is started as ``python3 driver.py NAME`` and the words of the protocol, by clonometer-tether, which has checked
the descriptor, chosen the CPU and made descriptor 0 the page where targets leave their stamps.
"""

import json
import os
import sys

from answer import encode
from measure import measure
from request import Refusal, Skip, read_request
from workloads import all_workloads


def main(name, words):
    if words == ["--describe"]:
        from catalogue import describe  # not beside what is measured: it imports what a fork would copy

        json.dump(describe(name, all_workloads(name)), sys.stdout)
        return 0
    workloads = all_workloads(name, dict(word.partition("=")[::2] for word in words).get("workload"))
    descriptor, keys = int(words[1]), words[2:]
    blocks, status, reason = [], "ok", None
    request = None
    try:
        request = read_request(keys, workloads)
        blocks = measure(request)
    except Refusal as refused:
        status, reason = "failed", str(refused)
    except Skip as skipped:
        status, reason = "skipped", str(skipped)
    except MemoryError:
        status, reason = "skipped", "no memory for that many samples or so large a heap"
    try:
        send(descriptor, encode(name, request, blocks, status, reason))
    except OSError as error:
        print("driver-python: the answer could not be sent:", error, file=sys.stderr)
        return 1
    return 1 if status == "failed" else 0


def send(descriptor, content):
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


# Processes that multiprocessing spawns import this file again.
if __name__ == "__main__":
    status = main(sys.argv[1], sys.argv[2:])
    sys.stdout.flush()
    sys.stderr.flush()
    # Pools and servers were ended with their workload; what the interpreter would still tidy up is of no use.
    os._exit(status)
