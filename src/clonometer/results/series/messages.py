"""Messages of several sizes between two tasks: how long each takes, and how much a stream of them carries."""

from __future__ import annotations

from dataclasses import replace

from clonometer.results.rows.run_estimates import RunEstimates, cached_per_run
from clonometer.results.series.scans import Scan, scans_of, series_of
from clonometer.results.series_types import TASK_KIND, ScanSeries

_AXIS = "message_bytes"
_LATENCY, _STREAM, _BANDWIDTH = "latency_ns", "stream_ns", "bandwidth"
_LEAST_SIZES = 2
# Workload, what is off its default, temperature, placement.
_Line = tuple[object, ...]
# Latency and bandwidth of the same messages, and the scans that they were made from.
_Pair = tuple[tuple[ScanSeries, ScanSeries], tuple[Scan, Scan]]


def message_series(estimates: RunEstimates) -> tuple[ScanSeries, ...]:
    """Latency and bandwidth of messages between threads or processes, at the sizes at which both were measured.

    In the order of the plan, the latency before the bandwidth; empty where no message has both at two sizes.
    """
    return tuple(line for lines, _ in _pairs(estimates) for line in lines)


def paired_scans(estimates: RunEstimates) -> tuple[Scan, ...]:
    """The scans that `message_series` tells; others along the same axis are as any scan."""
    return tuple(scan for _, scans in _pairs(estimates) for scan in scans)


@cached_per_run
def _pairs(estimates: RunEstimates) -> tuple[_Pair, ...]:
    latencies, streams = (_by_line(estimates, quantity) for quantity in (_LATENCY, _STREAM))
    pairs = []
    for line, latency in latencies.items():
        if line in streams:
            lines = _latency_and_bandwidth(estimates, latency, streams[line])
            if len(lines[0].x) >= _LEAST_SIZES:
                pairs.append((lines, (latency, streams[line])))
    return tuple(pairs)


def _by_line(estimates: RunEstimates, quantity: str) -> dict[_Line, Scan]:
    """Scans of a quantity by whose messages they are of, and where."""
    scans: dict[_Line, Scan] = {}
    for scan in scans_of(estimates):
        first = scan.points[0]
        if scan.axis == _AXIS and first.quantity == quantity and TASK_KIND in first.condition:
            scans[first.workload, tuple(scan.condition.items()), first.temperature, first.free_placement] = scan
    return scans


def _latency_and_bandwidth(estimates: RunEstimates, latency: Scan, stream: Scan) -> tuple[ScanSeries, ScanSeries]:
    """Latency, and bandwidth: the size over the time of a message of a stream, in bytes per second."""
    times, streamed = series_of(estimates, latency), series_of(estimates, stream)
    # The longest time is the least bandwidth.
    medians, highs, lows = (
        tuple(size / time_ns * 1e9 if time_ns > 0 else 0.0 for size, time_ns in zip(streamed.x, ends, strict=True))
        for ends in (streamed.medians, streamed.lows, streamed.highs)
    )
    rates = replace(streamed, quantity=_BANDWIDTH, unit="B/s", medians=medians, lows=lows, highs=highs)
    measured = {size for size, rate in zip(rates.x, rates.medians, strict=True) if rate}
    both = measured & set(times.x)
    return _at(times, both), _at(rates, both)


def _at(line: ScanSeries, sizes: set[int]) -> ScanSeries:
    return line.at([index for index, size in enumerate(line.x) if size in sizes])


SERIES = {"messages": lambda estimates, _: message_series(estimates)}
DISTINGUISHABLE = (paired_scans,)
