"""Which cells may be compared, and which cells of two groups belong together."""

from __future__ import annotations

from collections.abc import Mapping

from clonometer.errors import UsageError
from clonometer.families import family
from clonometer.plan.names import chosen_cells
from clonometer.results.types import Estimate

Defaults = Mapping[str, int | str]
_Facets = dict[str, object]


def kind_of(estimate: Estimate) -> str:
    """Name what one start of a driver measures: rows of it say nothing of the machine to each other."""
    return f"{estimate.workload} {sorted(estimate.condition.items())}"


def incomparable_cells(
    base: Estimate, other: Estimate, *, same_run: bool, defaults: tuple[Defaults, Defaults] = ({}, {})
) -> str | None:
    """Say why two cells cannot be compared; None where they can.

    Parameters
    ----------
    base, other
        Any row of each.
    same_run
        Whether the caller asked for two cells of one run, which differ by intent.
    defaults
        The default of every axis by the catalogues of the two runs. An axis that a cell does not have, because its run
        was made before there was one, is at its default: by the cell's own catalogue, or else by the other's.
    """
    if base.family != other.family:
        first, second = (family(row.family).task or f"is of the family {row.family}" for row in (base, other))
        return f"{base.workload} {first}, {other.workload} {second}: not the same task"
    if same_run:
        return None
    if base.workload != other.workload:
        return f"different workload: {base.workload} against {other.workload}"
    if base.temperature != other.temperature:
        return f"different temperature: {base.temperature} against {other.temperature}"
    base_condition = {**defaults[1], **defaults[0], **base.condition}
    its = {**defaults[0], **defaults[1], **other.condition}
    differing = [
        f"{axis}={_value_text(base_condition, axis)} against {_value_text(its, axis)}"
        for axis in sorted({*base.condition, *other.condition})
        if base_condition.get(axis) != its.get(axis)
    ]
    return f"different condition: {', '.join(differing)}" if differing else None


def _value_text(condition: Mapping[str, int | str], axis: str) -> str:
    return str(condition.get(axis, "(no such axis)"))


def pair_cells(
    cells: Mapping[str, Estimate], base_glob: str, other_glob: str
) -> tuple[list[tuple[str, str]], list[str]]:
    """Pair the cells that one glob matches with those that another matches.

    Returns
    -------
    pairs
        The pairs that differ in the fewest things, and all in the same ones: ``launch.fork*`` and ``launch.pthread*``
        give pairs that differ in the workload alone. An axis that only one of two workloads has is no difference.
    alone
        The cells of the first glob that have no such partner.

    Raises
    ------
    UsageError
        If a glob matches no cell, both match the same one, or a cell has several partners.
    """
    groups = [chosen_cells([glob], cells) for glob in (base_glob, other_glob)]
    both = sorted(set(groups[0]) & set(groups[1]))
    if both:
        raise UsageError(f"both {base_glob!r} and {other_glob!r} match {both[0]}", "name different cells")
    apart = {
        (base, other): _apart(_facets(cells[base]), _facets(cells[other])) for base in groups[0] for other in groups[1]
    }
    fewest = min(map(len, apart.values()))
    kinds = dict.fromkeys(facets for facets in apart.values() if len(facets) == fewest)
    if len(kinds) > 1:
        first, second = (", ".join(sorted(kind)) for kind in list(kinds)[:2])
        raise UsageError(
            f"the cells of {base_glob!r} and {other_glob!r} differ in several ways: in {first}, or in {second}",
            "make the globs match fewer cells",
        )
    pairs = [pair for pair, facets in apart.items() if facets in kinds]
    bases = [base for base, _ in pairs]
    twice = next((base for base in bases if bases.count(base) > 1), None)
    if twice is not None:
        partners = ", ".join(other for base, other in pairs if base == twice)
        raise UsageError(f"{twice} has several partners: {partners}", "make the globs match fewer cells")
    return pairs, [base for base in groups[0] if base not in bases]


def _apart(base: _Facets, other: _Facets) -> frozenset[str]:
    return frozenset(name for name in base.keys() & other.keys() if base[name] != other[name])


def _facets(row: Estimate) -> _Facets:
    return {"workload": row.workload, "temperature": row.temperature, **row.condition}
