"""Every figure of a run, once: pictures stack its panels, the page embeds them, the command line lists them.

A figure more is an entry more in the ``FIGURES`` of one of these modules: its kind, its words, and how its panels
come from the results.
"""

from __future__ import annotations

from clonometer.views.figures import launches, scanned, tasks, work
from clonometer.views.figures.types import Figure

#: In the order of the page.
FIGURES: tuple[Figure, ...] = (*launches.FIGURES, *work.FIGURES, *tasks.FIGURES, *scanned.FIGURES)
