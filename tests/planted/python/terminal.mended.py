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
    far, terminal = pty.openpty()
    actions = [(os.POSIX_SPAWN_DUP2, terminal, descriptor) for descriptor in (0, 1, 2)]
    words = ["true", str(number)]
    child = os.posix_spawn("/bin/true", words, os.environ, setsid=True, file_actions=actions)
    os.waitpid(child, 0)
    os.close(terminal)
    os.close(far)


def main():
    catalogue = Catalogue()
    began = time.monotonic_ns()
    for number in range(COUNT):
        ask(number)
    sys.stdout.write(f"{time.monotonic_ns() - began}\n")
    return 0 if catalogue.size() else 1


sys.exit(main())
