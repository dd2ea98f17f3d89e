"""What a run of the plan ``advise`` brings: the terms, each from the cell that measures it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from clonometer.advice.costs import (
    BASE,
    BUSY,
    BUSY_HZ,
    LATE_TERM,
    SLOW_HZ,
    SMALL_PAGE_BYTES,
    WAKING_TERM,
    connection_term,
    hand_over_term,
)
from clonometer.advice.designs import DESIGNS
from clonometer.advice.terms import Term, TermSpan, difference
from clonometer.results.rows.groups import failed_launches
from clonometer.results.rows.source import RunSource, null_mask
from clonometer.run_document import PlanCell
from clonometer.stats.quantiles import quantile_interval

#: The workloads that measure launches alone, on one CPU: until they are reaped, all their CPU time is in a row.
_LAUNCHES = {"fork": "launch.fork", "spawn": "launch.posix_spawn", "thread": "launch.pthread"}
#: What a language calls the same.
_OF_LANGUAGES = {"fork": "fork", "command": "spawn", "os_thread": "thread"}
_OURS = ("launch", "serve")
#: Of a launch in a language: that it is reaped, or that its end is known.
_UNTIL_ENDED = ("reaped_ns", "result_ns")
_STAGES = {"call": ("call_returns_ns",), "runs": ("task_runs_ns", "image_runs_ns"), "whole": ("reaped_ns",)}
_COPIED, _FRESH, _BY_PARENT, _ENDS = "cow.child", "cow.fresh", "cow.parent", "teardown.exit"
#: Of handing a function or data to another thread and waiting for what comes back; the first that a language has.
_HANDED = ("thread_pool", "exchange_thread")
_HANDED_IN_C = "wake.thread_condvar"
#: What a server does for a connection, and what that is in C.
_SERVED, _SERVED_IN_C = "connection", "connection.tcp"
#: What launches, hand-overs and connections of languages are measured beside.
IN_C = (*_LAUNCHES.values(), _HANDED_IN_C, _SERVED_IN_C)
#: Waking a thread that waits, and being woken by its answer, in C.
HANDED_TERM = "hand_over"
SERVED_TERM = "served"
#: Of a server without work: what a request costs all its tasks, and how long its client waits.
CPU, LATENCY = "server_cpu_each_ns", "latency_ns"
#: Of a server without work and without queues the quickest quarter is not delayed, on a busy machine too.
_UNDELAYED = 0.25
#: Of these the simplest design has the same values where another is compared with it.
_BASE = "serve.inline"
_COMMON = ("request_bytes", "response_bytes", "connections", "transport", "rate_hz", "work_ns", "parent_bytes")
#: What a server with much data tells of a byte.
_BYTES = {"request_bytes": "byte_in", "response_bytes": "byte_out"}
_HELD = {"process_bytes": "footprint.process", "thread_bytes": "footprint.thread"}


def terms_of(run: RunSource) -> dict[str, Term]:
    """Read all terms that a run has."""
    measured = set(run.cells())
    terms: dict[str, Term] = {}
    with_data: list[tuple[str, float, str, Term]] = []
    for entry in run.document.plan.cells:
        if entry.cell not in measured:
            continue
        more = _data_of(run, entry)
        for name, term in _of_cell(run, entry):
            if more is None:
                terms[name] = term
            else:
                with_data.append((*more, name, term))
    for byte, size, name, term in with_data:
        base = terms.get(name)
        if base is not None and name.startswith("cpu."):
            terms[byte] = Term(difference(term.span, base.span).times(1 / size), term.cell)
    freed = _freed_page(run)
    terms |= {} if freed is None else {"freed_page": freed}
    return terms | _of_languages(run, terms)


def _freed_page(run: RunSource) -> Term | None:
    """What the end of a child takes for each page that it has written: of two sizes, process by process in turn."""
    sizes = {}
    for entry in run.document.plan.cells:
        if entry.workload == _ENDS and entry.cell in run.cells():
            sizes[int(entry.condition["child_bytes"])] = entry.cell
    if len(sizes) < 2:
        return None
    small, large = min(sizes), max(sizes)
    pages = (large - small) / SMALL_PAGE_BYTES
    more = _in_turn(by_process(run, sizes[large], "teardown_ns"), by_process(run, sizes[small], "teardown_ns"))
    return Term(_not_below_zero(middle_span(more)).times(1 / pages), sizes[large]) if more else None


def _of_languages(run: RunSource, alone_terms: Mapping[str, Term]) -> dict[str, Term]:
    """What launches, hand-overs and connections of languages take more than those of C."""
    terms: dict[str, Term] = {}
    measured = set(run.cells())
    for entry in run.document.plan.cells:
        language, _, word = entry.workload.partition(".")
        alone = alone_terms.get(f"whole.{_OF_LANGUAGES.get(word)}")
        if entry.cell in measured and alone is not None and language not in _OURS:
            name = f"{language}.{_OF_LANGUAGES[word]}"
            above = _launch_above(run, entry, alone)
            terms |= {} if above is None else {name: Term(above, entry.cell)}
        for name, beside, words in (
            (hand_over_term(language), HANDED_TERM, _HANDED),
            (connection_term(language), SERVED_TERM, (_SERVED,)),
        ):
            in_c, is_better = alone_terms.get(beside), name not in terms or word == words[0]
            if entry.cell in measured and in_c is not None and word in words and is_better:
                for _, term in _term(name, run, entry, "result_ns"):
                    terms[name] = Term(_above(term.span, in_c.span), term.cell)
    return terms


def _launch_above(run: RunSource, entry: PlanCell, alone: Term) -> TermSpan | None:
    """What a launch takes more than the one in C: CPU time, or time on one CPU where a driver does not count that.

    Others that use the CPU lengthen the time, and the more of it the longer a launch takes.
    """
    used = [_cpu_by_process(run, cell) for cell in (entry.cell, alone.cell)]
    if all(used):
        return _above(*map(middle_span, used))
    ends = [each for quantity in _UNTIL_ENDED if (each := by_process(run, entry.cell, quantity))]
    return _above(middle_span(ends[0]), alone.span) if ends else None


def _cpu_by_process(run: RunSource, cell: str) -> dict[int, float]:
    """Give for each process the CPU time of a launch, its child's included: the median of its blocks."""
    blocks: dict[int, list[float]] = {}
    for block in run.document.blocks:
        ours, childrens = block.facts.get("cpu_ns"), block.facts.get("children_cpu_ns")
        if block.cell == cell and block.rows and ours is not None and childrens is not None:
            blocks.setdefault(block.process, []).append((ours + childrens) / block.rows)
    return {process: float(np.median(each)) for process, each in blocks.items()}


def _above(more: TermSpan, less: TermSpan) -> TermSpan:
    """What is more, and never less than nothing."""
    return _not_below_zero(difference(more, less))


def _not_below_zero(span: TermSpan) -> TermSpan:
    return TermSpan(*(max(0.0, end) for end in (span.value, span.low, span.high)))


def _data_of(run: RunSource, entry: PlanCell) -> tuple[str, float] | None:
    """The term that a server with much data is measured for, and how much more data; None where it has none."""
    for axis, term in _BYTES.items():
        if axis in entry.condition:
            more = float(entry.condition[axis]) - float(run.document.catalogue.axes[axis].default)
            if more > 0:
                return term, more
    return None


def launches_of(language: str) -> list[str]:
    """Name the workloads that measure a language's launches, where it has them."""
    return [f"{language}.{word}" for word in (*_OF_LANGUAGES, *_HANDED, _SERVED)]


def lacks_of(run: RunSource) -> dict[str, str]:
    """Say which workloads could not be measured, and why."""
    document = run.document
    workload_of = document.plan.workload_of
    return {workload_of[cell.cell]: cell.reason for cell in document.cells if cell.reason and cell.cell in workload_of}


def _of_cell(run: RunSource, entry: PlanCell) -> Iterator[tuple[str, Term]]:
    design = next((design for design in DESIGNS if design.workload == entry.workload), None)
    if design is not None:
        yield from _of_server(run, entry, design.id)
    for kind, workload in _LAUNCHES.items():
        if entry.workload == workload:
            for stage, quantities in _STAGES.items():
                # Of a new program, that it runs.
                for quantity in quantities:
                    yield from _term(f"{stage}.{kind}", run, entry, quantity)
    if entry.workload == _COPIED:
        yield from _term("copied_page", run, entry, "write_each_ns")
        yield from _term("written_page", run, entry, "again_each_ns")
    if entry.workload == _BY_PARENT:
        yield from _term("parent_page", run, entry, "write_each_ns")
    if entry.workload == _HANDED_IN_C:
        yield from _term(HANDED_TERM, run, entry, "answered_ns")
    if entry.workload == _SERVED_IN_C:
        yield from _term(SERVED_TERM, run, entry, "closed_ns")
    if entry.workload == _FRESH:
        yield from _term("fresh_page", run, entry, "write_each_ns")
    for name, workload in _HELD.items():
        if entry.workload == workload:
            # By the machine's counters, to which others add meanwhile, it may come out below zero.
            yield from (each for each in _term(name, run, entry, "whole_each_bytes") if each[1].span.value > 0)


def _of_server(run: RunSource, entry: PlanCell, design: str) -> Iterator[tuple[str, Term]]:
    if entry.condition.get("block_ns"):
        yield from _of_waiting(run, entry)
        return
    about = f"{design}.{entry.condition['connections']}.{entry.condition['transport']}"
    yield from _term(f"faults.{design}", run, entry, "faults_each")
    base = _base_of(run, entry)
    prefix = BUSY if float(entry.condition.get("rate_hz", SLOW_HZ)) >= BUSY_HZ else ""
    for kind, values in (("cpu", partial(by_process, run, quantity=CPU)), ("latency", partial(_undelayed, run))):
        if design == BASE and (each := values(cell=entry.cell)):
            yield f"{prefix}{kind}.{about}", Term(middle_span(each), entry.cell)
        elif base is not None:
            above = _in_turn(values(cell=entry.cell), values(cell=base.cell))
            if above:
                yield f"{prefix}{kind}_above.{about}", Term(middle_span(above), entry.cell)


def _of_waiting(run: RunSource, entry: PlanCell) -> Iterator[tuple[str, Term]]:
    """What a request takes that sleeps once more than one that does not, beside its sleep."""
    base = _base_of(run, entry)
    if base is None:
        return
    used = _in_turn(by_process(run, entry.cell, CPU), by_process(run, base.cell, CPU))
    taken = _in_turn(_undelayed(run, entry.cell), _undelayed(run, base.cell))
    if used and taken:
        cpu, slept = middle_span(used), middle_span(taken)
        due_ns = float(entry.condition["block_ns"])
        late = difference(TermSpan(*(end - due_ns for end in (slept.value, slept.low, slept.high))), cpu)
        yield WAKING_TERM, Term(cpu, entry.cell)
        yield LATE_TERM, Term(_not_below_zero(late), entry.cell)


def _base_of(run: RunSource, entry: PlanCell) -> PlanCell | None:
    """The cell of the simplest design under the same condition."""
    measured = set(run.cells())
    for other in run.document.plan.cells:
        if other.condition.get("block_ns"):
            continue
        same = all(other.condition.get(axis) == value for axis, value in entry.condition.items() if axis in _COMMON)
        if other.workload == _BASE and same and other.cell in measured:
            return other
    return None


def _in_turn(first: Mapping[int, float], second: Mapping[int, float]) -> dict[int, float]:
    """What processes take more than those that were started in the same round, in the order of their starts."""
    pairs = zip(sorted(first.items()), sorted(second.items()), strict=False)
    return {process: value - other for (process, value), (_, other) in pairs}


def _term(name: str, run: RunSource, entry: PlanCell, quantity: str) -> Iterator[tuple[str, Term]]:
    values = by_process(run, entry.cell, quantity)
    if values:
        yield name, Term(middle_span(values), entry.cell)


def by_process(run: RunSource, cell: str, quantity: str, share: float = 0.5) -> dict[int, float]:
    """Give for each process a quantile of its samples, the median; what failed or is null does not count."""
    if quantity not in run.document.columns:
        return {}
    columns = run.columns(cell, ["process", quantity, "errno"])
    if quantity not in columns:
        return {}
    valid = ~failed_launches(columns) & ~null_mask(columns[quantity])
    values: dict[int, list[float]] = {}
    for process, value in zip(columns["process"][valid].tolist(), columns[quantity][valid].tolist(), strict=True):
        values.setdefault(process, []).append(float(value))
    return {process: float(np.quantile(each, share)) for process, each in values.items()}


def _undelayed(run: RunSource, cell: str) -> dict[int, float]:
    """How long requests take that nobody delays: other programs on the CPUs add to most latencies."""
    return by_process(run, cell, LATENCY, _UNDELAYED)


def middle_span(by_process: Mapping[int, float]) -> TermSpan:
    """Give the median of values of independent processes, with its interval by order statistics.

    One process that others disturbed moves neither far. Of a single value no interval is known: from half to twice it.
    """
    values = list(by_process.values())
    if len(values) < 2:
        return TermSpan(values[0], *sorted((values[0] / 2, values[0] * 2)))
    return TermSpan(*quantile_interval(values).ends)
