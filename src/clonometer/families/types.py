"""What a module of this package says of a family of workloads and of its axes: plain values with defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

Condition = Mapping[str, int | str]

#: What a workload of a family does. A launch makes a task and has stages.
LAUNCH = "launch"
#: It waits for somebody else, who may take the CPU.
EVENT = "event"
#: It waits for nobody and launches nothing.
LOOP = "loop"
#: Several tasks work or take turns, and push each other off the CPU by design.
CROWD = "crowd"

#: Columns that every driver of a language may have: the collector's pauses within a launch, how long its event loop
#: stood still, and how long the new task waited for the runtime's lock.
COLLECTOR, LOOP_BLOCKED, LOCK_WAIT = "collector_ns", "loop_blocked_ns", "lock_wait_ns"

#: Where a family stands that says nothing of its place: after all others.
LAST = 1_000


@dataclass(frozen=True)
class Cost:
    """What a thing of an axis costs: each launch (or event), the preparation, and what launchers wait for together.

    ``launch_ns`` is paid by each launcher, ``build_ns`` once in a process, ``wait_ns`` before each round of launches,
    however many launchers there are.
    """

    launch_ns: float = 0.0
    build_ns: float = 0.0
    wait_ns: float = 0.0

    def times(self, number: float) -> Cost:
        """The cost of so many."""
        return Cost(self.launch_ns * number, self.build_ns * number, self.wait_ns * number)


class Qualifier(NamedTuple):
    """What an axis qualifies, the value that says nothing, and the one value it needs (None: any but 0).

    ``is_said``: whether a line against what it qualifies names the usual value too.
    """

    of: str
    usual: int | str
    needs: int | str | None = None
    is_said: bool = True

    def says_nothing(self, condition: Condition) -> bool:
        """Whether a condition has none of the things that it qualifies."""
        value = condition.get(self.of)
        return value == 0 if self.needs is None else value is not None and value != self.needs

    @property
    def nowhere(self) -> str:
        """Where it says nothing, in words."""
        return f"where {self.of}=0" if self.needs is None else f"without {self.of}={self.needs}"


@dataclass(frozen=True)
class Axis:
    """The words of an axis, and what it costs to set it. All have defaults, made from its name.

    Attributes
    ----------
    values
        Words for values that are texts.
    phrase
        Words for any other text: ``{} pages``.
    number
        Words for a number: ``{} stack``. Sizes and durations are put in with their units.
    thing, things
        What one of the things is called that a number counts, and many of them.
    title
        What the axis is called where it is drawn.
    cost
        What one of its things costs, or a function that gives the whole cost under a condition.
    multiplies
        Whether it says how many launch at once, so that each launch takes as many times as long.
    explanations
        What values are, for those who read of them for the first time.
    always_said
        Whether its value is said even where it is the default.
    programs
        Whether its texts are programs, which are called by the names of their files.
    qualifies
        The axis that it says more of, if any.
    drawn_apart
        Whether each of its values has distributions of its own on the page, where all else is at its default.
    by_runner
        Whether the runner sets it, by its choice of the driver or around it, so that no driver is asked for it.
    no_launches
        The temperature that there are no launches of under some of its values, which values, and why.
    delays
        Where a launch is delayed by as many ns, so that the answer is known, and the first stage that is.
    where
        How its words stand after "with", where they cannot stand alone: ``{} in the parent``.
    fewer
        What to do about a number where more of it costs more: "fork before memory is filled". Empty: nothing.
    advice
        What to do to have a value, of those that are worth choosing where they are cheaper.
    colours
        What its values are drawn in where lines differ by them alone, by the names of `clonometer.views.colours`.
    period
        Whether it says how long a launch lasts, in which many things happen: one of them in a process is enough.
    order
        Its place where a condition is told: below 0 before the others, above 0 after them.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    phrase: str = ""
    number: str = ""
    thing: str = ""
    things: str = ""
    title: str = ""
    cost: Cost | Callable[[Condition], Cost] = Cost()
    multiplies: bool = False
    explanations: Mapping[str, str] = field(default_factory=dict)
    always_said: bool = False
    programs: bool = False
    qualifies: Qualifier | None = None
    drawn_apart: bool = False
    by_runner: bool = False
    no_launches: tuple[str, Callable[[int | str], bool], str] | None = None
    delays: tuple[str, str] | None = None
    where: str = ""
    fewer: str = ""
    advice: Mapping[str, str] = field(default_factory=dict)
    colours: Mapping[str, str] = field(default_factory=dict)
    period: bool = False
    order: int = 0


@dataclass(frozen=True)
class CurveShape:
    """What times along an axis are known to follow: a polynomial of ``degree``.

    ``beyond_cpus``: only where there are more of what the axis counts than CPUs.
    """

    degree: int
    beyond_cpus: bool = False


@dataclass(frozen=True)
class WorkloadWords:
    """What a workload is called where its id is not enough.

    ``name`` stands in tables. ``doing`` stands in sentences of finders ("opening and closing a file"): that of
    contention asks for it, and one of your own may. ``thing`` and ``things`` name what it makes, ``substitute`` is what
    it is called where it is advised in the place of something dearer. ``census`` is the way of making tasks, in the
    words of a census, of which it says the cost. ``raw``: a system call by hand, which no program can take in the place
    of a library's call: it is measured to explain that one, and never advised. ``colour`` is
    what it is drawn in, by a name of `clonometer.views.colours`; without one the colour follows from the id.
    """

    name: str = ""
    doing: str = ""
    thing: str = ""
    things: str = ""
    substitute: str = ""
    census: str = ""
    raw: bool = False
    colour: str = ""


class LanguageTask(NamedTuple):
    """Something that every language is asked to do, by the last word of its workload.

    ``head`` heads a column, ``thing`` stands in sentences. ``quantity`` is what it takes; ``base`` is what C does for
    the same purpose, and ``base_quantity`` what that takes. Empty: C has nothing to compare with. ``creates``: how many
    tasks of the kernel each time is expected to create, as C's does; None where languages differ by nature. ``reuse``
    and ``reuse_quantity``: what C does where a language uses again what ended.
    """

    head: str
    thing: str
    quantity: str
    base: str = ""
    base_quantity: str = ""
    creates: int | None = None
    reuse: str = ""
    reuse_quantity: str = ""


class WorkerColumn(NamedTuple):
    """How a quantity of each worker is headed in a table of workers (empty: it has no column).

    ``drop``: its turn to go where a terminal is too narrow, from 1; 0 stays.
    """

    head: str
    drop: int = 0


@dataclass(frozen=True)
class Stage:
    """A moment in a launch, and its words: ``title`` heads a column, ``until`` stands in a sentence.

    ``part`` is what goes on from the stage before until it. ``stamp`` says in a timeline what has happened, ``reading``
    whose clock reading says so. ``ends_part`` is the part of an explanation that lasts until it where only stamps are
    known, ``begins_part`` the one that a program's own code is from it on. ``detail``: whether it only explains another
    stage, so that no comparison is about it. ``after`` is the stage that it comes right after, for one that a family
    brings. Without it the stage comes after all others but the end of a launch, which contains every stage.
    """

    name: str
    title: str
    until: str
    explanation: str = ""
    detail: bool = False
    part: str = ""
    stamp: str = ""
    reading: str = ""
    ends_part: str = ""
    begins_part: str = ""
    after: str = ""


@dataclass(frozen=True)
class Family:
    """Workloads that may be compared with each other, and what people read about them.

    Attributes
    ----------
    name
        As drivers say it.
    title
        What it is called; the default is its name in words.
    plain_title
        What it is called for somebody who meets it for the first time; the default is its title.
    explanation
        One line for those who read about it for the first time.
    order
        Its place among the families, from 0.
    shape
        `LAUNCH`, `EVENT`, `LOOP` or `CROWD`.
    task
        What its tasks do, to say why they cannot be compared with others: "starts a new program".
    control
        Whether its workloads launch nothing and share nothing, so that only the machine can change them.
    axes
        The axes that it alone has, or has first.
    stages
        The stages that it alone has, or has first, in order of time.
    workloads
        Words for workloads whose ids are not enough.
    curves
        Axes along which the shape of its times is known beforehand.
    phases
        Of an event: what each of its quantities is of, and when.
    divided
        Quantities that are another one divided by what an axis counts, and by which.
    besides
        Quantities that are there to be subtracted from others, and are not drawn.
    instrument
        Whether it is what measuring itself costs.
    not_ranked
        What the asterisk of a stage that is not ranked means.
    measured_in
        How a sentence says which quantity is compared: "for the first write to each page"; by default "in write each".
    advice
        What to do instead of launching, where that is dearer. Empty: it is no substitute for a launch.
    samples, when_failed
        What its samples are called, and what to do where some of them fail.
    worker_columns, worker_note
        Of a crowd: the columns of a table of its workers, in their order, and what they mean. Quantities that are not
        named follow, headed by their names.
    language_tasks
        Of what languages are asked to do: each by the last word of a workload, in their order. Such workloads are
        compared with C, not with each other.
    """

    name: str
    title: str = ""
    plain_title: str = ""
    explanation: str = ""
    order: int = LAST
    shape: str = EVENT
    task: str = ""
    control: bool = False
    axes: Mapping[str, Axis] = field(default_factory=dict)
    stages: tuple[Stage, ...] = ()
    workloads: Mapping[str, WorkloadWords] = field(default_factory=dict)
    curves: Mapping[str, CurveShape] = field(default_factory=dict)
    phases: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    divided: Mapping[str, str] = field(default_factory=dict)
    besides: frozenset[str] = frozenset()
    instrument: bool = False
    not_ranked: str = "includes the child's life"
    measured_in: Mapping[str, str] = field(default_factory=dict)
    advice: str = ""
    samples: str = "launches"
    when_failed: str = (
        "check `ulimit -u`, the cgroup's pids.max and free memory; failed launches are counted, but not timed"
    )
    worker_columns: Mapping[str, WorkerColumn] = field(default_factory=dict)
    worker_note: str = ""
    language_tasks: Mapping[str, LanguageTask] = field(default_factory=dict)
