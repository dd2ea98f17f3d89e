"""The tree of creation over time: a track for each task below that of its creator, and one for many that are folded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from clonometer.tracing.census.call_sites import CallSite, CallSites
from clonometer.tracing.census.language import LanguageCall
from clonometer.tracing.census.timeline import TaskLife, TaskLives, parents

#: Tracks of single tasks, and of folded ones.
MOST_TRACKS = 150
MOST_FOLDED = 50
#: Tasks beyond this share of the cost are folded.
_SHOWN_SHARE = 0.95
_DEEPEST = 12
_MOST_MARKED = 10
_LEAST_MARKED_SHARE = 0.01
_REST = "other programs"


@dataclass(frozen=True)
class Track:
    """A task, or ``tasks`` of them that are folded. Times are ns since the beginning; None: not seen.

    ``depth`` counts its creators that have a track. ``made_at`` is the line that created it, and ``api`` what it called
    there. ``marked``: it is among the most expensive. ``of`` are the programs of creator and task.
    """

    depth: int
    label: str
    start_ns: int
    runs_at_ns: int | None
    exec_at_ns: int | None
    end_ns: int | None
    cost_ns: int
    tasks: int = 1
    marked: bool = False
    number: int | None = None
    creator: str | None = None
    program: str | None = None
    mechanism: str | None = None
    made_at: str | None = None
    api: str | None = None


@dataclass(frozen=True)
class CreationTree:
    """Tracks in the order of a tree, how long was watched, and how many tasks have no track of their own."""

    tracks: Sequence[Track]
    wall_ns: int
    folded: int
    dropped: int


class MadeAt:
    """Where tasks were created: each place is looked up once."""

    def __init__(self, sites: CallSites) -> None:
        self._sites = sites
        self._known: dict[tuple[int | None, LanguageCall | None], CallSite] = {}

    def of(self, task: TaskLife) -> CallSite:
        """The call site of a task, without figures."""
        key = (task.site, task.language)
        if key not in self._known:
            self._known[key] = self._sites.place(task.site, task.language)
        return self._known[key]


def task_label(task: TaskLife) -> str:
    """What a track is called: the program that it executed, or what it is of its creator."""
    if task.executed:
        return _name(task.program)
    return f"{'thread' if task.is_thread else 'copy'} of {_name(task.creator_program)}"


def _name(path: str | None) -> str:
    return PurePath(path or "?").name or "?"


def creation_tree(timeline: TaskLives, sites: CallSites, wall_ns: int, most: int = MOST_TRACKS) -> CreationTree:
    """Choose the most expensive tasks with their creators; fold others by creator and program."""
    tasks = timeline.tasks()
    makers = parents(tasks)
    shown = _chosen(tasks, makers, most)
    folds = _folds(tasks, makers, shown)
    marked = _marked(tasks, shown)
    places = MadeAt(sites)
    below: dict[int | None, list[int]] = defaultdict(list)
    for chosen in sorted(shown):
        below[makers[chosen]].append(chosen)
    tracks: list[Track] = []
    # A stack of our own, since tasks may be created by tasks as deep as anybody likes.
    waiting: list[tuple[int, int | None]] = [(-1, None)]
    while waiting:
        depth, place = waiting.pop()
        if place is not None:
            tracks.append(_track(tasks[place], depth, places, marked=place in marked))
        tracks += [fold.track(min(depth + 1, _DEEPEST)) for fold in folds.get(place, ())]
        waiting += [(min(depth + 1, _DEEPEST), child) for child in reversed(below[place])]
    return CreationTree(tracks, wall_ns, len(tasks) - len(shown), timeline.dropped)


def _chosen(tasks: Sequence[TaskLife], makers: Sequence[int | None], most: int) -> set[int]:
    """The most expensive tasks with their creators, until nearly all of the cost is shown, or there is no more room."""
    shown: set[int] = set()
    left_ns = _SHOWN_SHARE * sum(task.cost_ns for task in tasks)
    for place in sorted(range(len(tasks)), key=lambda each: -tasks[each].cost_ns):
        # Without times all cost nothing, and the first are shown.
        if shown and left_ns <= 0 < tasks[place].cost_ns:
            break
        left_ns -= tasks[place].cost_ns
        chain: list[int] = []
        step: int | None = place
        while step is not None and step not in shown and len(shown) + len(chain) <= most:
            chain.append(step)
            step = makers[step]
        if len(shown) + len(chain) <= most:
            shown.update(chain)
    return shown


def _marked(tasks: Sequence[TaskLife], shown: set[int]) -> set[int]:
    least_ns = max(_LEAST_MARKED_SHARE * sum(task.cost_ns for task in tasks), 1)
    first = sorted(shown, key=lambda place: -tasks[place].cost_ns)[:_MOST_MARKED]
    return {place for place in first if tasks[place].cost_ns >= least_ns}


def _track(task: TaskLife, depth: int, places: MadeAt, *, marked: bool) -> Track:
    site = places.of(task)
    return Track(
        depth,
        task_label(task),
        task.start_ns,
        task.runs_at_ns,
        task.exec_at_ns,
        task.end_ns,
        task.cost_ns,
        marked=marked,
        number=task.tid,
        creator=task.creator_program,
        program=task.program if task.executed else None,
        mechanism=task.mechanism,
        made_at=None if site.where is None else site.where.place,
        api=site.api,
    )


@dataclass
class _Fold:
    """Tasks that have one track."""

    label: str
    tasks: int = 0
    cost_ns: int = 0
    start_ns: int = 0
    end_ns: int = 0
    mechanisms: dict[str, None] = field(default_factory=dict)

    def add(self, start_ns: int, end_ns: int, tasks: int, cost_ns: int, mechanisms: Mapping[str, None]) -> None:
        self.start_ns = start_ns if self.tasks == 0 else min(self.start_ns, start_ns)
        self.end_ns = max(self.end_ns, end_ns)
        self.tasks += tasks
        self.cost_ns += cost_ns
        self.mechanisms.update(mechanisms)

    def track(self, depth: int) -> Track:
        ways = ", ".join(self.mechanisms)
        return Track(
            depth, self.label, self.start_ns, None, None, self.end_ns, self.cost_ns, self.tasks, mechanism=ways
        )


def _folds(tasks: Sequence[TaskLife], makers: Sequence[int | None], shown: set[int]) -> dict[int | None, list[_Fold]]:
    """Those that are not shown, by the nearest creator that is, and by what they are."""
    nearest: list[int | None] = []
    folds: dict[tuple[int | None, str], _Fold] = {}
    for place, task in enumerate(tasks):
        maker = makers[place]
        nearest.append(place if place in shown else None if maker is None else nearest[maker])
        if place not in shown:
            label = task_label(task)
            fold = folds.setdefault((nearest[place], label), _Fold(label))
            fold.add(task.start_ns, task.end_ns or task.start_ns, 1, task.cost_ns, {task.mechanism: None})
    ordered = sorted(folds.items(), key=lambda item: -item[1].cost_ns)
    by_maker: dict[int | None, list[_Fold]] = defaultdict(list)
    for (maker, _), fold in ordered[:MOST_FOLDED]:
        by_maker[maker].append(fold)
    rest = _Fold(_REST)
    for _, fold in ordered[MOST_FOLDED:]:
        rest.add(fold.start_ns, fold.end_ns, fold.tasks, fold.cost_ns, fold.mechanisms)
    if rest.tasks:
        by_maker[None].append(rest)
    return by_maker
