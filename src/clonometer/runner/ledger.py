"""How the cells of a run are getting on: which targets are tried again, and how each cell ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from clonometer.errors import UnavailableError
from clonometer.plan.types import Catalogue, Plan, Target
from clonometer.run_document import CellEntry
from clonometer.runner.drivers import Drivers
from clonometer.runner.measure import ProcessResult

FAILURES_UNTIL_GIVEN_UP = 2


@dataclass
class _Account:
    """What is known of one target."""

    processes: int = 0
    failures: int = 0
    failures_in_a_row: int = 0
    last_failure: str | None = None
    skipped: str | None = None
    given_up: bool = False
    measured: set[str] = field(default_factory=set)


class Ledger:
    """Notes how each process ended and decides whether its target is tried again."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._accounts = [_Account() for _ in plan.targets]

    def skip(self, target: int, reason: str) -> None:
        """Note that this machine cannot measure a target."""
        self._accounts[target].skipped = reason

    def note(self, target: int, measured: ProcessResult) -> bool:
        """Note how a process of a target ended.

        Says whether the target may be tried again: not after a skip, nor after two failures in a row, nor after
        a hopeless one.
        """
        account = self._accounts[target]
        account.processes += 1
        if measured.status in ("ok", "interrupted"):
            account.failures_in_a_row = 0
            seen = {block.temperature for block in measured.blocks}
            account.measured |= {cell.text for cell in self._plan.targets[target].cells if cell.temperature in seen}
        elif measured.status == "skipped":
            account.skipped = measured.reason
        else:
            account.failures += 1
            account.failures_in_a_row += 1
            account.last_failure = measured.reason
            account.given_up = measured.hopeless or account.failures_in_a_row >= FAILURES_UNTIL_GIVEN_UP
        return account.skipped is None and not account.given_up

    def ends(self, stopped_by: Callable[[int], str | None], why_missing: str) -> list[CellEntry]:
        """Say how each cell ended, in the order of the plan.

        ``stopped_by`` has the scheduler's word for why a target, by its index, got no more processes,
        ``why_missing`` the reason of cells that were never reached.
        """
        return [
            self._end(cell.text, account, stopped_by(index), why_missing)
            for index, (target, account) in enumerate(zip(self._plan.targets, self._accounts, strict=True))
            for cell in target.cells
        ]

    @staticmethod
    def _end(cell: str, account: _Account, stopped_by: str | None, why_missing: str) -> CellEntry:
        """How a cell ended: what was measured counts more than what failed, unless its target was given up."""
        failed = f"{account.failures} of {account.processes} processes failed: {account.last_failure}"
        if account.given_up:
            return CellEntry(cell, "failed", f"given up: {failed}", None)
        if cell in account.measured:
            if account.skipped is not None:
                return CellEntry(cell, "ok", f"measured until this happened: {account.skipped}", None)
            return CellEntry(cell, "ok", failed if account.failures else None, stopped_by)
        if account.skipped is not None:
            return CellEntry(cell, "skipped", account.skipped, None)
        if account.failures:
            return CellEntry(cell, "failed", account.last_failure, None)
        # The scheduler has dropped it though nothing was wrong with it: the other side of its pair is not to be had.
        alone = "the other side of its comparison could not be measured"
        return CellEntry(cell, "missing", alone if stopped_by is None else why_missing, None)


def why_unavailable(target: Target, catalogue: Catalogue, drivers: Drivers) -> str | None:
    """Say why this machine cannot measure a target, before anything is started; None where it may."""
    workload = catalogue.workloads[target.workload]
    if not workload.available:
        return workload.reason or f"{workload.id} is not available here"
    for name, value in target.condition.items():
        reason = catalogue.axes[name].unavailable.get(str(value))
        if reason is not None:
            return f"{name}={value}: {reason}"
    try:
        drivers.choose(target.workload, target.condition)
    except UnavailableError as error:
        return error.message
    return None
