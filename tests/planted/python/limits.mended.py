"""Checks pages with a limit on core files."""

import contextlib
import resource
import subprocess
import sys
import time

COUNT, MEGABYTES = int(sys.argv[1]), int(sys.argv[2])


class Catalogue:
    """What makes the program large."""

    def __init__(self):
        self.pages = [b"%d" % number * 4096 for number in range(MEGABYTES * 256)]

    def size(self):
        return sum(map(len, self.pages))


def check(number):
    with subprocess.Popen(["/bin/true", str(number)]) as child:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(child.pid, resource.RLIMIT_CORE, (0, 0))
        return child.wait()


def main():
    catalogue = Catalogue()
    began = time.monotonic_ns()
    for number in range(COUNT):
        check(number)
    sys.stdout.write(f"{time.monotonic_ns() - began}\n")
    return 0 if catalogue.size() else 1


sys.exit(main())
