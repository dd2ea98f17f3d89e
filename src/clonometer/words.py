"""The words people read for stages, quantities, axes and their values: one vocabulary for all of us.

The words themselves are in `clonometer.families`; what has none is called by its name.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from clonometer.families import axis as axis_of
from clonometer.families import family as family_of
from clonometer.families import stages, workload_words
from clonometer.units import approximate_bytes, format_duration

_STAGES = stages()
#: All stages of a launch that have words, in order of time.
STAGE_ORDER = tuple(_STAGES)
#: Where a new task was seen to run.
PLACEMENT_NAMES = {"same_cpu": "same CPU", "other_cpu": "other CPU"}
_LAUNCH = "launch."
_SUFFIXES = ("_ns", "_bytes", "_per_s")
_SPANS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def cell_parts(cell: str) -> tuple[str, list[str]]:
    """Take a cell's canonical text apart: its workload, and what it names of its condition, each as ``axis=value``.

    Examples
    --------
    >>> cell_parts("launch.fork[placement=free,temperature=warm]"), cell_parts("launch.fork")
    (('launch.fork', ['placement=free', 'temperature=warm']), ('launch.fork', []))
    """
    workload, _, inside = cell.removesuffix("]").partition("[")
    return workload, inside.split(",") if inside else []


def cell_text(workload: str, parts: Iterable[str]) -> str:
    """Put a cell's canonical text together of what `cell_parts` gives."""
    inside = ",".join(parts)
    return f"{workload}[{inside}]" if inside else workload


def mechanism_name(workload: str) -> str:
    """Name a workload as people do.

    Examples
    --------
    >>> mechanism_name("launch.fork_exec"), mechanism_name("wake.futex"), mechanism_name("clock.used")
    ('fork+exec', 'wake.futex', 'clock reading')
    """
    return workload_words(workload).name or workload.removeprefix(_LAUNCH)


def placement_name(placement: str) -> str:
    """Name a place where tasks were seen to run.

    Examples
    --------
    >>> placement_name("same_cpu")
    'same CPU'
    """
    return PLACEMENT_NAMES.get(placement, placement)


def quantity_name(quantity: str) -> str:
    """Name a quantity: its column without the unit.

    Examples
    --------
    >>> quantity_name("cost_ns"), quantity_name("slab_each_bytes"), quantity_name("throughput_per_s")
    ('cost', 'slab each', 'throughput')
    """
    return _in_words(quantity)


def stage_name(stage: str | None, quantity: str = "") -> str:
    """Name a stage, as it stands after "until", or the quantity where there is none.

    Examples
    --------
    >>> stage_name("image_runs"), stage_name(None, "cost_ns"), stage_name("page_mapped")
    ('program runs', 'cost', 'page mapped')
    """
    if stage is None:
        return quantity_name(quantity)
    return _STAGES[stage].title if stage in _STAGES else stage.replace("_", " ")


def phase_words(family: str, quantity: str) -> tuple[str, str]:
    """Say what a quantity of an event is of, and when.

    Examples
    --------
    >>> phase_words("cow", "quiet_pass_ns"), phase_words("other", "wait_ns")
    (('writing all memory', 'before'), ('wait', ''))
    """
    return family_of(family).phases.get(quantity, (quantity_name(quantity), ""))


def until(stage: str | None) -> str:
    """Say in a sentence where a stage ends.

    Examples
    --------
    >>> until("task_runs"), until("page_mapped")
    ('until the task runs', 'until page mapped')
    """
    known = _STAGES.get(stage or "")
    return known.until if known else f"until {(stage or 'done').replace('_', ' ')}"


def stage_explanation(stage: str) -> str:
    """Explain a stage in one line; empty for one that nobody has heard of.

    Examples
    --------
    >>> stage_explanation("image_ends")
    "until the last line of the new program's main."
    """
    return _STAGES[stage].explanation if stage in _STAGES else ""


def stage_part(stage: str) -> str:
    """Say where the time from the stage before until this one is spent.

    Examples
    --------
    >>> stage_part("reaped"), stage_part("page_mapped")
    ('in exit and wait', 'until page mapped')
    """
    part = _STAGES[stage].part if stage in _STAGES else ""
    return part or until(stage)


def stage_stamp(stage: str) -> tuple[str, str]:
    """Say in a timeline what has happened at a stage, and whose clock reading says so.

    Examples
    --------
    >>> stage_stamp("image_runs")
    ('main begins', "the new program's clock reading in main's first line")
    >>> stage_stamp("page_mapped")
    ('page mapped', 'a clock reading at this moment')
    """
    known = _STAGES.get(stage)
    stamp, reading = (known.stamp, known.reading) if known else ("", "")
    return stamp or stage_name(stage), reading or "a clock reading at this moment"


def is_detail(stage: str) -> bool:
    """Whether a stage only explains another one, as far as its words say.

    Examples
    --------
    >>> is_detail("image_ends"), is_detail("page_mapped")
    (True, False)
    """
    return stage in _STAGES and _STAGES[stage].detail


def stage_place(stage: str | None) -> int:
    """The place of a stage in order of time; what is no stage comes last.

    One that nobody has heard of comes after all others but the end of a launch, which contains every stage.

    Examples
    --------
    >>> stage_place("image_ends") < stage_place("page_mapped") < stage_place("reaped") < stage_place(None)
    True
    """
    *parts, end = STAGE_ORDER
    if stage in parts:
        return parts.index(stage)
    return len(parts) + 2 if stage is None else len(parts) + (stage == end)


def axis_words(name: str, value: int | str) -> str:
    """Say one axis with its value, in a few words.

    Examples
    --------
    >>> axis_words("parent_bytes", 1 << 30), axis_words("pages", "clean"), axis_words("vmas", 10_000)
    ('1 GiB', 'clean pages', '10,000 VMAs')
    >>> axis_words("launch_number", 3), axis_words("after", "fork"), axis_words("program", "/bin/true")
    ('launch 3', 'after fork', 'true')
    >>> axis_words("queue_depth", 8), axis_words("buffer_bytes", 4096), axis_words("eviction", "least_recent")
    ('queue depth 8', 'buffer 4 KiB', 'eviction least recent')
    >>> axis_words("pause_ns", 5000)
    'pause 5.00 µs'
    """
    if isinstance(value, int):
        return _number_words(name, value)
    axis = axis_of(name)
    if value in axis.values:
        return axis.values[value]
    if axis.programs:
        return PurePosixPath(value).name or value
    return (axis.phrase or f"{_in_words(name, ())} {{}}").format(value.replace("_", " "))


def _number_words(name: str, value: int) -> str:
    axis = axis_of(name)
    if name.endswith("_bytes"):
        return (axis.number or f"{_in_words(name)} {{}}").format(approximate_bytes(value))
    if name.endswith("_ns"):
        return (axis.number or f"{_in_words(name)} {{}}").format(format_duration(float(value)))
    if axis.number:
        return axis.number.format(value)
    if axis.things:
        return f"{value:,} {axis.thing if value == 1 else axis.things}"
    return f"{_in_words(name, ())} {value}"


def axis_thing(name: str) -> str:
    """What one unit of a numeric axis is called.

    Examples
    --------
    >>> axis_thing("open_files"), axis_thing("stack_bytes"), axis_thing("child_spin_ns")
    ('open file', '4 KiB of stack', 'ns of child spin')
    """
    axis = axis_of(name)
    if axis.thing:
        return axis.thing
    if name.endswith("_bytes"):
        return f"4 KiB of {_in_words(name)}"
    if name.endswith("_ns"):
        return f"ns of {_in_words(name)}"
    return _in_words(name).removesuffix("s")


def axis_title(name: str) -> str:
    """What a numeric axis is called where it is drawn.

    Examples
    --------
    >>> axis_title("vmas"), axis_title("launch_number"), axis_title("stack_bytes")
    ('VMAs', 'number of the launch', 'stack')
    """
    axis = axis_of(name)
    return axis.title or axis.things or _in_words(name)


def counted(count: int, noun: str) -> str:
    """Say how many there are of something.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "run")
    ('1 row', '1,200 runs')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def span_words(seconds: float) -> str:
    """Say a span of time in its largest whole unit; less than a second is one.

    Examples
    --------
    >>> span_words(60), span_words(200_000)
    ('1 minute', '2 days')
    """
    size, name = next(span for span in _SPANS if max(seconds, 1.0) >= span[0])
    return counted(int(max(seconds, 1.0) // size), name)


def _in_words(name: str, suffixes: tuple[str, ...] = _SUFFIXES) -> str:
    """A name without its unit, in words."""
    suffix = next((suffix for suffix in suffixes if name.endswith(suffix)), "")
    return name.removesuffix(suffix).replace("_", " ")


def setting_name(path: str) -> str:
    """What a setting is called: the last words of its path under /sys or /proc, else the path.

    Examples
    --------
    >>> setting_name("/sys/kernel/mm/transparent_hugepage/enabled"), setting_name("switched.txt")
    ('transparent_hugepage/enabled', 'switched.txt')
    """
    return "/".join(path.split("/")[-2:]) if path.startswith(("/sys/", "/proc/")) else path


_LANGUAGES = {"node": "Node.js"}


def language_name(name: str) -> str:
    """Write the first word of a language's workloads as its name, with the numbers of its version.

    Examples
    --------
    >>> language_name("java_25_0"), language_name("node")
    ('Java 25.0', 'Node.js')
    """
    language, _, version = name.partition("_")
    return f"{_LANGUAGES.get(language, language.capitalize())} {version.replace('_', '.')}".rstrip()
