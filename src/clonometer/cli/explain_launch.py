"""``clonometer explain MECHANISM``: where every microsecond of a launch went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clonometer.app.measuring import find_catalogue
from clonometer.app.predicting import calibrated_machine_or_none
from clonometer.cli.console import print_drawn
from clonometer.cli.explain_files import Asked, watcher
from clonometer.cli.progress import make_progress
from clonometer.errors import UsageError, unknown
from clonometer.families.same_image import FORK
from clonometer.host.symbols import kernel_symbols
from clonometer.model.measured import base_of, features_of
from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.names import full_name
from clonometer.plan.types import Catalogue, Target
from clonometer.runner.interrupts import interruption
from clonometer.runner.tracing import ProbeTracer
from clonometer.tracing.anatomy import Wish, admit, explain, launching
from clonometer.tracing.budget import set_beside
from clonometer.tracing.marks import marks_of, notes_on_parts
from clonometer.tracing.steps import count_steps
from clonometer.tracing.types import TIERS, Explanation, PredictedCall, Versus
from clonometer.views.documents.explain import explain_document
from clonometer.views.terminal.document import render_document

WORK = "work.factor"
_COUNTERS = ("hardware", "software", "none")
_PROCESSES = 6
_COLD_PROCESSES = 30
_SAMPLES = {"samples": 100, "blocks": 2, "warmup": 20}


def explain_launches(asked: Asked) -> None:
    """Trace one mechanism, or two that are set side by side, then print and write."""
    if asked.tier is not None and asked.tier not in TIERS:
        raise unknown("tier", asked.tier, TIERS)
    if asked.counters not in _COUNTERS:
        raise unknown("set of counters", asked.counters, _COUNTERS)
    wish = Wish(
        asked.processes or _PROCESSES,
        asked.tier,
        asked.folded is not None,
        counters=None if asked.counters == "none" else asked.counters,
        arguments=asked.arguments,
    )
    explanation = _explain(asked, wish)
    with_calls = asked.calls or asked.arguments
    wishes = {"timeline": asked.timeline, "calls": with_calls}
    asked.answer(explanation, lambda: print_drawn(render_document, explain_document, explanation, **wishes))


def _explain(asked: Asked, wish: Wish) -> Explanation | Versus:
    drivers, catalogue = find_catalogue(make_progress())
    targets = _targets(asked, catalogue)
    for target in targets:
        admit(target, catalogue)
    asked.check()
    if wish.stacks:
        wish = replace(wish, symbol=kernel_symbols())
    explanations = []
    with interruption() as wish_to_stop:
        for target in targets:
            tracer = ProbeTracer(drivers, drivers.calibrate(), interrupt_fd=wish_to_stop.descriptor)
            steps = count_steps(tracer, target, catalogue)
            tracer.marks, no_marks = marks_of(target, steps)
            is_cold = target.cells[0].temperature == "cold"
            traced = max(wish.processes, _COLD_PROCESSES) if is_cold else wish.processes
            explanation = explain(tracer, target, replace(wish, processes=traced, watch=watcher(target.workload)))
            notes = notes_on_parts(explanation, tracer.marks, no_marks or tracer.marks_refused)
            explanation = replace(explanation, steps=steps, notes=(*explanation.notes, *notes))
            explanations.append(replace(explanation, predicted=_predicted_call(tracer, target, catalogue)))
    return set_beside(*explanations) if len(explanations) > 1 else explanations[0]


def _predicted_call(tracer: ProbeTracer, target: Target, catalogue: Catalogue) -> PredictedCall | None:
    """What the calibration expects of such a fork with cold caches; None where this machine was not calibrated."""
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


def _targets(asked: Asked, catalogue: Catalogue) -> list[Target]:
    """One target for each mechanism; of two, each takes the settings that it has an axis for."""
    explained = [*launching(catalogue), WORK]
    names = [
        name if name in catalogue.workloads else full_name(name, explained, "mechanism")
        for name in (asked.mechanism, asked.other)
        if name is not None
    ]
    axes = [{*catalogue.workloads[name].axes, "temperature"} for name in names]
    targets = []
    for name, known in zip(names, axes, strict=True):
        strange = [setting for setting in asked.settings if setting.partition("=")[0].strip() not in known]
        elsewhere = all(any(setting.partition("=")[0].strip() in other for other in axes) for setting in strange)
        given = [setting for setting in asked.settings if setting not in strange or not elsewhere]
        targets.append(_target(name, given, catalogue))
    return targets


def _target(name: str, settings: Sequence[str], catalogue: Catalogue) -> Target:
    warm = [] if any(setting.strip().startswith("temperature") for setting in settings) else ["temperature=warm"]
    given = [*settings, *(warm if catalogue.workloads[name].temperatures else [])]
    plan = plan_from_arguments([name], given, catalogue, limits=_SAMPLES)
    if len(plan.targets) != 1 or len(plan.targets[0].cells) != 1:
        raise UsageError("one condition is explained at a time", "give each axis one value; --vs sets two side by side")
    return plan.targets[0]
