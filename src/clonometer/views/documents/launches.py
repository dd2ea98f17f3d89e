"""The lines that launch programs: what each calls with which option, what that costs, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clonometer.tracing.census.demangling import demangle
from clonometer.tracing.census.launches import LaunchSite
from clonometer.units import format_duration
from clonometer.views.document import DocumentBlock, Heading, NamedText, NamedTexts, Paragraph
from clonometer.views.table import MISSING, Column, Table
from clonometer.views.terminal.text import clean

_INDENT = 11
#: A function of C++ or Rust as its symbol has it, which the brackets of a call follow.
_MANGLED = re.compile(r"\b_[ZR]\w+(?=\(\))")
_PLACE_MOST = 40
_MOST_ALTERNATIVES = 3
_MICROSECOND, _MILLISECOND = 1000, 1_000_000


def launch_advice(worth: Sequence[LaunchSite]) -> list[list[DocumentBlock]]:
    """What to write instead at each line where that saves time: a part each, under one heading.

    Lines of packages, which the reader cannot change, are named together in one sentence.
    """
    parts: list[list[DocumentBlock]] = []
    for launch in worth:
        if launch.is_packaged:
            continue
        path = launch.path
        entries = [
            NamedText("  Why", _why(launch)),
            *([NamedText("  Evidence", _evidence(launch))] if path is not None else []),
            NamedText("  Instead", _either(launch, [fit.path.instead for fit in launch.fits])),
            NamedText("  You lose", _either(launch, [fit.path.lose for fit in launch.fits])),
            NamedText("  Saves", _saves(launch)),
        ]
        service = f" (service {clean(launch.site.service)})" if launch.site.service else ""
        heading = Heading(f"What to change: {_place(launch)}{service}")
        parts.append([heading, Paragraph(_costs(launch)), NamedTexts(entries, _INDENT)])
    packaged = [launch for launch in worth if launch.is_packaged]
    return [*parts, [Paragraph(_of_packages(packaged))]] if packaged else parts


def _costs(launch: LaunchSite) -> str:
    count = launch.site.created
    took = f" took {format_duration(launch.site.cost_ns)}" if launch.site.making_ns else ""
    noun = "launch" if count == 1 else "launches"
    why = f"since {launch.site.mechanism} copies the memory map" if took else "each of which copies the memory map"
    return f"{clean(_called(launch))}: {count:,} {noun}{took}, {why}."


def _saves(launch: LaunchSite) -> str:
    saved = launch.saved
    if saved is not None:
        return (
            f"{format_duration(saved.value_ns)} ({format_duration(saved.low_ns)} to "
            f"{format_duration(saved.high_ns)}), compared with {saved.compared_with}."
        )
    if launch.site.making_ns:
        return "not known: what a launch without that copy costs could not be measured here; run it again."
    return "not known: times cannot be seen this way. It grows with the program's memory (clonometer predict)."


def _of_packages(packaged: Sequence[LaunchSite]) -> str:
    each = [
        f"{_place(launch)} ({clean(_called(launch))}, {launch.site.created:,}"
        f"{f', {format_duration(launch.site.cost_ns)}' if launch.site.making_ns else ''})"
        for launch in packaged
    ]
    return (
        "Installed programs also launch by copying the memory map, which only their authors can change: "
        f"{'; '.join(each)}."
    )


def _place(launch: LaunchSite) -> str:
    """The line to change: where only the interpreter's code is known, nobody but its authors could change that."""
    if launch.is_of_interpreter:
        return f"{clean(launch.site.program or '?')}, line not known"
    return clean(launch.site.where.place if launch.site.where is not None else launch.site.program or "?")


def _evidence(launch: LaunchSite) -> str:
    """What was seen that the line of the book says, with functions as their programmers wrote them."""
    return clean(_MANGLED.sub(lambda name: demangle(name.group()), "; ".join(launch.fits[0].evidence)))


def _called(launch: LaunchSite) -> str:
    return launch.title or launch.site.api or launch.site.mechanism


def _why(launch: LaunchSite) -> str:
    """Why the runtime takes that path, as far as all lines that fit agree, and which they are if they are several."""
    whys = {fit.path.why for fit in launch.fits}
    why = clean(next(iter(whys))) if len(whys) == 1 else ""
    return why if launch.path is not None else "; ".join(filter(None, [why, _alternatives(launch)]))


def _alternatives(launch: LaunchSite) -> str:
    """Where several options take this path, and what was seen does not say which."""
    titles = [fit.path.title if launch.title is None else fit.path.option or "no option" for fit in launch.fits]
    return f"one of these, which look alike: {_either(launch, list(map(clean, titles)))}"


def _either(launch: LaunchSite, texts: Sequence[str]) -> str:
    """Texts of lines that fit, each once: a few of them, and where the others are."""
    distinct = list(dict.fromkeys(texts))
    shown = "; or ".join(distinct[:_MOST_ALTERNATIVES])
    rest = len(distinct) - _MOST_ALTERNATIVES
    runtime = launch.runtime.name if launch.runtime is not None else ""
    return shown if rest <= 0 else f"{shown}; or {rest} more (clonometer paths {runtime})"


def sites_table(launches: Sequence[LaunchSite], *, timed: bool, services: bool = False) -> Table:
    """Where tasks are created: the call outside of the C library, and what it called with which option.

    ``services``: say whose they are.
    """
    sites = [launch.site for launch in launches]
    frames = [site.where or site.frames[0] for site in sites]
    columns = [
        Column("created by", [clean(_called(launch)) for launch in launches], least=24),
        Column("at", [clean(frame.place) for frame in frames], least=16, most=_PLACE_MOST, cut_start=True),
        Column("in", [clean(frame.written_name or MISSING) for frame in frames], least=8, most=_PLACE_MOST, drop=2),
        Column("how", [site.mechanism for site in sites], drop=3),
        Column(
            "child's calls", [", ".join(site.options[:4]) for site in sites], least=10, most=30, drop=4, optional=True
        ),
        Column("times", [f"{site.created:,}" for site in sites], "point"),
    ]
    if services:
        names = [clean(site.service or MISSING) for site in sites]
        columns.insert(0, Column("service", names, least=20, most=_PLACE_MOST, cut_start=True, once=True))
    if timed:
        columns += [
            Column("each, µs", [time_in(site.making_median_ns, _MICROSECOND) for site in sites], "point", drop=1),
            Column("all, ms", [time_in(site.cost_ns, _MILLISECOND) for site in sites], "point"),
        ]
    return Table(columns)


def time_in(time_ns: float | None, unit_ns: int) -> str:
    """A time in a unit, as a table of a census has it."""
    if time_ns is None:
        return MISSING
    value = time_ns / unit_ns
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
