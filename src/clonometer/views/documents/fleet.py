"""A fleet: in what its hosts differ, then a table for each group."""

from __future__ import annotations

from clonometer.dataset.types import FleetShown
from clonometer.views.document import Document, DocumentBlock, Heading, Hint, Note, Paragraph, TableBlock
from clonometer.views.fleet import few_hosts, fleet_table, group_text, hosts_text, odd_text, reading_notes, reading_text
from clonometer.views.fleet_picture import host_charts
from clonometer.views.rows import first_ranked, is_part
from clonometer.views.terminal.text import wide_adds
from clonometer.words import counted

SHORT_ROWS = 9
SHORT_GROUPS = 4
SHORT_ODD = 5


def fleet_document(shown: FleetShown, *, wide: bool = False) -> Document:
    """Make a document of what the hosts of a fleet measured: in what they differ, then a table a group.

    ``wide``: every group, every row, every odd host, and charts, if ``shown`` has its hosts' values.
    """
    lead = hosts_text(shown)
    odd = shown.odd_hosts if wide else shown.odd_hosts[:SHORT_ODD]
    several = len(shown.groups) > 1
    differing: list[DocumentBlock] = [*(Note(odd_text(host, several)) for host in odd), *host_charts(shown)]
    groups: list[list[DocumentBlock]] = [
        [Paragraph(lead, "bold"), Paragraph(reading_text(shown.reading)), *map(Note, reading_notes(shown.reading))],
        [Heading("What differs between hosts"), *differing] if differing else [],
    ]
    chosen_groups = shown.groups if wide else shown.groups[:SHORT_GROUPS]
    hidden_rows = 0
    for group in chosen_groups:
        rows = [row for row in shown.rows if row.group == group.name]
        # Whole launches, and what has no stages, before parts of launches.
        chosen = rows if wide else first_ranked(rows, lambda row: is_part(row.label.stage), SHORT_ROWS)
        hidden_rows += len(rows) - len(chosen)
        table = TableBlock(fleet_table(chosen)) if rows else Paragraph("Nothing was measured there.")
        groups.append([Heading(group_text(group), link=group.name), table])
    hidden = wide_adds(
        (len(shown.groups) - len(chosen_groups), "group"),
        (hidden_rows, "row"),
        (len(shown.odd_hosts) - len(odd), "odd host"),
    )
    groups.append([*map(Hint, hidden), Paragraph(few_hosts(shown.reading))])
    title = f"What tasks cost on {counted(shown.reading.n_hosts, 'host')}"
    return Document("fleet", title, lead, groups, least_width=60)
