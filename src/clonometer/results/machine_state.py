"""The state of the machine while a run was measured, in one word, with what it did to the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from clonometer.families import is_launch
from clonometer.results.rows.alone import Cores
from clonometer.results.types import Estimate, MachineState, MachineWord

#: Below this share of the time a neighbour is no news: any machine has some.
_LEAST_SHARED = 0.1
#: Nor is one beside whom launches take hardly longer.
_LEAST_EFFECT = 1.05
#: Load for each CPU from which on others surely ran while we began.
_BUSY = 1.0
#: Load for each CPU from which on they take it within launches, which no addition tells.
_NOISY = 2.0


def say_load(host: Mapping[str, Any]) -> str:
    """Say the load when measuring began, where it kept every CPU busy; else nothing."""
    if _load_each(host) < _BUSY:
        return ""
    return f"load {host['load.one_minute']:.1f} on {host['cpu.online']} CPUs"


def _load_each(host: Mapping[str, Any]) -> float:
    """The load for each CPU when measuring began; 0 where it is not known."""
    load, cpus = host.get("load.one_minute"), host.get("cpu.online")
    return load / cpus if isinstance(load, int | float) and isinstance(cpus, int) and cpus else 0.0


def machine_state(host: Mapping[str, Any], cells: Sequence[Estimate], cores: Cores | None) -> MachineState | None:
    """Say in what state the machine was, by the additions beside each launch and the load when measuring began.

    None where neither tells anything: older runs have no additions.
    """
    load = say_load(host)
    sensed = [(row, row.alone) for row in cells if row.alone is not None and not row.detail]
    if cores is None or not sensed:
        if not load:
            return None
        text = f"{MachineWord.BUSY}: {load}: other work may have made these times longer"
        return MachineState(MachineWord.BUSY, text, None, None, 0, 0)
    counted = sum(alone.counted for _, alone in sensed)
    takes = [alone.others_take for row, alone in sensed if alone.others_take and is_launch(row.family)]
    others_take = median(takes) if takes else None
    share = cores.share_shared
    is_shared = share >= _LEAST_SHARED and (others_take is None or others_take >= _LEAST_EFFECT)
    word = MachineWord.BUSY if load or is_shared else MachineWord.QUIET
    texts = [_say_shared(share, others_take, counted, len(sensed)), load]
    if not is_shared:
        texts = [load or f"the core was shared in {share:.0%} of the time"]
    is_crowded = _load_each(host) >= _NOISY
    if is_crowded:
        texts = [f"{load}: other programs take the CPU within launches", *(text for text in texts if text != load)]
    if is_crowded or (is_shared and 2 * counted < len(sensed)):
        word = MachineWord.NOISY
    text = f"{word}: {'; '.join(filter(None, texts))}"
    return MachineState(word, text, share, others_take, counted, len(sensed))


def _say_shared(share: float, others_take: float | None, counted: int, rows: int) -> str:
    text = f"the core was shared in {share:.0%} of the time"
    if others_take is None:
        return text
    effect = f"and are left out of {counted} of {rows} rows" if counted else "and too few had it to themselves"
    if counted == rows:
        effect = "and are left out"
    return f"{text}: such launches take {others_take:.1f} times as long, {effect}"
