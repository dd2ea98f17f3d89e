"""Predictions as gauges for a textfile collector: a text that Prometheus and OpenMetrics read alike.

Only gauges: the collector of node_exporter refuses a file with any type that Prometheus' older text format has not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonometer.views.exports import JsonAnswer
from clonometer.views.exports.openmetrics import metric_family

_NS = 1e9
_FAILS = {"no": 0, "maybe": 0.5, "yes": 1}


def encode_predicted(documents: Sequence[JsonAnswer]) -> Iterator[str]:
    """Encode predictions, each of a process of its own; a number that does not exist has no sample."""
    forks = [
        ({**_labels(each), "pages": pages, "bound": bound}, each["fork"][f"{key}_ns"][bound] / _NS)
        for each in documents
        for key, pages in (("first", "written"), ("later", "later"), ("unwritten", "unwritten"))
        for bound in ("low", "median", "high")
    ]
    yield from metric_family(
        "fork_predicted", "seconds", "What a fork would take, nine in ten from low to high.", forks
    )
    waits = [
        ({**_labels(each), "until": until}, each["waits"][f"{key}_ns"]["median"] / _NS)
        for each in documents
        for key, until in (("call", "call"), ("until_exit", "exit"), ("until_exec", "exec"))
    ]
    yield from metric_family(
        "fork_wait_predicted", "seconds", "How long a caller waits: for the call, the child's exit or its exec.", waits
    )
    for key, text in (
        ("exit", "The end of a forked child, after the call."),
        ("exec", "A forked child's exec, after the call."),
        ("posix_spawn", "What posix_spawn would take instead."),
        ("vfork", "What vfork would take instead."),
    ):
        spans = [(each, each[f"{key}_ns"]) for each in documents]
        samples = [(_labels(each), span["median"] / _NS) for each, span in spans if span is not None]
        yield from metric_family(f"{key}_predicted", "seconds", text, samples)
    for name, key, text in (
        ("fork_page_tables", "page_tables_bytes", "Page tables of the child."),
        ("fork_parent_resident", "rss_bytes", "Memory of the process that is present."),
    ):
        yield from metric_family(name, "bytes", text, [(_labels(each), each[key]) for each in documents])
    worst = [(_labels(each), each["cow"]["copied_at_worst_bytes"]) for each in documents]
    yield from metric_family("fork_copied_at_worst", "bytes", "What copying on write takes at worst.", worst)
    refusals = [(each, each["would_fail"]) for each in documents]
    fails = [
        (_labels(each), _FAILS[refusal["fails"]])
        for each, refusal in refusals
        if refusal and refusal["fails"] in _FAILS
    ]
    yield from metric_family("fork_would_fail", "", "Whether a fork would fail: 1 yes, 0.5 maybe, 0 no.", fails)
    areas = [
        (
            _labels(each),
            sum(count for name, count in each["features"].items() if name.endswith("_areas") and name != "uffd_areas"),
        )
        for each in documents
    ]
    yield from metric_family("fork_parent_areas", "", "Memory areas of the process.", areas)
    yield "# EOF\n"


def _labels(document: JsonAnswer) -> dict[str, str]:
    known = {"process": document["process"], "pid": document["pid"], "model": document["basis"]["model"]}
    return {name: str(value) for name, value in known.items() if value is not None}
