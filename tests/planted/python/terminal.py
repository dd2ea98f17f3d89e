"""Runs what wants a terminal."""

import os
import pty
import sys
import time

COUNT, MEGABYTES = int(sys.argv[1]), int(sys.argv[2])


class Catalogue:
    """What makes the program large."""

    def __init__(self):
        self.pages = [b"%d" % number * 4096 for number in range(MEGABYTES * 256)]

    def size(self):
        return sum(map(len, self.pages))


def ask(number):
    child, terminal = pty.fork()
    if child == 0:
        os.execv("/bin/true", ["true", str(number)])
    os.waitpid(child, 0)
    os.close(terminal)


def main():
    catalogue = Catalogue()
    began = time.monotonic_ns()
    for number in range(COUNT):
        ask(number)
    sys.stdout.write(f"{time.monotonic_ns() - began}\n")
    return 0 if catalogue.size() else 1


sys.exit(main())
