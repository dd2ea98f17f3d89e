"""An explanation of launches in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.tracing.parts import FOREIGN, Part, part_of
from clonometer.tracing.types import BudgetPart, Explanation, IntervalEstimate, ProgramSteps, RatioPart, Tier, Versus
from clonometer.units import format_duration, format_duration_interval, format_number, format_share
from clonometer.words import cell_parts, cell_text, mechanism_name

#: Which launch a timeline is of.
TIMELINES = {"median": "the launch nearest the median", "p99": "the p99 launch"}
#: What the sum of all parts is called.
WHOLE = "whole launch, until reaped"
_NAMED = 3
#: How the names of parts begin that say when, or what somebody does: no time can be "in" them.
_CLAUSES = ("until ", "before ", "the parent is ", "goes ", "waits ", "reaps")
_LEAST_SHARE = 0.05
#: A call that a launch makes so often is named.
_OFTEN = 20


def sentence(explanation: Explanation) -> str:
    """Say how long a launch takes, what most of that goes to, and how much is unexplained."""
    whole = format_duration_interval(*explanation.reaped_ns.ends)
    named = _greatest(explanation.budget)
    rest = f"{format_share(explanation.unexplained)} unexplained" if explanation.unexplained else "fully accounted for"
    return f"A launch takes {whole}: {named}; {rest}." if named else f"A launch takes {whole}; {rest}."


def difference_sentence(versus: Versus) -> str:
    """Say what most of the difference of two goes to."""
    named = _greatest(versus.against.reasons)
    return f"The difference is {format_duration(versus.against.difference_ns)}{f': {named}' if named else ''}."


def _greatest(parts: Sequence[BudgetPart | RatioPart]) -> str:
    greatest = sorted(parts, key=lambda part: -part.share)[:_NAMED]
    return ", ".join(
        f"{format_share(part.share)} in {_with_who(part_of(part.part))}"
        for part in greatest
        if part.share >= _LEAST_SHARE
    )


def _with_who(part: Part) -> str:
    """What a part is called, and who is at work, where there are several; in quotation marks what is no thing."""
    name = f'"{part.label}"' if part.label.startswith(_CLAUSES) else part.label
    return f"{name} ({part.who})" if part.who else name


def about_launches(explanation: Explanation) -> str:
    """Say what was traced, how, and what ran untraced beside it."""
    counts = explanation.launches
    return (
        f"{counts.traced:,} traced launches in {counts.processes} processes ({explanation.tier.how}), "
        f"{counts.untraced:,} untraced in between"
    )


def cell_title(cell: str) -> str:
    """Name a cell in a heading.

    Examples
    --------
    >>> cell_title("launch.fork[parent_bytes=1GiB,temperature=warm]")
    'fork, parent_bytes=1GiB, warm'
    """
    workload, parts = cell_parts(cell)
    return ", ".join([mechanism_name(workload), *(part.removeprefix("temperature=") for part in parts)])


def versus_title(versus: Versus) -> str:
    """Head what compares two mechanisms."""
    (first, of_first), (second, of_second) = (cell_parts(side.cell) for side in versus.mechanisms)
    if of_first != of_second:
        return " vs ".join(cell_title(side.cell) for side in versus.mechanisms)
    return f"{mechanism_name(first)} vs {cell_title(cell_text(second, of_second))}"


def side_names(versus: Versus) -> tuple[str, str]:
    """Name both mechanisms as briefly as tells which is which: by what differs."""
    (first, of_first), (second, of_second) = (cell_parts(side.cell) for side in versus.mechanisms)
    names = mechanism_name(first), mechanism_name(second)
    if names[0] != names[1]:
        return names
    # An axis at its default does not stand in a cell's text.
    only_first = ", ".join(part for part in of_first if part not in of_second)
    only_second = ", ".join(part for part in of_second if part not in of_first)
    return (only_first or "default", only_second or "default") if only_first != only_second else ("first", "second")


def versus_sentence(versus: Versus) -> str:
    """Say how the two compare."""
    (first, second), (first_ns, second_ns) = side_names(versus), (side.reaped_ns.value for side in versus.mechanisms)
    return (
        f"{capitalized(first)} takes {format_duration(first_ns)}, {second} {format_duration(second_ns)}: "
        f"{format_number(versus.against.ratio)} times as long."
    )


def made_sentences(explanation: Explanation) -> list[str]:
    """Say what a launch starts, and how many system calls that takes."""
    sentences = [
        f"Creates a task, {task.count:.3g} per launch: {' | '.join(task.flags) or 'no flags'}."
        for task in explanation.new_tasks
    ]
    sentences += [f"Executes {program.file}, {program.count:.3g} per launch." for program in explanation.programs]
    calls = f"Makes {_calls_by(explanation, 'parent', ' system calls')} in the parent, "
    calls += f"{_calls_by(explanation, 'child')} in the child."
    return [*sentences, calls if explanation.calls else "None of its system calls could be traced."]


def _calls_by(explanation: Explanation, who: str, what: str = "") -> str:
    """Count them, and name the one that is made again and again, such as a close for each descriptor."""
    counts = {call.name: call.count for call in explanation.calls if call.who == who}
    most = max(counts, key=lambda name: counts[name], default="")
    often = f" ({counts[most]:.3g} {most})" if counts.get(most, 0) >= _OFTEN else ""
    return f"{sum(counts.values()):.3g}{what}{often}"


def capitalized(text: str) -> str:
    """A text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def why_no_closer(tier: Tier) -> str | None:
    """Say in one sentence why kernel tracepoints are not used, and the next step; None where they are used.

    Examples
    --------
    >>> print(why_no_closer(Tier("stamps", "stamps in user code", {"by bpf": "no tracefs: run it as root"}, ())))
    Kernel tracepoints cannot be used: no tracefs: run it as root.
    """
    if tier.name == "tracepoints" or not tier.refused:
        return None
    return f"Kernel tracepoints cannot be used: {next(iter(tier.refused.values()))}."


def refused_besides(tier: Tier) -> list[str]:
    """Each better means that is not used and why, where `why_no_closer` does not say it already."""
    stated = next(iter(tier.refused.values()), None) if tier.name != "tracepoints" else None
    return [f"{name}: {reason}" for name, reason in tier.refused.items() if reason != stated]


def not_seen(tier: Tier) -> list[str]:
    """Say which better means are not used, and what cannot be seen this way."""
    refused = refused_besides(tier)
    cannot = f"This tier ({tier.name}) cannot see {'; '.join(tier.cannot_see)}."
    return [f"Not used here: {'; '.join(refused)}.", cannot] if refused else [cannot]


def percent(share: IntervalEstimate) -> str:
    """A signed share with its interval."""
    return f"{share.value:+.1%} ({share.low:+.1%} to {share.high:+.1%})"


def signed_duration(difference_ns: float) -> str:
    """A difference with its sign, no finer than a nanosecond.

    Examples
    --------
    >>> signed_duration(-1540.0), signed_duration(0.2)
    ('-1.54 µs', '+< 1 ns')
    """
    return f"{'-' if difference_ns < 0 else '+'}{format_duration(abs(difference_ns), resolution_ns=1.0)}"


def lost_and_grown(lost: int, grown: int) -> str:
    """Say how many events are missing, and whether there had to be more room for them; empty where neither is so.

    Examples
    --------
    >>> lost_and_grown(0, 1), lost_and_grown(1200, 2), lost_and_grown(0, 0)
    ('No events lost; the buffer was enlarged once.', '1,200 events lost; the buffer was enlarged 2 times.', '')
    """
    if not lost and not grown:
        return ""
    losses = "1 event lost" if lost == 1 else f"{lost:,} events lost" if lost else "No events lost"
    times = "once" if grown == 1 else f"{grown} times"
    return f"{losses}; the buffer was enlarged {times}." if grown else f"{losses}."


def steps_sentences(explanation: Explanation) -> list[str]:
    """Say what CPUID costs a new program here, part by part; nothing where no program is started."""
    steps = explanation.steps
    if steps is None:
        return []
    if steps.reason is not None:
        return [f"the program's instructions could not be counted: {steps.reason}"]
    counted = (
        f"counted by single-stepping through {'all' if steps.ended else 'the first'} {steps.instructions:,} "
        f"instructions "
        "of one start"
    )
    if not steps.cpuid:
        return [f"the program executes no CPUID ({counted})"]
    does = "traps to the hypervisor" if steps.traps else "does not trap"
    each, least = format_duration(steps.cpuid_ns), format_duration(steps.cpuid_least_ns)
    first = f"CPUID {does} here: {each} each (at least {least}); the program executes {steps.cpuid} ({counted})"
    means = {share.part: share.mean_ns.value for share in explanation.budget}
    if FOREIGN in means:
        return [first, _cpuid_in("all of its user code", steps.cpuid, steps, means[FOREIGN])]
    return [
        first,
        *(
            _cpuid_in(part_of(phase.part).label.removeprefix("program: "), phase.cpuid, steps, means.get(phase.part))
            for phase in steps.phases
            if phase.cpuid
        ),
    ]


def _cpuid_in(name: str, count: int, steps: ProgramSteps, whole_ns: float | None) -> str:
    """Say what CPUID takes of one part. Its cost is measured in a loop; in place it may be a little more or less."""
    product = count * steps.cpuid_ns
    product_words = f"{count} CPUID x {format_duration(steps.cpuid_ns)} = {format_duration(product)}"
    if whole_ns is None:
        return f"{name}: {product_words}"
    share = "nearly all" if product >= whole_ns else format_share(product / whole_ns)
    return f"{name}: {format_duration(whole_ns)}, of which {product_words} ({share})"


def predicted_sentence(explanation: Explanation) -> str | None:
    """What the same call would cost a process that forks now and then; None where that is not known."""
    call = explanation.predicted
    if call is None:
        return None
    took = format_duration_interval(call.median_ns, call.low_ns, call.high_ns)
    return (
        f"These forks follow one another, with hot caches. In a process that forks occasionally, the launching call "
        f"would take {took} by this machine's calibration ('clonometer predict')."
    )
