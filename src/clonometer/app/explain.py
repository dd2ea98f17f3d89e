"""``explain``: where every microsecond of a launch went, or why threads and processes at work differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from clonometer.app.explain_work import explain_work_factor
from clonometer.app.measuring import find_catalogue
from clonometer.app.predicting import calibrated_machine_or_none
from clonometer.app.shown import shown_as
from clonometer.errors import UsageError, unknown
from clonometer.families.same_image import FORK
from clonometer.host.symbols import kernel_symbols
from clonometer.model.measured import base_of, features_of
from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.names import full_name
from clonometer.plan.types import Catalogue, Target
from clonometer.runner.interfaces import SILENT, Progress, counting
from clonometer.runner.interrupts import interruption
from clonometer.runner.putting_back import put_back_first
from clonometer.runner.tracing import ProbeTracer
from clonometer.tracing import anatomy
from clonometer.tracing.anatomy import TraceOptions, admit, is_of_runtime, launching
from clonometer.tracing.budget import set_beside
from clonometer.tracing.marks import marks_of, notes_on_parts
from clonometer.tracing.steps import count_steps
from clonometer.tracing.types import TIERS, Explanation, PredictedCall
from clonometer.tracing.work.measure import WORKLOAD as WORK
from clonometer.tracing.work.types import AnyExplanation

__all__ = ["explain"]

COUNTERS = ("hardware", "software", "none")
_PROCESSES = 6
_COLD_PROCESSES = 30
_SAMPLES = {"samples": 100, "blocks": 2, "warmup": 20}


@shown_as("explain", "explanation_document")
def explain(
    mechanism: str,
    *,
    vs: str | None = None,
    settings: Sequence[str] = (),
    processes: int | None = None,
    tier: str | None = None,
    counters: str = "hardware",
    arguments: bool = False,
    stacks: bool = False,
    ablation: bool = False,
    progress: Progress = SILENT,
) -> AnyExplanation:
    """Trace the launches of a mechanism, and cut each into parts that sum exactly to its duration.

    Other launches run untraced in turn, which shows what tracing costs. Call it from the main thread, as
    `clonometer.run`.

    Parameters
    ----------
    mechanism
        Such as ``launch.fork`` or ``fork``. ``work.factor`` runs workers as threads and as processes in turn, and
        explains the gap between them.
    vs
        Another mechanism: the answer says what makes the ratio of the two.
    settings
        A condition, such as ``parent_bytes=1GiB``: one value for each axis.
    processes
        How many launch; by default 6, of ``work.factor`` 12 of each kind.
    tier
        Trace no closer than ``tracepoints``, ``own`` or ``stamps`` (``work.factor``: ``proc``); by default as close as
        is allowed.
    counters
        What is counted in each part: ``hardware`` (cycles, misses), ``software`` (faults, switches) or ``none``.
    arguments
        Read the arguments of system calls too, by ptrace.
    stacks
        Sample the kernel's stacks.
    ablation
        With ``work.factor``: also take shared things away, one after the other.
    progress
        Watches.

    Returns
    -------
    AnyExplanation
        Of one mechanism an `Explanation`, of two a `Versus`, of ``work.factor`` a `WorkExplanation`.

    Raises
    ------
    UsageError
        If something of that name does not exist, or has no launch that can be explained.
    UnavailableError
        If this machine does not have it, or does not let it be traced.
    DriverError
        If no driver can be used.
    """
    if is_of_work(mechanism):
        refuse_for_work({"--vs": vs, "--arguments": arguments, "--folded": stacks})
        return explain_work_factor(settings, pairs=processes, tier=tier, ablation=ablation, progress=progress)
    if ablation:
        raise UsageError("--ablation applies to workers only", f"clonometer explain {WORK} --ablation")
    if tier is not None and tier not in TIERS:
        raise unknown("tier", tier, TIERS)
    if counters not in COUNTERS:
        raise unknown("set of counters", counters, COUNTERS)
    names = [name for name in (mechanism, vs) if name is not None]
    drivers, catalogue = find_catalogue(progress, names)
    targets = _targets(names, settings, catalogue)
    for target in targets:
        admit(target, catalogue)
    wish = TraceOptions(
        processes or _PROCESSES,
        tier,
        stacks,
        counters=None if counters == "none" else counters,
        arguments=arguments,
        symbol=kernel_symbols() if stacks else hex,
    )
    explanations = []
    with interruption() as wish_to_stop:
        put_back_first(progress)
        for target in targets:
            tracer = ProbeTracer(drivers, drivers.calibrate(), interrupt_fd=wish_to_stop.descriptor)
            of_target = replace(wish, by_runtime=is_of_runtime(target, catalogue))
            explanations.append(_explain(tracer, target, catalogue, of_target, progress))
    return set_beside(*explanations) if len(explanations) > 1 else explanations[0]


def is_of_work(mechanism: str) -> bool:
    """Whether workers are to be explained, and no launches."""
    return mechanism in (WORK, WORK.rpartition(".")[2])


def refuse_for_work(options: Mapping[str, object]) -> None:
    """Refuse what is about single launches where workers are to be explained: the first option that has a value.

    Raises
    ------
    UsageError
        If one has.
    """
    refused = next((name for name, value in options.items() if value), None)
    if refused is not None:
        raise UsageError(
            f"{refused} applies to single launches; explain work.factor already compares threads with processes",
            "--html and --trace show what every worker does in one execution",
        )


def _explain(
    tracer: ProbeTracer, target: Target, catalogue: Catalogue, wish: TraceOptions, progress: Progress
) -> Explanation:
    steps = count_steps(tracer, target, catalogue)
    tracer.marks, no_marks = marks_of(target, steps)
    is_cold = target.cells[0].temperature == "cold"
    traced = max(wish.processes, _COLD_PROCESSES) if is_cold else wish.processes
    watch = counting(progress, target.workload, traced)
    explanation = anatomy.explain(tracer, target, replace(wish, processes=traced, watch=watch))
    notes = notes_on_parts(explanation, tracer.marks, no_marks or tracer.marks_refused)
    explanation = replace(explanation, steps=steps, notes=(*explanation.notes, *notes))
    return replace(explanation, predicted=_predicted_call(tracer, target, catalogue))


def _predicted_call(tracer: ProbeTracer, target: Target, catalogue: Catalogue) -> PredictedCall | None:
    """What the calibration expects of such a fork with cold caches; None where this machine has not been calibrated."""
    condition = target.condition
    if target.workload != FORK or condition["caches"] != "hot":
        return None
    machine = calibrated_machine_or_none()
    if machine is None:
        return None
    # A parent of which nothing was asked: what it has is what the probe itself has.
    bare = _target(target.workload, [], catalogue)
    trace = tracer.trace(replace(bare, limits=replace(bare.limits, samples=1, blocks=1)), "none")
    features = features_of(condition, base_of([block.facts for block in trace.blocks]))
    if features is None:
        return None
    fork = machine.predict(features).fork
    cost = fork.unwritten if condition["pages"] == "clean" else fork.first
    return PredictedCall(cost.low_ns, cost.median_ns, cost.high_ns)


def _targets(mechanisms: Sequence[str], settings: Sequence[str], catalogue: Catalogue) -> list[Target]:
    """One target for each mechanism; of two, each takes the settings that it has an axis for."""
    explained = [*launching(catalogue), WORK]
    names = [name if name in catalogue.workloads else full_name(name, explained, "mechanism") for name in mechanisms]
    axes = [{*catalogue.workloads[name].axes, "temperature"} for name in names]
    targets = []
    for name, known in zip(names, axes, strict=True):
        strange = [setting for setting in settings if setting.partition("=")[0].strip() not in known]
        elsewhere = all(any(setting.partition("=")[0].strip() in other for other in axes) for setting in strange)
        given = [setting for setting in settings if setting not in strange or not elsewhere]
        targets.append(_target(name, given, catalogue))
    return targets


def _target(name: str, settings: Sequence[str], catalogue: Catalogue) -> Target:
    warm = [] if any(setting.strip().startswith("temperature") for setting in settings) else ["temperature=warm"]
    given = [*settings, *(warm if catalogue.workloads[name].temperatures else [])]
    plan = plan_from_arguments([name], given, catalogue, limits=_SAMPLES)
    if len(plan.targets) != 1 or len(plan.targets[0].cells) != 1:
        raise UsageError("one condition is explained at a time", "give each axis one value; --vs compares two")
    return plan.targets[0]
