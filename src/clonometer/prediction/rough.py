"""A rough model for machines that were not calibrated: it gives the order of magnitude, and says so.

The figures are times of a virtual machine on an AMD EPYC with Linux 6.18 and 4 KiB pages, with cold caches. The spread
is that between machines, of which the Redis documentation tells: 10 to 20 ms a GiB where fork is fast, several times
that on old hypervisors.
"""

from __future__ import annotations

from collections.abc import Mapping

from clonometer.model.calibration import EXEC, EXIT, NEEDED, POSIX_SPAWN, VFORK, Calibration, CostModel
from clonometer.model.terms import LINEAR, PAGES
from clonometer.model.types import CostRange

#: Nine in ten machines are taken to lie within a factor of 2.7.
_SPREAD = 0.6
_EACH_NS = {
    "base": 40_000.0,
    "page tables": 600.0,
    "written areas": 650.0,
    "empty areas": 220.0,
    "file and shared areas": 220.0,
    "areas kept from children": 320.0,
    "huge pages": 510.0,
    "hugetlb pages": 510.0,
    "open files": 9.0,
    "further threads": 500.0,
    "userfaultfd areas": 300.0,
}
_PAGE_NS = {
    "fork.first": 62.0,
    "fork.unwritten": 50.0,
    "fork.first_hot": 50.0,
    "fork.unwritten_hot": 32.0,
    EXIT: 25.0,
    EXEC: 25.0,
}
#: An execve takes that, whatever memory it frees.
_BASE_NS = {EXEC: 150_000.0}
_SCATTERED_NS = 40.0
_WHOLE_NS = {POSIX_SPAWN: 120_000.0, VFORK: 45_000.0}
_COPY_NS = 1_200.0
_MOST_PAGES = float(1 << 28)


def rough_calibration() -> Calibration:
    """Make the rough model."""
    models = {
        name: _model({**_EACH_NS, "base": _BASE_NS.get(name, _EACH_NS["base"]), PAGES: _PAGE_NS[name]}, _SCATTERED_NS)
        for name in NEEDED
    }
    models |= {name: _model({"base": whole_ns}) for name, whole_ns in _WHOLE_NS.items()}
    copy = CostRange(_COPY_NS / 2.7, _COPY_NS, _COPY_NS * 2.7)
    return Calibration(
        made_at=0,
        quick=True,
        machine={},
        models=models,
        first_writes={"parent_small": copy, "child_small": copy},
        lacks={},
    )


def _model(each_ns: Mapping[str, float], scattered_ns: float = 0.0) -> CostModel:
    terms = list(LINEAR)
    # Counts have no limit here: of a rough figure nothing is beyond what was measured.
    return CostModel(
        terms=terms,
        most=[_MOST_PAGES] * (len(terms) + 1),
        knots=[1.0],
        each_ns=[*(each_ns.get(term, 0.0) for term in terms), scattered_ns],
        draws_ns=[],
        misfit=_SPREAD,
        scatter=0.0,
        residuals=[],
    )
