"""A reproduction: who is right where the studies contradict each other, then each study's claims and figures."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from clonometer.studies.published import Study
from clonometer.studies.types import DECIDES, ClaimEntry, FigureEntry, Reconciliation, Reproduction
from clonometer.verdicts import Status
from clonometer.views.document import (
    BulletList,
    Commands,
    Document,
    DocumentBlock,
    FigureBlock,
    Fold,
    Heading,
    Hint,
    JudgedStatement,
    Paragraph,
    TableBlock,
    Tone,
)
from clonometer.views.figures.types import Panel
from clonometer.views.studies import (
    STEP_WORDS,
    busy_text,
    condition_table,
    counts_text,
    effect_lines,
    figure_table,
    number_text,
    reversal_text,
    right_text,
    short_claim_table,
    short_figure_table,
    status_text,
    why_text,
)
from clonometer.views.study_figures import figure_specs
from clonometer.views.types import Spec

_TONES: dict[Status, Tone] = {
    Status.HOLDS: "good",
    Status.HOLDS_IN_DIRECTION: "good",
    Status.DEPENDS: "warn",
    Status.FAILS: "bad",
}
_FACTS = {"cpu.model": "{}", "cpu.allowed": "{} CPUs", "kernel.release": "Linux {}"}


def studies_document(reproduction: Reproduction, *, wide: bool = False) -> Document:
    """Make a document of a reproduction: ``wide``: all evidence, else a line for each claim and figure."""
    if reproduction.alone:
        return _of_single_items(reproduction, wide=wide)
    first, *others = reproduction.studies
    title = "The studies, reproduced and reconciled" if others else f"{first.id}, reproduced"
    lead = " ".join(filter(None, [busy_text(reproduction), counts_text(reproduction)]))
    groups: list[list[DocumentBlock]] = [[Paragraph(title, "bold"), Paragraph(lead)]]
    if reproduction.flips:
        groups.append([Heading("Where the studies contradict each other", link="Contradictions")])
        groups += [_contradiction(flip, reproduction, wide=wide) for flip in reproduction.flips]
    for study in reproduction.studies:
        groups += _study(study, reproduction) if wide else _study_in_short(study, reproduction)
    measured = [Paragraph(text) for text in (_host(reproduction), *reproduction.notes) if text]
    groups.append([Heading("How it was measured"), *measured] if wide else [*map(Paragraph, reproduction.notes)])
    hint = "--wide shows the evidence for each line; --html FILE writes it as a page."
    return Document("studies", title, lead, [*groups, [] if wide else [Hint(hint)]])


def _host(reproduction: Reproduction) -> str:
    host = reproduction.host
    words = [form.format(host[key]) for key, form in _FACTS.items() if host.get(key)]
    return ", ".join([*words, *(["short form (--quick)"] if reproduction.quick else [])])


def _of_single_items(reproduction: Reproduction, *, wide: bool) -> Document:
    busy = busy_text(reproduction)
    groups: list[list[DocumentBlock]] = [[Paragraph(busy, "warn")]]
    for entry in reproduction.entries:
        if isinstance(entry, ClaimEntry):
            groups.append([_claim(entry, f"{entry.item.id}, {entry.item.study}:", wide=wide)])
        else:
            groups.append(_figure(entry, next(each for each in reproduction.studies if each.id == entry.item.study)))
    title = f"{', '.join(item.id for item in reproduction.items)}, reproduced"
    return Document("studies", title, busy, [*groups, [*map(Paragraph, reproduction.notes)]])


def _figure(entry: FigureEntry, study: Study) -> list[DocumentBlock]:
    item, step = entry.item, entry.next
    text = f"{item.id}, {item.study}: {item.text}"
    blocks: list[DocumentBlock] = [Paragraph(text), TableBlock(figure_table(entry.values, study))]
    return blocks if step is None else [*blocks, Paragraph(f"{STEP_WORDS[step.does]}:"), Commands([step.command])]


def _contradiction(flip: Reconciliation, reproduction: Reproduction, *, wide: bool) -> list[DocumentBlock]:
    """What the ledger says of each side, and what reverses the contradiction."""
    verdicts = {entry.item.id: entry.verdict for entry in reproduction.entries}
    statement = JudgedStatement(
        "",
        flip.pairing.title,
        right_text(flip, verdicts),
        "",
        "",
        reversal_text(flip),
        "" if flip.next is None else STEP_WORDS[flip.next.does],
        "" if flip.next is None else flip.next.command,
    )
    if not wide:
        return [statement]
    tried = f"All {len(flip.pairs)} comparisons; {len(flip.reversed_by)} against the rest"
    return [
        statement,
        Paragraph(flip.sentence),
        Fold("What each condition changes", [BulletList(effect_lines(flip) or ["Nothing was tried."])], True),
        Fold(tried, [TableBlock(condition_table(flip))]),
    ]


def _heading(study: Study) -> list[DocumentBlock]:
    link = f"{study.author.split()[-1]} {study.year}" if study.year else study.id
    return [
        Heading(f"{study.author}: {study.title}", link=link),
        Paragraph(f"{study.id}: {study.source}. {study.method}"),
    ]


def _study_in_short(study: Study, reproduction: Reproduction) -> list[list[DocumentBlock]]:
    claims, figures = reproduction.claims(study.id), reproduction.figures(study.id)
    # The command that shows it reversed stands above, with the contradiction.
    first = [
        _claim(
            claim if step is not None and step.does == DECIDES else replace(claim, next=None),
            study.headline,
            wide=False,
        )
        for claim in claims
        for step in [claim.next]
        if claim.item.id == study.headline
    ]
    others = [claim for claim in claims if claim.item.id != study.headline]
    return [
        [*_heading(study), *first],
        [TableBlock(short_claim_table(others))] if others else [],
        [TableBlock(short_figure_table(figures, study))] if figures else [],
    ]


def _study(study: Study, reproduction: Reproduction) -> list[list[DocumentBlock]]:
    rows = reproduction.rows(study.id)
    panels = [_panel(name, spec) for name, spec in figure_specs(reproduction) if name.startswith(study.id)]
    claims: list[list[DocumentBlock]] = [
        [_claim(claim, claim.item.id, wide=True)] for claim in reproduction.claims(study.id)
    ]
    return [
        _heading(study),
        *claims,
        [TableBlock(figure_table(rows, study, title="Its figures, and those measured here"))] if rows else [],
        [FigureBlock("", "", panels)] if panels else [],
    ]


def _panel(name: str, spec: Spec) -> Panel:
    alt = str(spec["description"])
    drawn = {key: value for key, value in spec.items() if key != "title"}
    return Panel(name, str(spec["title"]), alt, partial(dict, drawn), tall=False, caption=alt)


def _claim(claim: ClaimEntry, name: str, *, wide: bool) -> JudgedStatement:
    """A claim with its verdict and the number that decided, why in a sentence, and the evidence if that is wanted."""
    verdict, step = claim.verdict, claim.next
    number = number_text(verdict)
    return JudgedStatement(
        name,
        claim.item.text,
        status_text(verdict),
        _TONES.get(verdict.status, ""),
        f"{number}{' of ' if number.endswith(' ms') else ', '}{verdict.effect_is}"
        if number and verdict.effect is not None and not verdict.counted
        else number,
        why_text(claim),
        "" if step is None else STEP_WORDS[step.does],
        "" if step is None else step.command,
        verdict.reason if wide and verdict.reason != why_text(claim) else "",
        verdict.evidence if wide else (),
    )
