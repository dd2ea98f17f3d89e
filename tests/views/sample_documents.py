"""A document of each answer, and one in which everything is said by strangers."""

from __future__ import annotations

from tests.views.test_noise import noise

from clonometer.views.document import (
    BulletList,
    Commands,
    CommentedTables,
    Document,
    Fold,
    Heading,
    NamedText,
    NamedTexts,
    Note,
    Paragraph,
    TableBlock,
)
from clonometer.views.documents.noise import noise_document
from clonometer.views.table import Column, Table

#: What would run as a script, be a link or an image, or end a table's cell, if it were not escaped; and what no file
#: of text can hold.
STRANGE = "<script>alert(1)</script> [x](javascript:alert) `a` | <img src=x onerror=alert(1)> \x1b[31m \udcff & **b**"


def strange() -> Document:
    table = Table([Column("", [STRANGE], least=12), Column("<b>head</b>", [STRANGE])], STRANGE, STRANGE)
    entries = NamedTexts([NamedText(STRANGE, STRANGE, STRANGE, STRANGE)], 20)
    blocks = [Paragraph(STRANGE, "bad"), BulletList([STRANGE]), Note(STRANGE), Commands([STRANGE]), TableBlock(table)]
    commented = CommentedTables([table], [[[STRANGE]]], [STRANGE])
    return Document(
        STRANGE, STRANGE, f"lead: {STRANGE}", [[Heading(STRANGE), *blocks], [entries, commented, Fold(STRANGE, blocks)]]
    )


#: Makes the document of each answer.
DOCUMENTS = {
    "strange": strange,
    "noise": lambda: noise_document(noise(), wide=True),
}
