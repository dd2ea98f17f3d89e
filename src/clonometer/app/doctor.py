"""``doctor``: what will distort the numbers on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from clonometer.plan.types import Catalogue
    from clonometer.prediction.audited import ProcessAudit
    from clonometer.results.audit.types import AuditItem, CpuidCost, MachineNoise
    from clonometer.results.rows.source import RunSource
    from clonometer.runner.drivers import Drivers

__all__ = ["doctor"]

Found = TypeVar("Found")
NOISE_SECONDS = 2.0
CPUID_SECONDS = 1.0


def doctor(pid: int | None = None) -> ProcessAudit:
    """Audit this machine and measure its noise.

    With a process, it also says what a fork would cost that process.
    """
    from clonometer.app.measuring import driver_states, find_catalogue
    from clonometer.host.facts import collect
    from clonometer.prediction.audited import ProcessAudit
    from clonometer.results.audit.all import audit
    from clonometer.results.audit.cpuid import check_cpuid
    from clonometer.results.audit.left import check_left
    from clonometer.results.audit.noise import check_noise
    from clonometer.results.audit.types import UnavailableWorkload
    from clonometer.runner.putting_back import put_back_left

    process = None
    if pid is not None:
        from clonometer.app.predict import predict

        process = predict(pid, scan=False)
    # Otherwise the machine is not as it will be when something is measured.
    left = put_back_left()
    # Before anything of ours is load.
    facts = collect()
    drivers, catalogue = find_catalogue()
    clock = drivers.calibrate()
    noise, reason = _measure_noise(drivers, catalogue)
    cpuid = _measure_cpuid(drivers, catalogue)
    items = [
        *check_left(left),
        *audit(facts),
        *check_cpuid(cpuid),
        _check_tracing(),
        *(check_noise(noise) if noise is not None else []),
    ]
    return ProcessAudit(
        host=str(facts["host.summary"]),
        items=items,
        noise=noise,
        noise_reason=reason,
        cpuid=cpuid,
        clock=clock,
        drivers=driver_states(drivers),
        lacks=[UnavailableWorkload(lack["what"], lack["reason"]) for lack in catalogue.lacks],
        process=process,
    )


def _check_tracing() -> AuditItem:
    from clonometer.errors import DriverError
    from clonometer.results.audit.tracing import check_tracing
    from clonometer.runner.tracing import refusals

    try:
        return check_tracing(refusals())
    except DriverError as error:
        return check_tracing(None, error.message)


def _measure_noise(drivers: Drivers, catalogue: Catalogue) -> tuple[MachineNoise | None, str | None]:
    """Run the bare loop and pinned forks for two seconds; None with the reason where that cannot be."""
    from clonometer.results.audit.noise import LAUNCH, LOOP, noise_of

    # A block of the bare loop with 50,000 passes lasts some milliseconds: long enough to meet the timer.
    limits = {"processes": 2, "samples": 50_000, "blocks": 1, "block_limit_ns": 40_000_000}
    names = [name for name in (LOOP, LAUNCH) if name in catalogue.workloads]
    return _read_run(drivers, catalogue, names, limits, seconds=NOISE_SECONDS, read=noise_of)


def _measure_cpuid(drivers: Drivers, catalogue: Catalogue) -> CpuidCost:
    """Time CPUID and count how many the start of our static program executes."""
    from clonometer.families.other import CPUID, STEPS
    from clonometer.results.audit.cpuid import cpuid_of
    from clonometer.results.audit.types import CpuidCost

    known = {name: catalogue.workloads.get(name) for name in (CPUID, STEPS)}
    lacking = {
        name: workload.reason for name, workload in known.items() if workload is not None and not workload.available
    }
    wanted = [name for name, workload in known.items() if workload is not None and workload.available]
    if not wanted:
        return CpuidCost(reason=next(iter(lacking.values()), "no driver has it"))
    limits = {"processes": 1, "samples": 100, "blocks": 2, "warmup": 1}
    cost, reason = _read_run(
        drivers, catalogue, wanted, limits, seconds=CPUID_SECONDS, read=lambda run: cpuid_of(run, lacking)
    )
    return cost or CpuidCost(reason=reason)


def _read_run(
    drivers: Drivers,
    catalogue: Catalogue,
    workloads: Sequence[str],
    limits: Mapping[str, int],
    *,
    seconds: float,
    read: Callable[[RunSource], Found],
) -> tuple[Found | None, str | None]:
    """Measure workloads for a short time and read what came of it; None with the reason where that cannot be."""
    from clonometer.app.measuring import briefly_measured
    from clonometer.errors import ClonometerError
    from clonometer.plan.adhoc import plan_from_arguments

    try:
        plan = plan_from_arguments(workloads, [], catalogue, budget_seconds=seconds, limits=limits)
        with briefly_measured(plan, catalogue, drivers, seed=1) as (run, outcome):
            return read(run), outcome.reason
    except ClonometerError as error:
        return None, error.message
