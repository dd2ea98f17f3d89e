"""What a fork would cost a process. Made of what ``predict --json`` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clonometer.units import approximate_bytes, brief_duration, format_duration, format_duration_interval, format_share
from clonometer.views.document import BulletList, Document, DocumentBlock, Heading, Note, Paragraph, TableBlock
from clonometer.views.table import MISSING, Column, Table
from clonometer.views.terminal.text import clean

_PARTS = 8
_LEAST_SHARE = 0.005
#: Below it the CPUs count as free: a caller waits for what the call takes of one.
_LEAST_STRETCH = 1.1
_AT_LEAST = (
    ">=: the kernel's part alone, until the exec where one follows. What the runtime itself does for such a call was "
    "not measured."
)
#: posix_spawn has 15 that all do the same; `clonometer paths` lists them.
_MOST_OPTIONS = 6
_ROUGH = "These times are rough: this machine has not been calibrated. 'clonometer calibrate' takes two minutes."

JsonObject = Mapping[str, Any]


def predicted_document(document: JsonObject) -> Document:
    """Make a document of an answer: who waits how long, what costs, what follows, what would change it, its basis."""
    changes = _what_ifs(document) if document["what_ifs"] else []
    groups: list[Sequence[DocumentBlock]] = [answer_blocks(document), *_contributors(document)]
    groups += [_paths(document), changes, [Paragraph(text) for text in _basis(document)]]
    return Document("predict", f"What a fork costs {_name(document)}", _headline(document), groups)


def _paths(document: JsonObject) -> list[DocumentBlock]:
    """What each API of its runtime does, and what a caller of it waits for."""
    paths = document.get("paths")
    if paths is None or not paths["launches"]:
        return []
    launches = paths["launches"]
    waits = [_wait(each) for each in launches]
    version = f" {clean(paths['version'])}" if paths["version"] else ""
    lead = f"It runs {paths['title']}{version}, whose launches do this, by 'clonometer paths {paths['runtime']}':"
    table = Table(
        [
            Column("launch by", list(map(_launch_name, launches)), least=24),
            Column("how", [each["mechanism"] for each in launches]),
            Column("its caller waits", waits, "right"),
        ]
    )
    notes = [Note(_AT_LEAST)] if any(each["own_ns"] is None and each["waits_ns"] for each in launches) else []
    return [Paragraph(lead), TableBlock(table), *notes]


def _wait(launch: JsonObject) -> str:
    """What the caller of an API waits for."""
    if launch["waits_ns"] is None:
        return MISSING
    return span(launch["waits_ns"]) if launch["own_ns"] is not None else f">= {span(launch['waits_ns'])}"


def _launch_name(launch: JsonObject) -> str:
    """An API with the options that choose the path; alone where none does, and a few where many do."""
    options = [clean(option) or "no option" for option in launch["options"]]
    more = len(options) - _MOST_OPTIONS
    shown = ", ".join(options if more <= 1 else [*options[:_MOST_OPTIONS], f"and {more} more"])
    api = clean(launch["api"])
    return api if launch["options"] == [""] else f"{api}: {shown}"


def answer_blocks(document: JsonObject) -> list[DocumentBlock]:
    """How long a caller waits, what a later fork takes, whether it would fail; a warning where the times are rough."""
    failing = _failing(document)
    doubts = [_ROUGH] if document["basis"]["model"] == "rough" else []
    if document["basis"]["why"]:
        doubts.append(f"Not read through smaps: {document['basis']['why']}.")
    return [
        Paragraph(_headline(document), "bold"),
        BulletList([*_longer_waits(document), _later(document)]),
        Paragraph(failing or _allowed(document), "bad" if failing else "bold"),
        *(Note(doubt, "warn") for doubt in doubts),
    ]


def beside(document: JsonObject) -> str:
    """A sentence for a process that a command saw beside other things."""
    waits = document["waits"]
    return (
        f"{_name(document)}: fork() would take {span(waits['call_ns'])}, and until the child's exec "
        f"{span(waits['until_exec_ns'])}: longer where others want the CPUs too ('clonometer predict')."
    )


def _headline(document: JsonObject) -> str:
    """What every caller waits for; on a busy machine the CPU time of it apart."""
    waits = document["waits"]
    blocked = f"fork() in {_name(document)} would block its caller for {span(waits['call_ns'])}"
    if waits["call_ns"]["median"] < _LEAST_STRETCH * waits["call_cpu_ns"]["median"]:
        return f"{blocked}."
    return f"{blocked}: {span(waits['call_cpu_ns'])} of CPU time, and the CPUs are busy now."


def _longer_waits(document: JsonObject) -> Iterator[str]:
    """What a caller waits for that wants more than a child: its exit, or its exec."""
    waits = document["waits"]
    yield f"A caller that waits for the child's exit waits {span(waits['until_exit_ns'])}."
    yield (
        f"One that waits for the child's exec waits {span(waits['until_exec_ns'])}, since exec first frees the copied "
        "memory (Node's spawn, Python's preexec_fn)."
    )


def _later(document: JsonObject) -> str:
    """What a later fork takes, by how much is rewritten in between."""
    rewritten, later = document["rewritten"], document["fork"]["later_ns"]
    if rewritten["source"] != "unknown":
        share = _rewritten(rewritten)
        return f"A later fork takes {span(later)} of CPU time, with {share} of the memory rewritten since the last."
    unwritten, first = (_median(document["fork"][f"{key}_ns"]) for key in ("unwritten", "first"))
    low, high = brief_duration(later["low"]), brief_duration(later["high"])
    return (
        f"A later fork takes {low} to {high} of CPU time: about {unwritten} if nothing was rewritten since the last "
        f"one, {first} if everything was."
    )


def _rewritten(share: JsonObject) -> str:
    low, high = format_share(share["low"]), format_share(share["high"])
    if share["source"] == "touched":
        return f"at most {high}"
    return high if low == high else f"{low} to {high}"


def span(value: JsonObject) -> str:
    """Write a predicted time with its interval."""
    return format_duration_interval(value["median"], value["low"], value["high"])


def _median(value: JsonObject) -> str:
    """Write a predicted time to the digits that its interval supports."""
    return format_duration(value["median"], value["low"], value["high"])


def _name(document: JsonObject) -> str:
    size = approximate_bytes(document["rss_bytes"])
    name = clean(document["process"] or "the process")
    return f"{name} ({size})" if document["pid"] is None else f"{name} (pid {document['pid']}, {size})"


def _failing(document: JsonObject) -> str | None:
    refusal = document["would_fail"]
    if refusal is None or refusal["fails"] == "no":
        return None
    worst = next(check for check in refusal["checks"] if check["fails"] == refusal["fails"])
    lead = {
        "yes": "It would fail.",
        "maybe": "It may fail or run out of memory.",
        "unknown": "Whether it would fail is not known.",
    }
    return f"{lead[refusal['fails']]} {worst['sentence']}"


def _allowed(document: JsonObject) -> str:
    tables = approximate_bytes(document["page_tables_bytes"])
    if document["would_fail"] is None:
        return f"Its child would need {tables} for page tables; whether a fork would fail depends on the machine."
    return f"The kernel would allow it; the child would need {tables} for page tables."


def _contributors(document: JsonObject) -> Iterator[list[DocumentBlock]]:
    """The mappings that cost most, then what they are made of and what follows."""
    parts = document["contributors"]
    shown = [part for part in parts[:_PARTS] if part["share"] >= _LEAST_SHARE] or parts[:1]
    if shown:
        yield [
            TableBlock(
                Table(
                    [
                        Column("mapping", [clean(part["label"]) for part in shown], least=12, most=40, cut_start=True),
                        Column("memory", [approximate_bytes(part["rss_bytes"]) for part in shown], "right"),
                        Column("areas", [f"{part['areas']:,}" for part in shown], "right", drop=2),
                        Column("first fork", [format_duration(part["first_ns"]) for part in shown], "right"),
                        Column("unwritten", [format_duration(part["unwritten_ns"]) for part in shown], "right", drop=1),
                        Column("share", [format_share(part["share"]) for part in shown], "right"),
                    ]
                )
            )
        ]
    largest = sorted((term for term in document["terms"] if term["first_ns"]), key=lambda term: -term["first_ns"])[:4]
    words = ", ".join(
        f"{format_duration(term['first_ns'])} for {_counted(term)}" for term in largest if term["first_ns"] >= 100
    )
    terms = [f"Of the first fork: {words}."] if largest else []
    yield [BulletList([*terms, *_consequences(document)])]


def _counted(term: JsonObject) -> str:
    name = str(term["term"])
    return name if name in ("base", "having threads") else f"{term['count']:,.0f} {name}"


def _consequences(document: JsonObject) -> Iterator[str]:
    yield str(document["waits"]["sentence"])
    yield from _copies(document["cow"])
    spawn = document["posix_spawn_ns"]
    instead = "" if spawn is None else f" posix_spawn would take {span(spawn)} instead of both, regardless of memory."
    yield (
        f"After the call, the child's exit would take {span(document['exit_ns'])}, or its exec "
        f"{span(document['exec_ns'])}.{instead}"
    )
    refusal = document["would_fail"]
    if refusal is not None:
        worst = _failing(document) or ""
        for check in refusal["checks"]:
            if check["fails"] != "no" and check["sentence"] not in worst:
                yield str(check["sentence"])


def _copies(cow: JsonObject) -> Iterator[str]:
    worst = approximate_bytes(cow["copied_at_worst_bytes"])
    time = "" if cow["worst_ns"] is None else f" That costs its writers {format_duration(cow['worst_ns'])} in total."
    each = "" if cow["per_page_ns"] is None else f" ({format_duration(cow['per_page_ns'])} for each 4 KiB)"
    yield f"At worst {worst} is copied on write while the child lives{each}.{time}"
    if cow["copied_expected_bytes"] is not None:
        rate = approximate_bytes(cow["write_rate_bytes_per_s"])
        how = {"given": "as given", "measured": "as measured", "touched": "at most, as measured"}[cow["rate_source"]]
        expected = "" if cow["expected_ns"] is None else f", which takes {format_duration(cow['expected_ns'])}"
        yield (
            f"Writing to {rate} per second ({how}), it has {approximate_bytes(cow['copied_expected_bytes'])} copied "
            f"while a child lives {cow['child_lives_s']:g} s{expected}."
        )


def _what_ifs(document: JsonObject) -> list[DocumentBlock]:
    now = _median(document["fork"]["first_ns"])
    lines = []
    for change in document["what_ifs"]:
        first, unwritten = (_median(change[key]) for key in ("first_ns", "unwritten_ns"))
        later = "" if first == unwritten else f"; {unwritten} with nothing rewritten"
        lines.append(f"{first} instead of {now} ({change['how']}{later}): {change['sentence']}")
    return [Heading("What would change its first fork"), BulletList(lines)]


def _basis(document: JsonObject) -> Iterator[str]:
    basis = document["basis"]
    if basis["model"] != "rough":
        age = basis["age_days"]
        old = "today" if age < 1 else f"{age:.0f} days ago"
        quick = "quick " if basis["model"] == "quick calibration" else ""
        yield f"Basis: this machine's {quick}calibration of {old}{_scaled(basis)}; each interval covers 90% of forks."
    # Neither asked for, nor, on a machine that gave no time at all, obtained.
    if not basis["stretches"]:
        yield "Whether others want the CPUs now was not measured: where they do, a caller waits for longer than that."
    if basis["beyond"]:
        yield f"Beyond the calibrated range, and therefore less certain: {', '.join(basis['beyond'])}."
    yield from map(str, basis["notes"])
    lock = basis["lock"]
    if lock is not None:
        written = "Only its clear_refs was written to" if basis["wrote_to_it"] else "Nothing was written to it"
        yield (
            f"Reading /proc held its mmap lock for at most {format_duration(lock['longest_ns'])} at a time "
            f"({format_duration(lock['total_ns'])} in all). {written}, and it was not stopped."
        )


def _scaled(basis: JsonObject) -> str:
    """How fast the machine is now."""
    cold = basis["scales"]["cold"]
    if not basis["is_scaled"]:
        return ", without a scan of its present speed"
    if cold["spread"] == 0:
        # It was calibrated for this very answer.
        return ""
    return f", times {cold['factor']:.2f} from a scan just now"


def ranking_document(ranking: JsonObject) -> Document:
    """Make a document of the machine's processes by what their fork would cost."""
    processes: Sequence[JsonObject] = ranking["processes"]
    lead = "No process could be read."
    groups: list[list[DocumentBlock]] = []
    if processes:
        first = processes[0]
        lead = (
            f"Of {ranking['seen']:,} processes, fork() in {_name(first)} would block its caller longest: "
            f"{span(first['waits']['call_ns'])}."
        )
        groups = [[Paragraph(lead)]]
    last: list[DocumentBlock] = [TableBlock(_ranked(processes)) if processes else Paragraph(lead)]
    if ranking["unread"]:
        last.append(Paragraph(f"{ranking['unread']:,} could not be read: they ended, or this user may not."))
    if any(process["basis"]["how"] == "counters" for process in processes):
        last.append(Paragraph("* from counters alone; reading more needs CAP_SYS_PTRACE (sudo)"))
    if ranking["model"] == "rough":
        last.append(Note("These times are rough: 'clonometer calibrate' takes two minutes."))
    return Document("predict", "Whose fork costs most on this machine", lead, [*groups, last])


def _ranked(processes: Sequence[JsonObject]) -> Table:
    names = [
        clean(process["process"] or "?") + ("*" if process["basis"]["how"] == "counters" else "")
        for process in processes
    ]
    spawns = [process["posix_spawn_ns"] for process in processes]
    fails = [(process["would_fail"] or {"fails": "unknown"})["fails"] for process in processes]
    return Table(
        [
            Column("process", names, least=10, most=30),
            Column("pid", [str(process["pid"]) for process in processes], "right"),
            Column("memory", [approximate_bytes(process["rss_bytes"]) for process in processes], "right"),
            Column("fork() call", [span(process["waits"]["call_ns"]) for process in processes], "right"),
            Column(
                "until exec",
                [_median(process["waits"]["until_exec_ns"]) for process in processes],
                "right",
                drop=2,
            ),
            Column(
                "posix_spawn",
                [MISSING if each is None else _median(each) for each in spawns],
                "right",
                drop=1,
            ),
            Column("would fail", fails, drop=3),
        ]
    )
