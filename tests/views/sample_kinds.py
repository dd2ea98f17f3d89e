"""Results that have something to draw for every kind of figure of ours, and what is drawn of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.views.sample_results import with_switches
from tests.views.sample_tails import with_tails

from clonometer.results.series_types import AblationRung, AblationSeries, FitSeries, LanguageRow, ScanSeries, ServerRow
from clonometer.results.types import Results
from clonometer.views.figures import figures
from clonometer.views.figures.types import Panel

#: Kinds that have samples, so that none is lost unseen. A further kind joins with its samples.
SAMPLED = frozenset(
    (
        *("overview", "ecdf", "memory", "scan", "story", "footprint", "ring", "working_set", "messages"),
        *("gaps", "isolation", "contention", "fit", "ablation", "languages", "servers"),
    )
)


def with_all(results: Results) -> Results:
    """Add switches, messages, gaps, failing workers, contention, and workers with curves and an ablation."""
    whole = with_tails(with_switches(results))
    series = {**whole.series, "fits": FITS, "ablations": (ABLATION,), "languages": LANGUAGES, **SERVERS}
    return replace(whole, scans=[*whole.scans, *contended_scans(), *SCANS], series=series)


def need_samples(results: Results, kind: str) -> None:
    """Skip a test of a kind of figure that nobody has made samples for."""
    if not any(figure.rows(results) for figure in figures() if figure.kind == kind):
        pytest.skip(
            f"no sample results for figures of the kind {kind!r}: add some to {__name__}.with_all, and to SAMPLED"
        )


def panels_of(results: Results) -> dict[str, list[Panel]]:
    """The panels of each kind of figure that has something to draw."""
    drawn = {figure.kind: [panel for row in figure.rows(results) for panel in row.panels] for figure in figures()}
    return {kind: panels for kind, panels in drawn.items() if panels}


_LOAD = (("rate_hz", 500),)
SERVERS = {
    "servers": (
        ServerRow("serve.inline", _LOAD, 150_000.0, 900_000.0, 120_000.0, fell_behind=False),
        ServerRow("serve.fork", _LOAD, 330_000.0, None, 300_000.0, fell_behind=True),
    ),
    "server_rates": (
        ScanSeries(
            workload="serve.fork",
            family="server",
            axis="rate_hz",
            axis_kind="count",
            stage=None,
            quantity="p99_ns",
            temperature=None,
            placement=None,
            condition={},
            x=(100, 500, 2_000),
            medians=(4e5, 6e5, 8e7),
            lows=(4e5, 6e5, 8e7),
            highs=(4e5, 6e5, 8e7),
        ),
    ),
}


def contended_scan(workload: str, quantity: str = "op_ns", **condition: int | str) -> ScanSeries:
    return ScanSeries(
        workload=workload,
        family="contend",
        axis="workers",
        axis_kind="count",
        stage=None,
        quantity=quantity,
        temperature=None,
        placement=None,
        condition=condition,
        x=(1, 2, 8),
        medians=(10.0, 20.0, 90.0),
        lows=(9.0, 19.0, 80.0),
        highs=(11.0, 21.0, 99.0),
    )


def contended_scans() -> list[ScanSeries]:
    """Three operations by threads and by processes, in time and in CPU time."""
    return [
        contended_scan(workload, quantity, **condition)
        for workload, condition in (
            ("contend.mmap", {}),
            ("contend.mmap", {"vma_kind": "touched"}),
            ("contend.open", {}),
        )
        for kind in ({}, {"task_kind": "process"})
        for quantity in ("op_ns", "cpu_op_ns")
        for condition in [{**condition, **kind}]
    ]


def scan(kind: str, factor: float) -> ScanSeries:
    x = (1, 2, 3, 4, 8, 16)
    times = [factor * 1e6 * value for value in x]
    return ScanSeries(
        workload="work.factor",
        family="work",
        axis="workers",
        axis_kind="count",
        stage=None,
        quantity="whole_ns",
        temperature=None,
        placement=None,
        condition={"task_kind": kind, "numbers": 3000},
        x=x,
        medians=times,
        lows=[0.9 * time for time in times],
        highs=[1.1 * time for time in times],
    )


def fit(kind: str, factor: float) -> FitSeries:
    return FitSeries(
        workload="work.factor",
        family="work",
        quantity="whole_ns",
        axis="workers",
        condition={"task_kind": kind, "numbers": 3000},
        points=(3, 4, 8, 16),
        coefficients=((1000.0, -4000.0, 6000.0), (factor * 1e6, factor * 0.9e6, factor * 1.1e6)),
        r_squared=(0.987, 0.975, 0.992),
        n_values=48,
        x=(3.0, 16.0),
        y_ns=(factor * 3e6, factor * 16e6),
    )


SCANS = (scan("thread", 1.2), scan("process", 1.0))
FITS = (fit("thread", 1.2), fit("process", 1.0))
_TIMES = {"C": (9e3, 8e3, 1e4), "python": (3e4, 2.9e4, 3.2e4), "java_25_0": (7e4, 6e4, 8e4)}
LANGUAGES = (
    LanguageRow("thread", "a thread", {}, "warm", _TIMES),
    LanguageRow("thread", "a thread", {}, "cold", {"python": (4e6, 1e6, 9e6)}),
    LanguageRow("command", "a command", {"parent_bytes": 64 << 20}, "warm", {"python": (5e5, 4e5, 6e5)}),
)
ABLATION = AblationSeries(
    workload="work.factor",
    quantity="whole_ns",
    axis="task_kind",
    sides=("thread", "process"),
    condition={"output": "shared_stream"},
    rungs=(
        AblationRung(None, None, 30e6, 20e6, (10e6, 9e6, 11e6), (0.5, 0.45, 0.55), None, None),
        AblationRung(
            "output", "worker_file", 24e6, 20e6, (4e6, 3e6, 5e6), (0.2, 0.15, 0.25), (6e6, 5e6, 7e6), (0.6, 0.5, 0.7)
        ),
        AblationRung(
            "counters", "padded", 19e6, 20e6, (-1e6, -2e6, 0.0), (-0.05, -0.1, 0.0), (5e6, 4e6, 6e6), (0.5, 0.4, 0.6)
        ),
    ),
    remainder_share=(-0.1, -0.2, 0.0),
    n_processes=24,
)
