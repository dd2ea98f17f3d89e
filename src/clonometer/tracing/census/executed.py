"""The programs that tasks executed, as a tree: which program executed which, how often, and how long they lived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: Nobody reads a deeper tree; what lies deeper stands beside the last level.
_DEEPEST = 16
#: A program that makes ever new programs must not fill the memory with their names.
_MOST_NODES = 10_000
#: Creators whose end has not come.
_MOST_WAITING = 10_000


@dataclass
class Executed:
    """Tasks that executed one program below the same programs; ``life_ns`` is the sum of those that have ended."""

    times: int = 0
    life_ns: int = 0
    below: dict[str, Executed] = field(default_factory=dict)
    #: Levels below it.
    height: int = 0


@dataclass
class ExecutedTree:
    """Filled by `take`, task by task as they end: what was made before its creator ended waits for it."""

    _waiting: dict[int, dict[str, Executed]] = field(default_factory=dict)
    _nodes: int = 0

    def take(self, line: Mapping[str, Any]) -> None:
        """Add a task: a line of the census with ``tid``, ``creator``, ``execs``, ``program`` and ``life_ns``."""
        below = self._waiting.pop(line["tid"], {})
        executes = line["execs"] > 0 and line["program"] is not None
        if not executes and not below:
            return
        if len(self._waiting) >= _MOST_WAITING:
            # Most of their creators had ended before: nothing will come for what they executed.
            self.whole()
        beside = self._waiting.setdefault(line["creator"], {})
        if not executes:
            self._join(beside, below)
            return
        known = beside.get(line["program"])
        if not below and known is not None:
            known.times += 1
            known.life_ns += line["life_ns"] or 0
            return
        self._take_tree(line, beside, below)

    def _take_tree(self, line: Mapping[str, Any], beside: dict[str, Executed], below: Mapping[str, Executed]) -> None:
        each = Executed(1, line["life_ns"] or 0)
        if max((node.height for node in below.values()), default=0) < _DEEPEST:
            self._join(each.below, below)
            each.height = 1 + max((node.height for node in below.values()), default=-1)
        else:
            self._join(beside, below)
        self._nodes += 1
        self._join(beside, {line["program"]: each})

    def _join(self, into: dict[str, Executed], nodes: Mapping[str, Executed]) -> None:
        for program, node in nodes.items():
            known = into.get(program)
            if known is None:
                if self._nodes <= _MOST_NODES:
                    into[program] = node
                continue
            known.times += node.times
            known.life_ns += node.life_ns
            known.height = max(known.height, node.height)
            self._nodes -= 1
            self._join(known.below, node.below)

    def whole(self) -> dict[str, Executed]:
        """The programs that the census's own program executed, with those below; and those whose creators are gone."""
        whole: dict[str, Executed] = {}
        for nodes in self._waiting.values():
            self._join(whole, nodes)
        self._waiting = {0: whole}
        return whole


def executed_to_json(nodes: Mapping[str, Executed]) -> list[dict[str, Any]]:
    """Turn programs and what is below them into plain JSON values, those that lived longest first."""
    ordered = sorted(nodes.items(), key=lambda item: (-item[1].life_ns, -item[1].times, item[0]))
    return [
        {
            "program": program,
            "times": node.times,
            "life_ns": node.life_ns or None,
            "executed": executed_to_json(node.below),
        }
        for program, node in ordered
    ]
