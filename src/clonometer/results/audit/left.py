"""What measurements that were killed have left changed on this machine."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.results.audit.types import NOTE, WARN, AuditItem

_EFFECT = "What a measurement changes on the machine moves the figures of whatever comes after it."
_DONE = ("put back", "removed")


def check_left(sentences: Sequence[str]) -> list[AuditItem]:
    """Name what was left, and what became of it: a sentence each (`clonometer.runner.putting_back`)."""
    if not sentences:
        return []
    judged = NOTE if all(sentence.startswith(_DONE) for sentence in sentences) else WARN
    return [AuditItem("machine.left_changed", "Left changed", "; ".join(sentences), judged, _EFFECT)]
