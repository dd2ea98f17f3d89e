"""The tree of creation over time as rows of a page: it stands without scripts, which only zoom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clonometer.units import format_duration, format_share
from clonometer.views.creation_tree import CreationTree, Track
from clonometer.views.terminal.text import clean
from clonometer.words import counted

_TICKS = 4


def tree_block(tree: CreationTree) -> dict[str, Any]:
    """A tree as its template takes it: places as shares of the time that was watched."""
    whole_ns = max(tree.wall_ns, 1)
    return {
        "is": "tree",
        "wall_ns": whole_ns,
        "ticks": [format_duration(whole_ns * step / _TICKS) if step else "0" for step in range(_TICKS + 1)],
        "notes": list(_notes(tree)),
        "rows": [_row(track, whole_ns) for track in tree.tracks],
    }


def _notes(tree: CreationTree) -> Iterator[str]:
    marked = sum(track.marked for track in tree.tracks)
    if marked:
        yield f"▲ marks {counted(marked, 'task')} that cost most: creation and exec."
    if tree.folded:
        yield (
            f"{counted(tree.folded, 'task')} that cost less {'is' if tree.folded == 1 else 'are'} folded: those of one "
            "creator that are alike have one track."
        )
    if tree.dropped:
        yield f"{counted(tree.dropped, 'task')} that cost least {'is' if tree.dropped == 1 else 'are'} not here at all."


def _row(track: Track, whole_ns: int) -> dict[str, Any]:
    end_ns = whole_ns if track.end_ns is None else min(track.end_ns, whole_ns)
    name = clean(track.label)
    return {
        "depth": track.depth,
        "name": f"{track.tasks:,} × {name}" if track.tasks > 1 else name,
        "marked": track.marked,
        "cost": format_duration(track.cost_ns) if track.cost_ns else "",
        "bars": list(_bars(track, end_ns, whole_ns)),
        "start": f"{track.start_ns / whole_ns:.7f}",
        "width": f"{max(end_ns - track.start_ns, 0) / whole_ns:.7f}",
        "about": list(_about(track, whole_ns)),
    }


def _bars(track: Track, end_ns: int, whole_ns: int) -> Iterator[dict[str, str]]:
    """The stretches of a task: being created, before its program, its program; of folded ones a single stretch."""
    runs_ns = track.start_ns if track.runs_at_ns is None else track.runs_at_ns
    exec_ns = end_ns if track.exec_at_ns is None else track.exec_at_ns
    pieces = [("made", track.start_ns, runs_ns), ("before", runs_ns, exec_ns), ("runs", exec_ns, end_ns)]
    if track.tasks > 1:
        pieces = [("folds", track.start_ns, end_ns)]
    elif track.program is None:
        pieces[1:] = [("runs", runs_ns, end_ns)]
    for kind, from_ns, to_ns in pieces:
        if to_ns > from_ns or kind == "folds":
            share = (from_ns / whole_ns, max(to_ns - from_ns, 0) / whole_ns)
            yield {"kind": kind, "start": f"{share[0]:.7f}", "width": f"{share[1]:.7f}"}


def _about(track: Track, whole_ns: int) -> Iterator[str]:
    """What a track is, in sentences."""
    if track.tasks > 1:
        yield (
            f"{track.tasks:,} tasks by {clean(track.mechanism or '?')}, from {format_duration(track.start_ns)} to "
            f"{format_duration(track.end_ns or whole_ns)}. Creating them and their exec calls took "
            f"{format_duration(track.cost_ns)} in all."
        )
        return
    where = f" at {clean(track.made_at)}" if track.made_at else ""
    called = f" ({clean(track.api)})" if track.api else ""
    yield f"Task {track.number}, created by {clean(track.creator or '?')}{where}, by {track.mechanism}{called}."
    if track.program:
        yield f"It executed {clean(track.program)}."
    steps = [("call at", track.start_ns), ("runs from", track.runs_at_ns), ("program from", track.exec_at_ns)]
    times = [f"{name} {format_duration(time_ns)}" for name, time_ns in steps if time_ns is not None]
    times.append("ran on at the end" if track.end_ns is None else f"ended at {format_duration(track.end_ns)}")
    yield f"Since the beginning: {', '.join(times)}."
    if track.cost_ns:
        share = format_share(track.cost_ns / whole_ns)
        yield f"Creation and exec took {format_duration(track.cost_ns)}, {share} of the time."
