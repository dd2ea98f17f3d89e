"""A small plan of one condition, for tests of what is done with a run."""

from __future__ import annotations

from pathlib import Path


def write_small_plan(
    path: Path,
    workload: str = "launch.vfork",
    *,
    budget_s: float = 1,
    processes: int = 4,
    samples: int = 50,
    blocks: int = 1,
) -> None:
    path.write_text(
        f"""
        schema = 1
        title = "Small"
        budget_seconds = {budget_s}
        [[cells]]
        workloads = ["{workload}"]
        temperature = ["warm"]
        limits = {{processes = {processes}, samples = {samples}, blocks = {blocks}}}
        """,
        encoding="utf-8",
    )
