"""The gallery as a static site: a page that lists and searches machines, and a page for each. Works from file://."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clonometer.dataset.published import Gallery, GalleryMachine, PublishedRow
from clonometer.units import format_bytes, table_unit
from clonometer.views.html.page import render_page
from clonometer.views.labels import cpu_name
from clonometer.views.rows import fact_text, plain_figure
from clonometer.views.table import INTERVAL_HEADING, Column, Table
from clonometer.words import counted, mechanism_name, stage_name

_LIKE = (
    "cpu.model",
    "cpu.vendor",
    "cpu.arch",
    "cpu.online",
    "kernel.release",
    "virt.hypervisor",
    "mitigations.summary",
)
_MISSING = "not known"
_BRAND = "Clonometer: gallery"


def gallery_site(gallery: Gallery) -> dict[str, str]:
    """Write the site.

    Returns
    -------
    dict
        Path in the site -> the whole HTML document. None fetches anything.
    """
    pages = {f"machines/{machine.id}.html": _machine_page(machine) for machine in gallery.machines}
    return {"index.html": _index(gallery), **pages}


def _index(gallery: Gallery) -> str:
    entries = [_entry(machine, gallery) for machine in gallery.machines]
    choices = {
        name: sorted({str(machine.facts.get(key) or _MISSING) for machine in gallery.machines})
        for name, key in (("kernel", "kernel.release"), ("mitigations", "mitigations.summary"))
    }
    return render_page(
        "gallery.html.j2",
        "gallery.js",
        data={"machines": entries, "like": list(_LIKE)},
        brand=_BRAND,
        title=f"What a task costs on {counted(len(entries), 'machine')}",
        entries=entries,
        headlines=[_headline(*key) for key in gallery.headlines],
        choices=choices,
        left_out=gallery.left_out,
    )


def _headline(cell: str, quantity: str, placement: str | None) -> str:
    workload, _, inside = cell.partition("[")
    condition = inside.removesuffix("]").replace("temperature=", "").replace(",", ", ")
    where = placement.replace("_", " ") if placement else ""
    until = quantity.removesuffix("_ns").replace("_", " ")
    return f"{', '.join(filter(None, [mechanism_name(workload), condition, until, where]))} (µs)"


def _entry(machine: GalleryMachine, gallery: Gallery) -> dict[str, Any]:
    facts = machine.facts
    rows = {(row.cell, row.quantity, row.placement): row for row in machine.published.rows}
    figures = [_figure(rows.get(key)) for key in gallery.headlines]
    return {
        "id": machine.id,
        "name": _name(facts),
        "cpus": facts.get("cpu.online"),
        "kernel": str(facts.get("kernel.release") or _MISSING),
        "hypervisor": str(facts.get("virt.hypervisor") or _MISSING),
        "mitigations": str(facts.get("mitigations.summary") or _MISSING),
        "month": machine.published.month,
        "figures": figures,
        "facts": {key: facts.get(key) for key in _LIKE},
    }


def _name(facts: Mapping[str, Any]) -> str:
    product = f" ({facts['virt.product']})" if facts.get("virt.product") else ""
    return f"{cpu_name(str(facts.get('cpu.model') or 'Processor not known'))}{product}"


def _figure(row: PublishedRow | None) -> str:
    return "" if row is None or row.unit != "ns" else plain_figure(row.median, "µs")


def _machine_page(machine: GalleryMachine) -> str:
    return render_page(
        "machine.html.j2",
        brand=_BRAND,
        title=_name(machine.facts),
        id=machine.id,
        month=machine.published.month,
        version=machine.published.clonometer_version,
        facts=[(key, _fact(key, value)) for key, value in machine.facts.items()],
        table=_gallery_table(machine),
    )


def _fact(key: str, value: Any) -> str:
    if key == "memory.total_bytes":
        # Kept to two decimal digits, which binary units would hide.
        return f"{round(value / 1e9, 1):g} GB"
    if key.endswith("_bytes") and isinstance(value, int | float):
        return format_bytes(int(value))
    return fact_text(key, value)


def _gallery_table(machine: GalleryMachine) -> Table:
    rows = machine.published.rows
    times = [row for row in rows if row.unit == "ns"]
    unit = table_unit([row.median for row in times])
    return Table(
        [
            Column("mechanism", [mechanism_name(row.workload) for row in rows]),
            Column("cell", [row.cell for row in rows], code=True),
            Column("until", [stage_name(row.stage, row.quantity) for row in rows]),
            Column("ran on", [(row.placement or "").replace("_", " ") for row in rows]),
            Column("median", [_text(row, row.median, unit) for row in rows], "right"),
            Column(INTERVAL_HEADING, [_interval(row, unit) for row in rows], "range"),
            Column("processes", [str(row.n_processes) for row in rows], "right"),
        ]
    )


def _text(row: PublishedRow, value: float, unit: str) -> str:
    return f"{plain_figure(value, unit)} {unit}" if row.unit == "ns" else f"{value:.6g} {row.unit}"


def _interval(row: PublishedRow, unit: str) -> str:
    if row.low is None or row.high is None:
        return ""
    if row.unit != "ns":
        return f"{row.low:.6g} – {row.high:.6g}"
    return f"{plain_figure(row.low, unit)} – {plain_figure(row.high, unit)}"
