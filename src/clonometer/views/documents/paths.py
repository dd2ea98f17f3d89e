"""The book of launch paths: its runtimes, the lines of one, and what a check says of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from clonometer.launch_paths.checks import CheckedBook, CheckedVersion
from clonometer.launch_paths.judging import judge_line
from clonometer.launch_paths.types import LaunchPath, PathBook, RuntimeBook, SeenVersion
from clonometer.verdicts import Status
from clonometer.views.document import (
    BulletList,
    Commands,
    CommentedTables,
    Document,
    DocumentBlock,
    Fold,
    Heading,
    Hint,
    NamedText,
    NamedTexts,
    Note,
    Paragraph,
    TableBlock,
)
from clonometer.views.table import MISSING, Column, Table
from clonometer.views.terminal.text import clean
from clonometer.words import counted

_LABEL_LEAST = 30
_NAME_LEAST = 18
_NOTATION = (
    "What the kernel sees, in order: how each task is created, and the programs that it executes. fork > sh is "
    "a forked task that executes sh. fork and container copy the memory map of the program; all others share it "
    "until exec."
)
_UNCHECKED = "not checked"


def paths_document(book: PathBook) -> Document:
    """Make a document of the book: the lines of a few runtimes, or a line a runtime where there are many."""
    if len(book.runtimes) > 1:
        return _overview(book)
    [runtime] = book.runtimes
    lead = _counts(runtime)
    groups: list[list[DocumentBlock]] = [
        [Paragraph(lead, "bold"), Paragraph(_NOTATION)],
        [*runtime_blocks(runtime, book.seen_of(runtime))],
    ]
    groups.append([Hint(f"--check {runtime.name} runs these lines")])
    return Document("paths", f"How {runtime.title} launches, and what the kernel sees", lead, groups)


def runtime_blocks(runtime: RuntimeBook, versions: Sequence[SeenVersion]) -> Iterator[DocumentBlock]:
    """The lines of a runtime as tables, one an API, with what to write instead; a page also says why."""
    tables, comments = [], []
    for api, lines in groupby(_by_api(runtime.paths), key=lambda path: path.api):
        paths = list(lines)
        columns = [
            Column("", [clean(path.option) or "no option" for path in paths], least=_LABEL_LEAST),
            Column("versions", [path.versions or "all" for path in paths]),
            Column("the kernel sees", [_sees(path) for path in paths]),
            Column("checked with", [_checked_with(runtime, path, versions) for path in paths], drop=1),
        ]
        tables.append(Table(columns, clean(api)))
        comments.append(_said_once([list(_advice(path)) for path in paths]))
    yield CommentedTables(tables, comments, [""] * len(tables), "what to do")
    yield Fold("Why, and what shows it", [block for path in runtime.paths for block in _shown(runtime, path)])


def _said_once(comments: Sequence[list[str]]) -> list[list[str]]:
    """Comments of lines, one below the other: what the next line repeats is said there alone."""
    following = [*comments[1:], []]
    return [
        ["Instead: as for the next line."] if comment and comment == after else comment
        for comment, after in zip(comments, following, strict=True)
    ]


def whole_document(book: PathBook) -> Document:
    """Make a document of all lines of all runtimes, with the versions that were checked."""
    lead = _lead(book)
    groups: list[list[DocumentBlock]] = [[Paragraph(_NOTATION), *map(Paragraph, _MADE)], [TableBlock(_runtimes(book))]]
    for runtime in book.runtimes:
        versions = book.seen_of(runtime)
        groups.append([Heading(runtime.title), Paragraph(f"{_counts(runtime)} Sources: {runtime.source}.")])
        groups[-1] += [Paragraph(_machines(versions)), *_frame(runtime), *runtime_blocks(runtime, versions)]
    return Document("paths", "Launch paths", lead, groups)


def checked_document(checked: CheckedBook) -> Document:
    """Make a document of a check of the book."""
    counts = checked.counts
    wrong, failed = counts[Status.FAILS], counts[Status.UNKNOWN]
    lead = f"{counted(counts[Status.HOLDS], 'line')} right, {wrong} wrong"
    lead += f", {failed} could not be run" if failed else ""
    lead += f", {counts[Status.NOT_MEASURABLE]} not checked here."
    present = [each for each in checked.runtimes if each.version is not None]
    absent = [each for each in checked.runtimes if each.version is None]
    first: list[DocumentBlock] = [Paragraph(lead, "bad" if wrong else "bold")]
    if checked.how == "ptrace":
        first.append(Note("Seen by ptrace, since kernel tracepoints cannot be used here."))
    groups: list[list[DocumentBlock]] = [first]
    groups.append([TableBlock(_versions(present))] if present else [])
    for title, verdict in (("The book is wrong", Status.FAILS), ("Could not be run", Status.UNKNOWN)):
        entries = [
            NamedText(f"  {each.runtime} {each.version}", f"{line.name}: {clean(line.reason or '')}.")
            for each in present
            for line in each.having(verdict)
        ]
        groups.append([Heading(title, "bad"), NamedTexts(entries, _NAME_LEAST)] if entries else [])
    needed = sorted(
        {
            f"{each.runtime} {each.version}: {line.name} {line.reason}"
            for each in present
            for line in each.having(Status.NOT_MEASURABLE)
            if (line.reason or "").startswith("needs ")
        }
    )
    groups.append([Paragraph("What this machine lacks:"), BulletList(needed)] if needed else [])
    if absent:
        entries = [NamedText(f"  {each.runtime}", f"not here: {each.reason}.") for each in absent]
        groups.append([Heading("Not on this machine"), NamedTexts(entries, _NAME_LEAST)])
    return Document("paths --check", "Is the book of launch paths right here?", lead, groups)


#: What the page of the whole book says of itself.
_MADE = (
    "Each snippet of code was run under a census, by 'clonometer paths --check'. The column 'checked with' has the "
    "versions that were run, for which the book is right. Lines that no machine has run are 'not checked'.",
    "A runtime that uses another C library, or was built with other options, may launch differently: "
    "'clonometer paths --check NAME=PROGRAM' shows it.",
)


def _overview(book: PathBook) -> Document:
    lead = _lead(book)
    last = [Paragraph("'clonometer paths RUNTIME' has its lines, with what to write instead.")]
    groups: list[Sequence[DocumentBlock]] = [[Paragraph(lead, "bold")], [TableBlock(_runtimes(book))], last]
    return Document("paths", "What the kernel sees of launches", lead, groups)


def _lead(book: PathBook) -> str:
    lines = sum(len(runtime.paths) for runtime in book.runtimes)
    return f"The book of launch paths: {counted(lines, 'line')} of {counted(len(book.runtimes), 'runtime')}."


def _runtimes(book: PathBook) -> Table:
    runtimes = book.runtimes
    return Table(
        [
            Column("runtime", [runtime.name for runtime in runtimes]),
            Column("title", [runtime.title for runtime in runtimes], drop=2),
            Column("lines", [str(len(runtime.paths)) for runtime in runtimes], "right"),
            Column("copy memory", [str(sum(path.copies for path in runtime.paths)) for runtime in runtimes], "right"),
            Column("checked with", [_all_versions(book.seen_of(runtime)) for runtime in runtimes]),
        ]
    )


def _machines(versions: Sequence[SeenVersion]) -> str:
    """With which versions, on which kernels a runtime was checked."""
    kernels = ", ".join(dict.fromkeys(f"Linux {each.kernel} ({each.architecture})" for each in versions))
    return f"Checked with {_all_versions(versions)} on {kernels}." if versions else "Not checked yet."


def _frame(runtime: RuntimeBook) -> Iterator[DocumentBlock]:
    """What stands around each snippet, where that is more than the snippet."""
    if runtime.frame != "{snippet}":
        yield Fold("The program around each snippet", [Commands(runtime.frame.strip("\n").splitlines())])


def _all_versions(versions: Sequence[SeenVersion]) -> str:
    return ", ".join(dict.fromkeys(each.version for each in versions)) or MISSING


def _counts(runtime: RuntimeBook) -> str:
    copying = sum(path.copies for path in runtime.paths)
    lines = counted(len(runtime.paths), "line")
    return f"{runtime.title}: {lines}, {copying} of which copy the memory map of the program."


def _by_api(paths: Sequence[LaunchPath]) -> list[LaunchPath]:
    """The lines of each API together, in the order in which APIs come first."""
    order = list(dict.fromkeys(path.api for path in paths))
    return sorted(paths, key=lambda path: order.index(path.api))


def _sees(path: LaunchPath) -> str:
    """The tasks of a line, without the program that was asked for; those that are made alike counted."""
    counts = Counter(str(task).removesuffix(" > true") for task in path.tasks if not task.is_optional)
    texts = [text if count == 1 else f"{count} {text}" for text, count in counts.items()]
    if path.threads:
        texts.append("thread")
    return ", ".join(texts).replace("{program}", "itself") or "no task"


def _checked_with(runtime: RuntimeBook, path: LaunchPath, versions: Sequence[SeenVersion]) -> str:
    verdicts = {
        each.version: verdict
        for each in versions
        for line in each.lines
        if line.name == path.name and (verdict := judge_line(runtime, path, line, each)) is not None
    }
    wrong = [version for version, verdict in verdicts.items() if verdict is Status.FAILS]
    if wrong:
        return f"wrong with {', '.join(wrong)}"
    names = list(verdicts)
    return _UNCHECKED if not names else names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


def _advice(path: LaunchPath) -> Iterator[str]:
    conditions = [clean(path.when), *(_NEEDED[need] for need in path.needs)]
    if any(conditions):
        yield f"Where: {', '.join(filter(None, conditions))}."
    if path.instead:
        yield f"Instead: {clean(path.instead)}."
        yield f"You lose: {clean(path.lose)}."
    if path.setting:
        yield f"Or set {clean(path.setting)}."


_NEEDED = {
    "root": "the program is root",
    "not root": "the program is not root",
    "user namespaces": "user namespaces are allowed",
    "cgroup 2": "control groups are version 2",
    "musl": "the C library is musl",
}


def _shown(runtime: RuntimeBook, path: LaunchPath) -> Iterator[DocumentBlock]:
    yield Paragraph(f"{path.name}: {clean(path.why)}.")
    yield Commands(path.snippet.strip("\n").splitlines())
    if path.better:
        yield Paragraph("Instead:")
        yield Commands(path.better.strip("\n").splitlines())


def _versions(checked: Sequence[CheckedVersion]) -> Table:
    def numbers(verdict: Status) -> list[str]:
        return [str(len(each.having(verdict))) for each in checked]

    return Table(
        [
            Column("runtime", [each.runtime for each in checked]),
            Column("version", [str(each.version) for each in checked]),
            Column("right", numbers(Status.HOLDS), "right"),
            Column("wrong", numbers(Status.FAILS), "right"),
            Column("failed", numbers(Status.UNKNOWN), "right"),
            Column("not here", numbers(Status.NOT_MEASURABLE), "right"),
            Column("program", [clean(str(each.program)) for each in checked], drop=1, cut_start=True, most=40),
        ]
    )
