"""Every answer's document in all three forms."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from tests.views.sample_documents import DOCUMENTS, SAMPLES, strange

from clonometer.views.document import Document, DocumentBlock, Heading, Paragraph, TableBlock
from clonometer.views.html.document import render_document_page
from clonometer.views.markdown import render_markdown
from clonometer.views.terminal.document import render_document
from clonometer.views.terminal.text import clean


class Page(HTMLParser):
    """The texts, tags and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]


def blocks(document: Document) -> list[DocumentBlock]:
    return [block for group in document.groups for block in group]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_an_answer_is_whole_in_all_three_forms(name: str) -> None:
    document = DOCUMENTS[name]()
    terminal = " ".join(render_document(DOCUMENTS[name], width=2000).split())
    page = " ".join("".join(Page(render_document_page(document)).texts).split())
    markdown = " ".join(re.sub(r"\\(.)", r"\1", render_markdown(document)).split())
    assert clean(document.title) in page
    assert clean(document.title) in markdown
    assert document.lead
    assert page.count(clean(document.lead)) == 1
    assert "nan" not in f"{page} {markdown}".lower().split()
    sentences = [block.text for block in blocks(document) if isinstance(block, (Heading, Paragraph))]
    cells = [
        text
        for block in blocks(document)
        if isinstance(block, TableBlock)
        for row in block.table.rows
        for text in row
        if text and name != "strange"
    ]
    assert sentences
    for text in map(clean, [*sentences, *cells]):
        assert [form for form in (terminal, page, markdown) if " ".join(text.split()) not in form] == [], text


def test_what_strangers_say_is_text_and_nothing_else() -> None:
    text = render_document_page(strange())
    page = Page(text)
    assert "img" not in page.tags
    assert "script" not in page.tags  # It draws nothing, and so has none of its own.
    assert [name for name in page.attributes if name.startswith("on")] == []
    text.encode("utf-8")
    assert "\x1b" not in text
    markdown = render_markdown(strange())
    markdown.encode("utf-8")
    # What is folded stands between elements of our own.
    text = re.sub(r"(?m)^(<details><summary>(.*)</summary>|</details>)$", r"\2", markdown)
    prose = [line for line in text.splitlines() if not line.startswith("    ")]
    assert prose
    assert re.findall(r"(?<!\\)[<`\[]", "\n".join(prose)) == []
    rows = [line for line in prose if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} <= {3, 4}


# Headings and the names of entries, which are not wrapped, are never a stranger's.
@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "strange"])
@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_line_is_longer_than_the_terminal_but_commands(name: str, width: int) -> None:
    for document in {id(form): form for form in (SAMPLES[name].short, SAMPLES[name].document)}.values():
        text = render_document(lambda form=document: form, width=width)
        lines = [line for line in text.splitlines() if not re.match(r" *\$ ", line)]
        assert max(map(len, lines)) <= max(width, document.least_width)
        assert "\x1b" not in text
        assert not re.search(r"\b(nan|None)\b", text)
        assert render_document(lambda form=document: form, width=width, ascii_only=True).isascii()
