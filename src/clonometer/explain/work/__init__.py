"""Why workers that are threads and workers that are processes take different times: `explain_work`."""

from __future__ import annotations

from clonometer.explain.work.measure import WorkWish, explain_work, work_sides
from clonometer.explain.work.types import WorkExplanation

__all__ = ["WorkExplanation", "WorkWish", "explain_work", "work_sides"]
