"""The words people read for stages, mechanisms, conditions and placements: one vocabulary for every view."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from clonometer.families import axis
from clonometer.families import family as family_of
from clonometer.results.types import Estimate
from clonometer.units import ns_in, table_unit
from clonometer.words import axis_words, cell_parts, mechanism_name, stage_name
from clonometer.words import placement_name as place_name

if TYPE_CHECKING:
    from clonometer.dataset.types import Label


def family_name(family: str) -> str:
    """Name a family.

    Examples
    --------
    >>> family_name("same_image"), family_name("page_faults")
    ('Same image', 'Page faults')
    """
    return family_of(family).title


def family_place(family: str) -> tuple[int, str]:
    """The place of a family among the others; those that nobody has heard of stand before the instrument itself.

    Examples
    --------
    >>> sorted(["floor", "page_faults", "other", "same_image"], key=family_place)
    ['same_image', 'other', 'page_faults', 'floor']
    """
    return family_of(family).order, family


def shown_axes(cell: str) -> tuple[str, ...]:
    """The axes that a cell's canonical text shows: those off their default, the temperature left out.

    Examples
    --------
    >>> shown_axes("launch.fork[pages=clean,parent_bytes=64MiB,temperature=warm]")
    ('pages', 'parent_bytes')
    """
    names = (part.partition("=")[0] for part in cell_parts(cell)[1])
    return tuple(name for name in names if name != "temperature")


def condition_phrases(cell: str, condition: Mapping[str, int | str], placement: str | None) -> tuple[str, ...]:
    """Say what sets a cell apart from its workload's defaults, and where its tasks ran if that was left free.

    Examples
    --------
    >>> condition_phrases("launch.fork[placement=free]", {"placement": "free"}, "other_cpu")
    ('free, other CPU',)
    """
    ordered = sorted(shown_axes(cell), key=lambda name: (axis(name).order, name))
    # What is compared is said on both sides, even where one is the default.
    always = [name for name in condition if axis(name).always_said]
    ordered = [*always, *(name for name in ordered if name not in always)]
    phrases = [axis_words(name, condition[name]) for name in ordered if name in condition]
    if placement is not None and condition.get("placement") == "free":
        where = f"free, {place_name(placement)}"
        return (*(phrase for phrase in phrases if phrase != "free"), where)
    return tuple(phrases)


def label_parts(label: Label | Estimate) -> tuple[str, ...]:
    """What a row is about, in phrases: the mechanism, its condition, its temperature."""
    phrases = condition_phrases(label.cell, label.condition, label.placement)
    return (mechanism_name(label.workload), *phrases, *([label.temperature] if label.temperature else []))


def label_text(label: Label | Estimate) -> str:
    """What a row is about, in one line, with its stage."""
    return f"{', '.join(label_parts(label))}, {stage_name(label.stage, label.quantity)}"


def drawn_unit(values: Iterable[float | None], label: Label) -> tuple[str, float]:
    """The unit in which the values of a row are drawn, and by what they are divided for it."""
    if not label.is_time:
        return label.unit, 1.0
    unit = table_unit(values)
    return unit, ns_in(unit)


def placement_name(row: Estimate) -> str:
    """Say where a row's tasks ran: pinned, or free with the placement that was observed."""
    requested = row.condition.get("placement")
    if requested == "free":
        return f"free, {place_name(row.placement or 'not observed')}"
    return str(requested) if requested else place_name(row.placement or "")


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
