"""Programs in a language with a runtime whose lines a census does not know, and what would name them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from types import MappingProxyType

from clonometer.tracing.census.call_sites import CallSite

_RUNTIME = re.compile(r"^(python|pypy|node|ruby|perl|php|java|bash|dash|sh|make|gmake)[\d.]*$")
_SHELLS = ("dash", "sh")
NO_RUNTIMES: Mapping[str | None, str] = MappingProxyType({})
_STARTED = "Programs name their lines where the census starts them, without --no-hooks."
#: What a program that runs already can be started with.
_OUTSIDE = {
    "python": "python -X perf (3.12) names the innermost function.",
    "node": "node --perf-basic-prof --interpreted-frames-native-stack names functions.",
    "java": "jcmd PID Compiler.perfmap names compiled functions.",
}
_NEVER = {
    "dash": "dash, the sh of Debian, has no hook for it: bash has.",
}


def _is_named(site: CallSite) -> bool:
    """Whether a hook has named the line, or the runtime itself the function."""
    place = site.where
    return site.language is not None or (place is not None and place.module is None and place.file is not None)


def unnamed_lines(
    sites: Iterable[CallSite], *, hooked: bool, library: str | None, runtimes: Mapping[str | None, str] = NO_RUNTIMES
) -> list[str]:
    """Say whose lines are not known, and what would name them; nothing where all are known.

    Parameters
    ----------
    hooked
        Whether the census has started the programs with hooks.
    library
        What a JVM can load to name its lines; None where that was not built.
    runtimes
        By the path of a program: what it runs, where that is known. A script has a name of its own.
    """
    silent: dict[str, str] = {}
    for site in sites:
        name = PurePath(site.program or "").name
        runtime = _RUNTIME.match(runtimes.get(site.program, "")) or _RUNTIME.match(name)
        if runtime is not None and site.mechanism != "thread" and not _is_named(site):
            silent[name] = "dash" if runtime[1] in _SHELLS else runtime[1]
    if not silent:
        return []
    sentences = [f"Lines are not known of {', '.join(sorted(silent))}."]
    languages = sorted(set(silent.values()))
    if not hooked:
        started = [_STARTED] if any(name not in _NEVER for name in languages) else []
        never = [_NEVER[name] for name in languages if name in _NEVER]
        return [*sentences, *started, *(_OUTSIDE[name] for name in languages if name in _OUTSIDE), *never]
    if "java" in languages and library is not None:
        sentences.append(
            f"JAVA_TOOL_OPTIONS=-agentpath:{library} names those of Java; each JVM then says so on stderr."
        )
    sentences += [_NEVER[name] for name in languages if name in _NEVER]
    rest = sorted(name for name, runtime in silent.items() if runtime not in _NEVER and runtime != "java")
    if rest:
        sentences.append(
            f"{', '.join(rest)} did not load the hook, created tasks without a call that it sees, or ran in a "
            "network or PID namespace."
        )
    return sentences
