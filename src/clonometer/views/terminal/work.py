"""A program's explanation as text: the conclusion, the gap part by part, what the CPUs did, what delays it."""

from __future__ import annotations

from clonometer.explain.work.types import WorkExplanation
from clonometer.views.explain_texts import why_no_closer
from clonometer.views.gaps import ablation_table
from clonometer.views.terminal.table import draw_table
from clonometer.views.terminal.text import clean, elide, page, paint, wrap
from clonometer.views.work_texts import about, count_table, cpu_table, footnotes, life_table, sentences, sums


def render_work(one: WorkExplanation, *, width: int, colour: bool, ascii_only: bool) -> str:
    """Write why threads and processes take different times."""
    title = wrap(f"Threads against processes at work: {clean(one.condition)}", width)
    lines = [paint(elide(line, width), "bold", colour) for line in title]
    why = why_no_closer(one.tier)
    lines += wrap(clean(why), width, bullet="! ") if why is not None else []
    lines += [*wrap(about(one), width), "", *(paint(line, "bold", colour) for line in wrap(one.conclusion, width)), ""]
    lines += draw_table(life_table(one), width, colour)
    lines += ["", *wrap(sums(one), width)]
    if one.cpu_reasons:
        lines += ["", *draw_table(cpu_table(one), width, colour)]
    if one.thread.counts:
        lines += ["", *draw_table(count_table(one), width, colour)]
    told = [line for text in sentences(one) for line in wrap(clean(text), width, bullet="- ")]
    lines += ["", *told] if told else []
    if one.ablation is not None:
        lines += ["", *draw_table(ablation_table(one.ablation), width, colour)]
    lines += ["", *(line for text in footnotes(one) for line in wrap(clean(text), width))]
    lines += [line for note in one.notes for line in wrap(note, width, bullet="! ")]
    return page((line.rstrip() for line in lines), ascii_only=ascii_only)
