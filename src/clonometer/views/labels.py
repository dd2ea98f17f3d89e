"""The words people read for stages, mechanisms, conditions and placements: one vocabulary for every view."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clonometer.results.types import Estimate
from clonometer.words import axis_words

STAGE_ORDER = ("call_returns", "task_runs", "image_entered", "image_runs", "image_ends", "reaped")
FAMILY_ORDER = (
    "same_image",
    "new_program",
    "work",
    "wake",
    "switch",
    "ipc",
    "contend",
    "isolate",
    "teardown",
    "cow",
    "footprint",
    "memory",
    "clock",
    "other",
    "floor",
)

#: What a stage's column or row is called after the word "until".
STAGE_NAMES = {
    "call_returns": "call returns",
    "task_runs": "task runs",
    "image_entered": "program entered",
    "image_runs": "program runs",
    "image_ends": "main ends",
    "reaped": "reaped",
}
STAGE_EXPLANATIONS = {
    "call_returns": "until the parent's call has returned and it can go on with its work.",
    "task_runs": "until the new task executes the first instruction of its own code.",
    "image_entered": "until the entry of the new program's file; in a static program its C library starts there.",
    "image_runs": "until the first line of the new program's main: after exec, the loader and the C library's start.",
    "image_ends": "until the last line of the new program's main.",
    "reaped": "until wait or join has returned: the task has run, ended and been cleaned up.",
}
PROGRAM_EXPLANATIONS = {
    "target_static": "a static hello world in C",
    "target_nolibc": "a static hello world without C library",
    "target_dynamic": "a dynamically linked hello world in C",
    "target_cxx": "a dynamically linked hello world in C++",
}
FAMILY_NAMES = {
    "same_image": "Same image",
    "new_program": "New program",
    "wake": "Waking an idle worker",
    "switch": "Switching between tasks",
    "ipc": "Messages between tasks",
    "contend": "Contention",
    "isolate": "Isolation",
    "teardown": "Tear-down",
    "cow": "After a fork",
    "footprint": "Footprint",
    "memory": "Memory",
    "work": "Workers",
    "clock": "Clocks",
    "other": "Other",
    "floor": "The instrument itself",
}
FAMILY_EXPLANATIONS = {
    "same_image": "The new task goes on in the program that is already running.",
    "new_program": "The new task executes another program: more work, never ranked against the same image.",
    "wake": "The task exists already and sleeps: what a pool or a pre-forked server pays instead of a launch.",
    "switch": "One task wakes the next and sleeps; switch is what is left without the same calls and work in one task.",
    "ipc": "The sender writes each message whole, the receiver has and reads it whole; latency is half a round trip.",
    "contend": "Workers that repeat one operation at the same time, as threads, which share, and as processes.",
    "isolate": "A worker fails: what remains alive, how soon it is known, and how soon another does its work.",
    "teardown": "What the end of a task costs, from its last instruction or the signal until it is reaped.",
    "cow": "What fork postpones: pages that are copied when somebody writes them, and what other threads notice of it.",
    "footprint": "What tasks that do nothing hold: memory of the kernel and their own.",
    "memory": "Copying memory: what fork does not do.",
    "work": "Whole programs whose workers compute and write: launching, working and reaping together.",
    "clock": "What reading each clock costs, how fine it is, and whether it ever goes back.",
    "other": "Costs other than launches.",
    "floor": "What measuring costs: it is part of the figures above.",
}
#: What is compared is said on both sides, even where one is the default.
ALWAYS_SAID = ("task_kind",)
PLACEMENT_NAMES = {"same_cpu": "same CPU", "other_cpu": "other CPU"}
_MECHANISMS = {"fork_exec": "fork+exec"}
_FLOOR_NAMES = {"launch.none": "bare loop", "launch.stamp": "child's stamp", "clock.used": "clock reading"}


def mechanism_name(workload: str) -> str:
    """Name a workload as people do.

    Examples
    --------
    >>> mechanism_name("launch.fork_exec"), mechanism_name("wake.futex"), mechanism_name("clock.used")
    ('fork+exec', 'wake.futex', 'clock reading')
    """
    if workload in _FLOOR_NAMES:
        return _FLOOR_NAMES[workload]
    if not workload.startswith("launch."):
        return workload
    name = workload.removeprefix("launch.")
    return _MECHANISMS.get(name, name)


def stage_name(stage: str | None, quantity: str = "") -> str:
    """Name a stage, or the quantity where there is none.

    Examples
    --------
    >>> stage_name("image_runs"), stage_name(None, "cost_ns"), stage_name(None, "slab_each_bytes")
    ('program runs', 'cost', 'slab each')
    """
    if stage is None:
        return quantity.removesuffix("_ns").removesuffix("_bytes").removesuffix("_per_s").replace("_", " ")
    return STAGE_NAMES.get(stage, stage.replace("_", " "))


def program_explanation(program: str) -> str:
    """Say what a program is that exec starts.

    Examples
    --------
    >>> program_explanation("target_static"), program_explanation("/bin/true")
    ('a static hello world in C', '/bin/true')
    """
    return PROGRAM_EXPLANATIONS.get(program, program)


def family_name(family: str) -> str:
    """Name a family.

    Examples
    --------
    >>> family_name("same_image")
    'Same image'
    """
    return FAMILY_NAMES.get(family, family.replace("_", " "))


def shown_axes(cell: str) -> tuple[str, ...]:
    """The axes that a cell's canonical text shows: those off their default, the temperature left out.

    Examples
    --------
    >>> shown_axes("launch.fork[pages=clean,parent_bytes=64MiB,temperature=warm]")
    ('pages', 'parent_bytes')
    """
    _, _, inside = cell.partition("[")
    names = re.findall(r"(?:^|,)([a-z_0-9]+)=", inside)
    return tuple(name for name in names if name != "temperature")


def condition_phrases(cell: str, condition: Mapping[str, int | str], placement: str | None) -> tuple[str, ...]:
    """Say what sets a cell apart from its workload's defaults, and where its tasks ran if that was left free.

    Examples
    --------
    >>> condition_phrases("launch.fork[placement=free]", {"placement": "free"}, "other_cpu")
    ('free, other CPU',)
    """
    ordered = sorted(shown_axes(cell), key=lambda axis: (axis != "parent_bytes", axis == "placement", axis))
    always = [name for name in ALWAYS_SAID if name in condition]
    ordered = [*always, *(name for name in ordered if name not in always)]
    phrases = [axis_words(name, condition[name]) for name in ordered if name in condition]
    if placement is not None and condition.get("placement") == "free":
        where = f"free, {PLACEMENT_NAMES.get(placement, placement)}"
        return (*(phrase for phrase in phrases if phrase != "free"), where)
    return tuple(phrases)


def placement_name(row: Estimate) -> str:
    """Say where a row's tasks ran: pinned, or free with the placement that was observed."""
    requested = row.condition.get("placement")
    if requested == "free":
        return f"free, {PLACEMENT_NAMES.get(row.placement or '', row.placement or 'not observed')}"
    return str(requested) if requested else PLACEMENT_NAMES.get(row.placement or "", "")


def cpu_name(model: str) -> str:
    """Shorten a CPU's model to what people call it.

    Examples
    --------
    >>> cpu_name("Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz")
    'Intel Xeon Platinum 8481C'
    """
    text = re.sub(r"\((R|TM|r|tm)\)|@.*$", " ", model)
    text = re.sub(r"\b(CPU|Processor|\d+-Core)\b", " ", text)
    return " ".join(text.split())
