"""Starts workers by hand."""

import os
import sys
import time

COUNT, MEGABYTES = int(sys.argv[1]), int(sys.argv[2])


class Catalogue:
    """What makes the program large."""

    def __init__(self):
        self.pages = [b"%d" % number * 4096 for number in range(MEGABYTES * 256)]

    def size(self):
        return sum(map(len, self.pages))


def start(number):
    return os.posix_spawn("/bin/true", ["true", str(number)], os.environ)


def wait(child):
    os.waitpid(child, 0)


def main():
    catalogue = Catalogue()
    began = time.monotonic_ns()
    for number in range(COUNT):
        wait(start(number))
    sys.stdout.write(f"{time.monotonic_ns() - began}\n")
    return 0 if catalogue.size() else 1


sys.exit(main())
