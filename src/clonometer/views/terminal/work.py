"""A program's explanation as text: the conclusion, the gap part by part, what the CPUs did, what delays it."""

from __future__ import annotations

from collections.abc import Iterator

from clonometer.explain.work.types import WorkExplanation
from clonometer.views.explain_texts import why_no_closer
from clonometer.views.gaps import ablation_table
from clonometer.views.terminal.table import draw_table
from clonometer.views.terminal.text import clean, painted, rendered, wrap, wrap_each
from clonometer.views.work_texts import about, count_table, cpu_table, footnotes, life_table, sentences, sums


@rendered(least_width=40)
def render_work(explanation: WorkExplanation, *, width: int, colour: bool) -> Iterator[str]:
    """Write why threads and processes take different times."""
    title = wrap(f"Threads against processes at work: {clean(explanation.condition)}", width)
    yield from painted(title, "bold", colour)
    yield from wrap(clean(why_no_closer(explanation.tier) or ""), width, bullet="! ")
    yield from (*wrap(about(explanation), width), "")
    yield from painted(wrap(explanation.conclusion, width), "bold", colour)
    yield from ("", *draw_table(life_table(explanation), width, colour))
    yield from ("", *wrap(sums(explanation), width))
    if explanation.cpu_reasons:
        yield from ("", *draw_table(cpu_table(explanation), width, colour))
    if explanation.thread.counts:
        yield from ("", *draw_table(count_table(explanation), width, colour))
    if sentence_lines := wrap_each(sentences(explanation), width, bullet="- "):
        yield from ("", *sentence_lines)
    if explanation.ablation is not None:
        yield from ("", *draw_table(ablation_table(explanation.ablation), width, colour))
    yield from ("", *wrap_each(footnotes(explanation), width))
    yield from wrap_each(explanation.notes, width, bullet="! ")
