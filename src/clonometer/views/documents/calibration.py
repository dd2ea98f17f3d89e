"""A calibration: what each thing that a process has adds to a call, and how well that fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonometer.grouping import group_by
from clonometer.model import calibration as names
from clonometer.model.calibration import Calibration, CostModel
from clonometer.units import approximate_bytes, format_duration, format_share
from clonometer.views.document import BulletList, Document, DocumentBlock, Paragraph, TableBlock
from clonometer.views.table import MISSING, Column, Table

_COLUMNS = (
    ("first fork", names.FORK_FIRST, 0),
    ("unwritten", names.FORK_UNWRITTEN, 0),
    ("first, hot", names.FORK_FIRST_HOT, 3),
    ("unwritten, hot", names.FORK_UNWRITTEN_HOT, 4),
    ("exit", names.EXIT, 1),
    ("exec", names.EXEC, 1),
    ("posix_spawn", names.POSIX_SPAWN, 2),
    ("vfork", names.VFORK, 2),
)
_WRITES = {
    "parent_small": "the parent to a small page",
    "parent_small_alone": "the same after the child has exited",
    "child_small": "the child to a small page",
    "parent_huge": "the parent to a huge page, which splits it",
    "child_huge": "the child to a huge page",
}
_MOST_LEFT = 3


def calibration_document(calibration: Calibration) -> Document:
    """Make a document of a calibration."""
    first = calibration.models[names.FORK_FIRST]
    lead = (
        f"The fit of a first fork misses its {len(first.residuals)} conditions by {format_share(first.misfit)}; single "
        f"forks scatter by {format_share(first.scatter)}."
    )
    about = (
        "first: pages written since the last fork; unwritten: pages not written since; hot: forks in a tight loop; "
        "scattered: extra for a page that is not near the previous one, where a fork touches that much memory."
    )
    writes = [
        f"{words} {format_duration(calibration.first_writes[name].median_ns)}"
        for name, words in _WRITES.items()
        if name in calibration.first_writes
    ]
    lacks = [f"{condition}: {reason}" for condition, reason in list(calibration.lacks.items())[:_MOST_LEFT]]
    groups: list[list[DocumentBlock]] = [
        [Paragraph("Cost of each, per call")],
        [TableBlock(_calibration_table(calibration))],
        [
            Paragraph(about),
            Paragraph(lead),
            BulletList(_worst(first)),
            Paragraph(f"The first write after a fork: {'; '.join(writes)}." if writes else ""),
            *map(Paragraph, _flat(calibration)),
            *(Paragraph(f"Not measured: {text}") for text in lacks),
        ],
    ]
    return Document("calibrate", "What each part of a process adds to fork here", lead, groups, least_width=50)


def _flat(calibration: Calibration) -> Iterator[str]:
    """Say for calls that copy no memory what was varied, and cost nothing that could be seen."""
    flat = {name: model.flat for _, name, _ in _COLUMNS if (model := calibration.models.get(name)) and model.flat}
    for terms, names_of in group_by((terms, name) for name, terms in flat.items()).items():
        yield f"{' and '.join(names_of)}: nothing is added for {', '.join(terms)}."


def _worst(model: CostModel) -> list[str]:
    worst = sorted(model.residuals, key=lambda each: -abs(each.share))[:_MOST_LEFT]
    return [
        f"{format_share(abs(each.share))} {'over' if each.share > 0 else 'under'} {each.condition}" for each in worst
    ]


def _calibration_table(calibration: Calibration) -> Table:
    models = {name: calibration.models.get(name) for _, name, _ in _COLUMNS}
    terms = list(dict.fromkeys(term for model in models.values() if model is not None for term in model.terms))
    knots = calibration.models[names.FORK_FIRST_HOT].knots
    labels = [*terms, *(f"scattered, {approximate_bytes(knot)} touched" for knot in knots)]
    columns = [Column("", labels)]
    for head, name, drop in _COLUMNS:
        model = models[name]
        if model is not None:
            columns.append(Column(head, _figures(model, terms, knots), "right", drop=drop))
    return Table(columns)


def _figures(model: CostModel, terms: Sequence[str], knots: Sequence[float]) -> list[str]:
    each = dict(zip(model.terms, model.each_ns, strict=False))
    linear = [format_duration(each[term]) if term in each else MISSING for term in terms]
    scattered = model.each_ns[len(model.terms) :]
    # With cold caches one price at any amount; posix_spawn and vfork touch no memory.
    at_knots = [*scattered] * len(knots) if len(scattered) == 1 else scattered
    return [*linear, *(map(format_duration, at_knots) if len(at_knots) == len(knots) else [MISSING] * len(knots))]
