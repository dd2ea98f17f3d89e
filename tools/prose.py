"""What people read is plain English: sentences of 25 words at most, and no words that only this house uses so.

Reads every page of Markdown, the golden file of findings and warnings, and the texts in the sources: help, errors,
what `doctor` says, pages, the catalogue of the drivers, titles of plans. proselint
(.proselintrc.json) looks for the rest.

Usage: python -m tools.prose [FILE...]
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

MOST_WORDS = 25
#: What a reader stumbles over, and what to write instead.
AVOID = {
    r"told apart": "cannot tell a difference between",
    r"told from": "different from",
    r"\boftener": "more often",
    r"kinds? of process\b": "condition",
    r"\b(?:is|are) said\b": "the subject that says it: `the table says`",
    r"\bof it (?:is|are|was)\b": "`its`, or the noun",
    r"\bwhereof|\bthereof|\bthereby|\bwherein\b": "two sentences",
    r"\bnot seen to\b": "`does not`, or `no effect was found`",
    r"\bcompared is\b": "the usual word order",
    r"\b(?:is|are|be|was|were) told\b": "the subject that tells it",
    r"\btells? of\b": "shows, reports",
    r"\bbut for\b": "except",
    r"\bfor ever\b": "always, for good",
    r"\bsome \d": "about",
    r"\bheeds?\b": "obeys, reacts to",
    r"\bdear(?:er|est)\b": "expensive",
    r"(?<!`)\bmoments\b": "runs, or the noise between runs",
    r"\bso many\b": "that many, or the number",
}
GOLDEN = "tests/snapshots/findings/*.txt"
#: Their literals are read; of other files everything is.
SOURCES = {".py", ".c", ".cpp", ".def", ".toml"}
_BLOCKS = (
    re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL),
    re.compile(r"<!--.*?-->", re.DOTALL),
    # Headings, the rule below the head of a table, and the figures that stand under a golden sentence.
    re.compile(r"^(?: {4}(?:ratio|cells): .*|\|[-| ]+|#.*|={3}.*)$", re.MULTILINE),
)
_TABLE_ROW = re.compile(r"^\|.*$", re.MULTILINE)
_CELL_END = re.compile(r"(?<!\\)\|")
#: What a template is made of besides its text; a tag within a sentence ends none.
_TEMPLATE = (
    (
        re.compile(
            r"\{#.*?#\}|\{%.*?%\}|<(script|style).*?</\1>|</?(?:a|abbr|b|code|em|i|span|strong)\b[^>]*>", re.DOTALL
        ),
        "",
    ),
    (re.compile(r"\{\{.*?\}\}", re.DOTALL), "X"),
    (re.compile(r"<[^>]*>"), "\n\n"),
)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_QUOTED = r'"(?:[^"\\\n]|\\.)*"'
#: Literals that follow each other are one text, as for the compiler.
_QUOTED_IN_A_ROW = re.compile(rf"{_QUOTED}(?:\s*{_QUOTED})*")
_INDENTED_CODE = re.compile(r"^ {4}.*$", re.MULTILINE)
_ASIDE = re.compile(r"\s*\([^()]*\)")
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+[.)]) )")
_END = re.compile(r"(?<=[.!?:;])[*_`\"]*\s+")


def sentences(text: str, *, markdown: bool = True) -> Iterator[str]:
    """Give the sentences of a text: a colon and a semicolon end one, since a reader pauses there.

    Parameters
    ----------
    text
        Of a page, of the golden file, or in a source. Blocks of code and headings are left out, as are asides in
        brackets; a cell of a table is a paragraph.
    markdown
        Whether indented lines are code.
    """
    for pattern in (*_BLOCKS, *([_INDENTED_CODE] if markdown else [])):
        text = pattern.sub("\n", text)
    text = _TABLE_ROW.sub(lambda row: _CELL_END.sub("\n\n", row[0]), text)
    while text != (without := _ASIDE.sub("", text)):
        text = without
    for paragraph in (_PARAGRAPH.split if markdown else str.splitlines)(text):
        yield from _END.split(" ".join(paragraph.split()))


def texts_of_python(source: str) -> Iterator[tuple[int, str]]:
    """Give each literal of a module with its line; what is filled in is `...`. Docstrings are for who reads sources."""
    tree = ast.parse(source)
    apart: set[ast.AST] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant() as docstring):
                apart.add(docstring)
            case ast.JoinedStr(values=parts):
                apart |= set(parts)
            # A list of names, written as one text.
            case ast.Attribute(value=ast.Constant() as names, attr="split"):
                apart.add(names)
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str() as text) if node not in apart:
                yield node.lineno, text
            case ast.JoinedStr(values=parts):
                yield node.lineno, "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in parts)


def texts_of_c(source: str) -> Iterator[tuple[int, str]]:
    """Give each literal of a source in C, or in anything that quotes like it, with its line."""
    code = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), source)
    for match in _QUOTED_IN_A_ROW.finditer(code):
        text = "".join(literal[1:-1] for literal in re.findall(_QUOTED, match[0]))
        yield code[: match.start()].count("\n") + 1, text.replace("\\n", "\n")


def _on_as_many_lines(instead: str, match: re.Match[str]) -> str:
    return instead + "\n" * match[0].count("\n")


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Give what people read of a file, with the line at which each text begins."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return texts_of_python(source)
    if path.suffix == ".j2":
        for pattern, instead in _TEMPLATE:
            # Lines keep their numbers.
            source = pattern.sub(partial(_on_as_many_lines, instead), source)
    return texts_of_c(source) if path.suffix in SOURCES else iter([(1, source)])


def faults(path: Path) -> Iterator[str]:
    """Say which sentences of a file are too long, and which words it should not use."""
    for first_line, text in texts(path):
        place = f"{path}:{first_line}" if path.suffix in SOURCES else f"{path}"
        for sentence in sentences(text, markdown=path.suffix in (".md", ".j2")):
            # What begins an item, and signs in a formula, are no words.
            words = sum(re.search(r"\w", word) is not None for word in sentence.split())
            if words > MOST_WORDS:
                yield f"{place}: a sentence of {words} words: {sentence[:70]} ... {sentence[-40:]}"
        for pattern, instead in AVOID.items():
            # Words of one phrase may stand in two lines.
            for match in re.finditer(pattern.replace(" ", r"\s+"), text, re.IGNORECASE):
                line = first_line + text[: match.start()].count("\n")
                yield f"{path}:{line}: {' '.join(match[0].split())!r}: write {instead}"


def _files() -> list[Path]:
    sources = [
        "src/*.py",
        "src/*.toml",
        "src/*.j2",
        "core/*.c",
        "core/*.def",
        "drivers/*.cpp",
        ":!core/test",
        ":!core/fuzz",
    ]
    command = ["git", "ls-files", "*.md", GOLDEN, *sources]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [Path(name) for name in listed.splitlines() if Path(name).is_file()]


def all_faults() -> Iterator[str]:
    """Say what is wrong in all files that git tracks."""
    for path in _files():
        yield from faults(path)


def main() -> int:
    """Print every fault; status 1 where there is any."""
    named = [Path(name) for name in sys.argv[1:]]
    everything = [fault for path in named for fault in faults(path)] if named else list(all_faults())
    print("\n".join(everything))
    return 1 if everything else 0


if __name__ == "__main__":
    sys.exit(main())
