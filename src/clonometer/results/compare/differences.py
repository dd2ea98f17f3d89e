"""In what two runs differ besides their figures, so that a change can be understood."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from clonometer.results.compare.languages import language_differences, language_facts
from clonometer.results.compare.types import BOOT, Difference, Provenance
from clonometer.results.rows.source import effective_frequencies_mhz
from clonometer.run_document import EnvironmentEntry, PlanTarget, RunDocument

FREQUENCY_SHARE = 0.01
_Settings = Mapping[str, int | str]

# Runs of earlier versions do not have these, and some hosts do not say.
_OFTEN_UNKNOWN = (BOOT, "kernel.randomize_va_space", "task.personality")
# What drivers had until runs said what they have.
_INHERITED = "the caller's, not recorded"

# What changes from minute to minute on one machine, or moves no launch; docs/host.md has the keys.
_VOLATILE = (
    "memory.available_bytes",
    "memory.swap_used_bytes",
    "cgroup.memory_used_bytes",
    "cgroup.pids_used",
    "cgroup.path",
    "host.summary",
    "load.",
    "steal.",
    "pressure.",
    "python.",
    "lacks.",
)
# What moves launches most is said first.
_ORDER = (
    "option.",
    "runtime.",
    "launch_path.",
    "tasks_per_launch.",
    "limit.of_plan.",
    "host.name_hash",
    "cpu.model",
    "kernel.release",
    "kernel.version",
    "cpu.microcode",
    "mitigations.summary",
    "mitigations",
    "kernel.",
    "cpufreq.",
    "effective_mhz",
    "thp.",
    "libc.",
    "virt.",
    "cpuidle.",
    "clocksource.",
    "clock",
    "cpu.",
    "memory.",
)


def provenance_of(document: RunDocument) -> Provenance:
    """Take from a run's document what may explain its figures."""
    return Provenance(
        document.host,
        document.clonometer_version,
        document.status,
        document.clock.clock,
        document.environment,
        effective_frequencies_mhz(document.blocks),
        document.plan.targets,
        language_facts(document),
    )


def differences(base: Provenance, other: Provenance) -> tuple[Difference, ...]:
    """Find what may explain a change between two runs, what moves launches most first.

    Host facts that differ, without those that differ from minute to minute on one machine; mitigations summed up
    and each by its name; the median effective frequency where it differs by over 1%; the environment of drivers; the
    clock; the version of Clonometer; versions of languages and how they launch; options of targets; how the runs
    ended.
    """
    changes = [
        *_facts(base.host, other.host),
        *_frequency(base.frequencies_mhz, other.frequencies_mhz),
        *_environment(base.environment, other.environment),
        *_values("clock", base.clock, other.clock),
        *_values("clonometer_version", base.clonometer_version, other.clonometer_version),
        *_values("status", base.status, other.status),
        *language_differences(base.languages, other.languages),
        *_options(_settings(base.targets), _settings(other.targets)),
    ]
    return by_importance(changes)


def by_importance(changes: Iterable[Difference]) -> tuple[Difference, ...]:
    """Sort what differs: what moves launches most first."""
    return tuple(sorted(changes, key=lambda difference: _rank(difference.key)))


def lasting_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the facts that differ from minute to minute on one machine, and why others are not known."""
    return {key: value for key, value in facts.items() if not key.startswith(_VOLATILE)}


def _rank(key: str) -> int:
    places = [index for index, prefix in enumerate(_ORDER) if key == prefix or key.startswith(prefix)]
    return min(places, default=len(_ORDER))


def _values(key: str, base: Any, other: Any) -> Iterator[Difference]:
    if base != other:
        yield Difference(key, base, other)


def _facts(base: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Difference]:
    for key in dict.fromkeys([*base, *other]):
        if key.startswith(_VOLATILE):
            continue
        before, after = base.get(key), other.get(key)
        if key in _OFTEN_UNKNOWN and (before is None or after is None):
            continue
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            for name in dict.fromkeys([*before, *after]):
                yield from _values(f"{key}.{name}", before.get(name), after.get(name))
        else:
            yield from _values(key, before, after)


def _environment(base: EnvironmentEntry | None, other: EnvironmentEntry | None) -> Iterator[Difference]:
    """Yield the fixed environment where it differs; what is drawn for each process differs in any two runs."""
    hashes = [_INHERITED if each is None else each.hash for each in (base, other)]
    yield from _values("environment.hash", *hashes)
    if base is not None and other is not None:
        yield from _values("environment.names", " ".join(base.names), " ".join(other.names))


def _frequency(base: Sequence[float], other: Sequence[float]) -> Iterator[Difference]:
    if base and other:
        before, after = median(base), median(other)
        if abs(before / after - 1) > FREQUENCY_SHARE:
            yield Difference("effective_mhz", round(before), round(after))


def _options(before: Mapping[str, _Settings], after: Mapping[str, _Settings]) -> Iterator[Difference]:
    """Yield options of drivers and limits that differ, each once for all cells that agree on it."""
    seen: set[tuple[str, str, str]] = set()
    for cell, settings in before.items():
        for key in dict.fromkeys([*settings, *after.get(cell, settings)]):
            value, its = settings.get(key), after.get(cell, settings).get(key)
            if value != its and (key, str(value), str(its)) not in seen:
                seen.add((key, str(value), str(its)))
                yield Difference(key, value, its)


def _settings(targets: Iterable[PlanTarget]) -> dict[str, _Settings]:
    # How many processes were aimed for changes the width of intervals, not what is measured.
    return {
        cell: {
            **{f"option.{name}": value for name, value in target.options.items()},
            **{
                f"limit.of_plan.{name}": value
                for name, value in target.limits.items()
                if name not in ("processes", "samples", "blocks")
            },
        }
        for target in targets
        for cell in target.cells
    }
