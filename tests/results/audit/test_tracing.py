"""What doctor says of the way in which explain and census look."""

from __future__ import annotations

import pytest

from clonometer.results.audit.tracing import check_tracing
from clonometer.results.audit.types import AuditItem

WHY = "tracefs is not mounted, and only root may mount it: run it as root"


@pytest.mark.parametrize(
    ("refusals", "judged", "value", "words"),
    [
        ({"fast": None, "tracepoints": None, "own": None}, "fine", "perf and bpf", "see all"),
        (
            {"fast": "bpf: no", "tracepoints": None, "own": None},
            "fine",
            "bpf, which costs less per launch, is refused",
            "",
        ),
        ({"fast": WHY, "tracepoints": WHY, "own": None}, "note", "the parent's own perf events", WHY),
        ({"fast": WHY, "tracepoints": WHY, "own": WHY}, "note", "stamps only", WHY),
    ],
)
def test_the_tier_and_the_reason_against_a_better_one_are_said(
    refusals: dict[str, str | None], judged: str, value: str, words: str
) -> None:
    item = check_tracing(refusals)
    assert (item.judged, item.known) == (judged, True)
    assert value in item.value
    assert words in item.effect


def test_what_could_not_be_tried_is_not_known() -> None:
    item = check_tracing(None, "cannot start the tracer")
    assert isinstance(item, AuditItem)
    assert not item.known
    assert "cannot start the tracer" in item.value
