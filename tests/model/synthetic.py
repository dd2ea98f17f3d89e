"""A calibration of a machine that never was: its coefficients are chosen, so that every prediction is a closed form."""

from __future__ import annotations

from dataclasses import replace

from clonometer.model.calibration import NEEDED, Calibration, CostModel
from clonometer.model.terms import LINEAR
from clonometer.model.types import CostRange

TERMS = tuple(LINEAR)
#: At these bytes that a fork touches, a scattered page costs so much more than another.
KNOTS = (1e6, 1e8)
SCATTERED_NS = (20.0, 80.0)
EACH_NS = {
    "base": 50_000.0,
    "small pages": 40.0,
    "page tables": 300.0,
    "written areas": 650.0,
    "empty areas": 200.0,
    "file and shared areas": 350.0,
    "areas kept from children": 310.0,
    "huge pages": 500.0,
    "hugetlb pages": 400.0,
    "open files": 9.0,
    "further threads": 100.0,
    "having threads": 5000.0,
    "userfaultfd areas": 0.0,
}


def model(factor: float = 1.0, *, misfit: float = 0.0, scatter: float = 0.0) -> CostModel:
    each = tuple(factor * ns for ns in (*EACH_NS.values(), *SCATTERED_NS))
    most = (*(1e6 for _ in TERMS), 1e6)
    return CostModel(TERMS, most, KNOTS, each, (each, each), misfit, scatter, ())


def calibration(**changes: object) -> Calibration:
    models = {name: model(factor) for name, factor in zip(NEEDED, (1.0, 0.8, 0.6, 0.5, 0.9, 0.95), strict=True)}
    made = Calibration(
        made_at=1_800_000_000,
        quick=False,
        machine={"cpu.model": "Invented"},
        models=models,
        first_writes={"parent_small": CostRange(500.0, 600.0, 700.0)},
        lacks={},
    )
    return replace(made, **changes)  # type: ignore[arg-type]
