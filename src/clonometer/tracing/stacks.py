"""Samples of the kernel's stacks, folded: one line for each stack that was seen, with its count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from itertools import takewhile

from clonometer.answers import Trace
from clonometer.tracing.launches import launches_of

# From here on up, a word of a stack is a mark and no address (enum perf_callchain_context).
_MARKS = (1 << 64) - 4096
_USER = (1 << 64) - 512


def fold(trace: Trace, symbol: Callable[[int], str]) -> Mapping[str, int]:
    """Count stacks of samples that were taken within launches.

    ``parent;outermost;...;innermost`` -> samples, most frequent first; a sample in user code has ``[user code]`` in
    the place of the kernel's functions.
    """
    spans = [(launch.start_ns, launch.end_ns) for launch in launches_of(trace)]
    folded: Counter[str] = Counter()
    name_of = cache(symbol)
    position = 0
    samples = trace.events[trace.events["kind"] == trace.kinds.index("sample")]
    columns = [samples[name].tolist() for name in ("time_ns", "task", "values")]
    for time_ns, task, values in zip(*columns, strict=True):
        while position < len(spans) and spans[position][1] < time_ns:
            position += 1
        if position == len(spans) or spans[position][0] > time_ns:
            continue
        words = trace.stacks[values[0] : values[0] + values[1]].tolist()
        frames = [name_of(word) for word in takewhile(lambda word: word != _USER, words) if word < _MARKS]
        who = "parent" if task == trace.task else "child"
        folded[";".join([who, *(reversed(frames) if frames else ["[user code]"])])] += 1
    return dict(folded.most_common())
