"""An installation that every user of the machine may read, made once a session."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path

from tools.torture.sandbox import NotPossibleError

import clonometer
from clonometer.runner.drivers import bin_folder

USER = 65_534


def become_user() -> None:
    """Called in a new process: become nobody."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(USER)
        os.setuid(USER)


@cache
def installed(place: Path) -> tuple[tuple[str, ...], dict[str, str]]:
    """The words that start the command, and the environment that it needs, for whoever is nobody.

    Raises
    ------
    NotPossibleError
        If no interpreter and libraries can be found that others may read.
    """
    if os.geteuid() != 0:
        return (sys.executable, "-m", "clonometer.cli.start"), {}
    source = place / "installed"
    package = Path(str(clonometer.__file__)).parent
    shutil.copytree(package, source / "clonometer", ignore=shutil.ignore_patterns("__pycache__", "_bin"))
    shutil.copytree(bin_folder(), source / "clonometer" / "_bin")
    environment = {"PYTHONPATH": f"{source}:{sysconfig.get_path('platlib')}", "PYTHONDONTWRITEBYTECODE": "1"}
    # The interpreter of this session may be in a home folder; the system's takes the modules of its version.
    code = f"import sys, numpy, pyarrow, rich_click; assert sys.version_info[:2] == {tuple(sys.version_info[:2])}"
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            subprocess.run(
                [python, "-c", code],
                env={**os.environ, **environment},
                user=USER,
                group=USER,
                extra_groups=[],
                capture_output=True,
                check=True,
            )
        except (OSError, subprocess.CalledProcessError):
            continue
        return (python, "-m", "clonometer.cli.start"), environment
    raise NotPossibleError("no Python with the libraries that other users may read")
