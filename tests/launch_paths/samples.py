"""A check of the book with every verdict, whose runtimes never ran."""

from __future__ import annotations

from clonometer.launch_paths.checks import CheckedBook, CheckedLine, CheckedVersion
from clonometer.verdicts import Status


def checked_book() -> CheckedBook:
    perl = CheckedVersion(
        "perl",
        "5.36.0",
        "/usr/bin/\x1b[31mperl",
        None,
        (
            CheckedLine("system", Status.FAILS, ("vfork > true",), reason="the book has fork, the kernel saw vfork"),
            CheckedLine("open3", Status.UNKNOWN, reason="ended with status 2: it printed nothing"),
            CheckedLine("fork", Status.HOLDS, ("fork",)),
            CheckedLine("threads", Status.NOT_MEASURABLE, reason="needs root"),
        ),
    )
    lines = (CheckedLine("exec", Status.NOT_MEASURABLE, reason="PHP is not here"),)
    php = CheckedVersion("php", None, None, "Debian's php-cli", lines)
    return CheckedBook("x86_64", "6.1", "ptrace", (perl, php))
