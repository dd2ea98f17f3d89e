"""How closely explain and census can look here."""

from __future__ import annotations

from collections.abc import Mapping

from clonometer.results.audit.types import FINE, NOTE, AuditItem

_ID, _TITLE = "kernel.tracing", "Tracing"


def check_tracing(refusals: Mapping[str, str | None] | None, unknown: str = "it was not tried") -> AuditItem:
    """Say which tier `explain` and `census` have on this machine, and why no better one.

    Parameters
    ----------
    refusals
        Why each way of listening is refused, by its name; None where it is allowed (`clonometer.runner.tracing`).
        None where that could not be tried, for the reason ``unknown``.
    """
    if refusals is None:
        effect = "Without tracing, explain and census see less."
        return AuditItem(_ID, _TITLE, f"unknown: {unknown}", NOTE, effect, known=False)
    rings, bpf, own_events = (refusals.get(name, unknown) for name in ("tracepoints", "fast", "own"))
    if rings is None:
        means = "perf and bpf" if bpf is None else "perf; bpf, which costs less per launch, is refused"
        return AuditItem(_ID, _TITLE, f"kernel tracepoints ({means})", FINE, "explain and census see all they can.")
    seen = "the parent's own perf events" if own_events is None else "stamps only"
    effect = f"explain sees less and census uses ptrace, which inflates times: {rings}."
    return AuditItem(_ID, _TITLE, seen, NOTE, effect)
