"""Drivers of languages: which can measure here, and what the others lack."""

from __future__ import annotations

from clonometer.launch_paths.drivers import FAILED, MISSING, NOT_BUILT, READY, LanguageDriver, LanguageDrivers
from clonometer.views.document import Commands, Document, DocumentBlock, Fold, Heading, Paragraph, TableBlock
from clonometer.views.table import MISSING as NO_TEXT
from clonometer.views.table import Column, Table
from clonometer.views.terminal.text import clean
from clonometer.words import counted

_STYLES = {READY: "good", FAILED: "bad"}
_MOST_SHOWN = 72


def languages_document(answer: LanguageDrivers) -> Document:
    """Make a document of what ``drivers`` answers."""
    counts = answer.counts
    usable = {each.language for each in answer.drivers if each.status in (READY, NOT_BUILT)}
    lead = f"{counted(len(usable), 'language')} can be measured here, {counts[MISSING]} missing"
    lead += f", {counts[FAILED]} could not be built." if counts[FAILED] else "."
    groups: list[list[DocumentBlock]] = [[Paragraph(lead, "bold")], [TableBlock(_languages_table(answer))]]
    for each in answer.drivers:
        if each.status == FAILED:
            what = f"{each.language} {each.version}: what the toolchain said"
            lines = [Paragraph(clean(line)) for line in (each.reason or "").splitlines()]
            groups.append([Heading(what, "bad"), Fold("message", lines, wished=True)])
    if usable:
        groups.append([Paragraph("To measure them:"), Commands(["clonometer run --plan runtimes"])])
    return Document("drivers", "Languages whose launches can be measured", lead, groups)


def _languages_table(answer: LanguageDrivers) -> Table:
    drivers = answer.drivers
    return Table(
        [
            Column("name", [each.name for each in drivers], code=True),
            Column("language", [each.language for each in drivers]),
            Column("version", [clean(each.version or NO_TEXT) for each in drivers]),
            Column("state", [each.status for each in drivers]),
            Column("", [_in_short(each) for each in drivers], least=20, most=_MOST_SHOWN),
        ],
        row_styles=[_STYLES.get(each.status) for each in drivers],
    )


def _in_short(each: LanguageDriver) -> str:
    lines = (each.reason or each.program or "").splitlines()
    return clean(next((line for line in lines if "error" in line.lower()), lines[-1] if lines else ""))
