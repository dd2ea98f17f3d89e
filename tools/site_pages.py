"""What mkdocs calls while it builds the documentation site: pages from outside docs/, and names of pages as links.

The Markdown files are read in the repository too, where `docs/methods.md` in a sentence is clear as it is. The site
makes a link of that.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import relpath
from typing import Any

from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).resolve().parents[1]
#: Pages of the site that stand beside docs/ in the repository.
_OUTSIDE = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md"}
#: A page's name as code: `methods.md` or `docs/methods.md`, also with the names of files that are no pages.
_NAME = re.compile(r"(?<![\[(\w])`(?:docs/)?((?:decisions/)?[\w-]+\.md)`|`(README\.md|CONTRIBUTING\.md)`")
_LINK = re.compile(r"\]\((?:\./)?docs/")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that stand outside docs/."""
    for name, page in _OUTSIDE.items():
        files.append(File.generated(config, page, content=_LINK.sub("](", (_ROOT / name).read_text(encoding="utf-8"))))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Make links of the names of pages, outside blocks of code."""
    del config
    pages = {file.src_uri for file in files.documentation_pages()}
    # Every second piece is a block of code.
    pieces = re.split(r"(^```.*?^```)", markdown, flags=re.MULTILINE | re.DOTALL)
    pieces[::2] = [_NAME.sub(lambda match: _linked(match, page.file.src_uri, pages), piece) for piece in pieces[::2]]
    return "".join(pieces)


def _linked(match: re.Match[str], where: str, pages: set[str]) -> str:
    name = match[1] or _OUTSIDE[match[2]]
    if name not in pages or name == where:
        return match[0]
    return f"[{PurePosixPath(name).stem}]({relpath(name, PurePosixPath(where).parent.as_posix())})"
