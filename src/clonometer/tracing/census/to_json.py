"""The object that ``census --json`` prints."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from clonometer.tracing.census.call_sites import MISSING_STACKS, sites_to_json
from clonometer.tracing.census.executed import executed_to_json
from clonometer.tracing.census.savings import Saving
from clonometer.tracing.census.tally import PTRACE_SEES_NO_TIMES, TIMES, Census, Group
from clonometer.tracing.census.usage import PTRACE_TAKES_CPU, usage_to_json

CENSUS_SCHEMA = 2


def census_to_json(
    census: Census, command: Sequence[str], pid: int | None, savings: Sequence[Saving] = ()
) -> dict[str, Any]:
    """Turn a census into plain JSON values, valid against docs/schemas/census.schema.json."""
    ended = census.ended
    return {
        "schema": CENSUS_SCHEMA,
        "command": list(command) or None,
        "pid": pid,
        "how": census.how,
        "without": census.without,
        "times_missing": PTRACE_SEES_NO_TIMES if census.how == "ptrace" else None,
        "exit_status": ended["exit_status"] if command else None,
        "timed_out": ended["timed_out"],
        "interrupted": ended["interrupted"],
        "wall_ns": ended["wall_ns"],
        "tasks_created": census.created,
        "tasks_per_second": census.created / census.wall_s if census.wall_s > 0 else None,
        "still_running": census.running,
        "creating_ns": ended["creating_ns"] if census.how == "tracepoints" else None,
        "creating_share": census.creating_share,
        "own_faults": ended.get("own_faults"),
        "failed_calls": {errno.errorcode.get(int(number), number): n for number, n in ended["failed"].items()},
        "lost_events": ended["lost"],
        "buffer_bytes": ended["ring_bytes"] if census.how == "tracepoints" else None,
        "buffer_grown": ended["grown"],
        "unseen_ends": ended["unseen"],
        "executed": executed_to_json(census.executed.whole()),
        "stacks": _stacks_to_json(ended.get("stacks", {})),
        "calls_missing": ended.get("without_calls"),
        "usage_missing": PTRACE_TAKES_CPU if census.how == "ptrace" else ended.get("without_usage"),
        "without_privileges": ended.get("unprivileged"),
        "sites": sites_to_json(census.sites.by_cost()),
        "creators": [_group_to_json(group) for group in census.by_cost()],
        "savings": [_saving_to_json(saving) for saving in savings],
    }


def _stacks_to_json(stacks: Mapping[str, Any]) -> dict[str, Any]:
    """How call sites were found, and of how many tasks they are not known, by the reason."""
    return {
        "by": stacks.get("by"),
        "without": stacks.get("without") or None,
        "copied_bytes": stacks.get("copied_bytes"),
        "missing": {name: stacks[name] for name in MISSING_STACKS if stacks.get(name)},
    }


def _saving_to_json(saving: Saving) -> dict[str, Any]:
    return {
        "program": saving.group.creator,
        "mechanism": saving.group.mechanism,
        "created": saving.created,
        "making_ns": saving.making_ns,
        "instead": [asdict(way) for way in saving.instead],
    }


def _group_to_json(group: Group) -> dict[str, Any]:
    timed = bool(group.times["making_ns"])
    return {
        "program": group.creator,
        "mechanism": group.mechanism,
        "call": group.call,
        "flags": list(group.flag_names),
        "created": group.created,
        "execed": group.execed,
        "failed_execs": group.failed_execs,
        "still_running": group.running,
        "cost_ns": group.cost_ns if timed else None,
        "cpu_wait_ns": group.cpu_wait_ns if group.times["cpu_wait_ns"] else None,
        **{f"{name.removesuffix('_ns')}_median_ns": group.median_ns(name) for name in TIMES},
        "used": usage_to_json(group.used),
        "used_so_far": usage_to_json(group.used_so_far),
        "programs": dict(group.programs.most_common()),
    }
