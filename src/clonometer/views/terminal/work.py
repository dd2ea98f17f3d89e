"""A program's explanation as text: the conclusion, the gap part by part, what the CPUs did, what delays it."""

from __future__ import annotations

from clonometer.explain.work.types import WorkExplanation
from clonometer.views.explain_texts import why_no_closer
from clonometer.views.gaps import ablation_table
from clonometer.views.terminal.table import draw_table
from clonometer.views.terminal.text import clean, elide, page, paint, wrap
from clonometer.views.work_texts import about, count_table, cpu_table, footnotes, life_table, sentences, sums


def render_work(explanation: WorkExplanation, *, width: int, colour: bool, ascii_only: bool) -> str:
    """Write why threads and processes take different times."""
    title = wrap(f"Threads against processes at work: {clean(explanation.condition)}", width)
    lines = [paint(elide(line, width), "bold", colour) for line in title]
    why = why_no_closer(explanation.tier)
    lines += wrap(clean(why), width, bullet="! ") if why is not None else []
    lines += [
        *wrap(about(explanation), width),
        "",
        *(paint(line, "bold", colour) for line in wrap(explanation.conclusion, width)),
        "",
    ]
    lines += draw_table(life_table(explanation), width, colour)
    lines += ["", *wrap(sums(explanation), width)]
    if explanation.cpu_reasons:
        lines += ["", *draw_table(cpu_table(explanation), width, colour)]
    if explanation.thread.counts:
        lines += ["", *draw_table(count_table(explanation), width, colour)]
    sentence_lines = [line for text in sentences(explanation) for line in wrap(clean(text), width, bullet="- ")]
    lines += ["", *sentence_lines] if sentence_lines else []
    if explanation.ablation is not None:
        lines += ["", *draw_table(ablation_table(explanation.ablation), width, colour)]
    lines += ["", *(line for text in footnotes(explanation) for line in wrap(clean(text), width))]
    lines += [line for note in explanation.notes for line in wrap(note, width, bullet="! ")]
    return page((line.rstrip() for line in lines), ascii_only=ascii_only)
