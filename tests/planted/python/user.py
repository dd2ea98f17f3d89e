"""Runs each page as its owner."""

import os
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


OWNER = os.getuid()


def render(number):
    subprocess.check_call(["/bin/true", str(number)], user=OWNER)


def main():
    catalogue = Catalogue()
    began = time.monotonic_ns()
    for number in range(COUNT):
        render(number)
    sys.stdout.write(f"{time.monotonic_ns() - began}\n")
    return 0 if catalogue.size() else 1


sys.exit(main())
