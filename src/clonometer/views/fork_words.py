"""What the page about forks says: the answer in a sentence, and words for each part of a launch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from clonometer.units import approximate_bytes, brief_duration
from clonometer.views.terminal.text import clean

JsonRecord = Mapping[str, Any]
_FIGURE = re.compile(r"(\d) (ns|µs|ms|s|B|[KMGT]iB)\b")


class PartWords(NamedTuple):
    """A part of a launch: its name, the hue in which it is drawn, and what happens."""

    name: str
    hue: str
    meaning: str


PARTS = {
    "base": PartWords("the task", "grey", "copies the task, its credentials, its signals and the first areas"),
    "open files": PartWords("open files", "cyan", "takes a reference to each open file"),
    "areas kept from children": PartWords("areas kept back", "olive", "takes areas with MADV_DONTFORK out of the copy"),
    "written areas": PartWords("memory areas", "purple", "copies each area that was written to"),
    "empty areas": PartWords("empty areas", "purple", "copies each area without pages"),
    "file and shared areas": PartWords("file areas", "purple", "copies each area of a file, without its pages"),
    "userfaultfd areas": PartWords("userfaultfd areas", "olive", "copies what watches these areas"),
    "page tables": PartWords("page tables", "teal", "allocates a page table for each 2 MiB"),
    "small pages": PartWords("page entries", "blue", "copies and protects an entry for each 4 KiB page"),
    "scattered pages": PartWords("scattered pages", "deep", "waits for memory: their descriptors lie far apart"),
    "huge pages": PartWords("huge pages", "blue", "copies an entry for each 2 MiB page"),
    "hugetlb pages": PartWords("hugetlb pages", "blue", "copies an entry for each page of hugetlbfs"),
    "having threads": PartWords("having threads", "sand", "what a process with threads costs more"),
    "further threads": PartWords("threads", "sand", "what each further thread adds"),
    "waits": PartWords("waits", "none", "waits until the child has executed its program"),
    "copies": PartWords("copies on write", "orange", "copies pages that the parent writes to while the child lives"),
    "starts": PartWords("wakes up", "cyan", "is woken, and runs its first instruction"),
    "lives": PartWords("lives", "none", "runs, while the parent copies what it writes to"),
    "frees": PartWords("frees memory", "rose", "gives back the page tables and pages that were copied for it"),
    "ends": PartWords("ends", "grey", "ends, and its parent learns of it"),
    "executes": PartWords("executes", "olive", "loads its program"),
    "inside": PartWords("executes its program", "none", "borrows the parent's memory, which waits meanwhile"),
}
#: Other ways to start something: how they are called, and what their caller waits for.
WAYS = {
    "first": ("fork", "for the call; all was written to since the last fork"),
    "unwritten": ("fork again, nothing rewritten", "for the call"),
    "huge": ("fork, in huge pages", "for the call; a later write may copy 2 MiB"),
    "until_exit": ("fork, until the child has exited", "as a shell does"),
    "fork_exec": ("fork and exec", "until the program runs"),
    "posix_spawn": ("posix_spawn, or vfork and exec", "until the program runs"),
    "thread": ("a thread", "for the call"),
}
#: What each mechanism is called in the answer, and what it is compared with.
_SUBJECTS = {
    "fork": "fork() in {process} takes {time}.",
    "fork_exec": "Starting a program by fork() and exec() from {process} takes {time}.",
    "posix_spawn": "Starting a program by posix_spawn() from {process} takes {time}.",
    "thread": "Creating a thread in {process} takes {time}.",
}
_OTHERS = {
    "fork": "A thread takes {time}.",
    "fork_exec": "posix_spawn() takes {time}.",
    "posix_spawn": "fork() and exec() take {time}.",
    "thread": "fork() takes {time}.",
}
_MEANWHILE = {
    "fork_exec": "The caller waits until the child has executed its program, which first frees the copied memory.",
    "posix_spawn": "The caller waits until the child has executed its program. No memory is copied.",
    "thread": "A thread shares the memory: nothing is copied.",
}


def process_words(memory_bytes: int, threads: int, *, is_huge: bool, name: str | None = None) -> str:
    """What kind of process it is."""
    many = "" if threads <= 1 else f" and {threads:,} threads"
    return f"{name or 'a process'} with {approximate_bytes(memory_bytes)}{' in huge pages' if is_huge else ''}{many}"


def answer_sentence(mechanism: str, process: str, launch: JsonRecord, compared: JsonRecord | None) -> str:
    """The answer: what the launch takes, and beside it what another takes."""
    answer = _SUBJECTS[mechanism].format(process=process, time=brief_duration(launch["call_ns"]["median_ns"]))
    if compared is None:
        return answer
    return f"{answer} {_OTHERS[mechanism].format(time=brief_duration(compared['call_ns']['median_ns']))}"


def meanwhile_sentence(mechanism: str, threads: int, launch: JsonRecord) -> str:
    """How far calls lie apart, and what stands still meanwhile."""
    low, high = (brief_duration(launch["call_ns"][end]) for end in ("low_ns", "high_ns"))
    spread = f"Nine in ten take {low} to {high}."
    if mechanism in _MEANWHILE:
        return f"{spread} {_MEANWHILE[mechanism]}"
    if threads <= 1:
        return f"{spread} The process stands still for all of it."
    return f"{spread} The caller stands still, and so does any other thread that maps memory or touches a new page."


def unbroken(text: str) -> str:
    r"""Keep a figure and its unit on a line.

    Examples
    --------
    >>> unbroken("takes 12 ms, 3 times")
    'takes 12\xa0ms, 3 times'
    """
    return _FIGURE.sub("\\1\u00a0\\2", text)


def start_sentence(start: JsonRecord) -> str:
    """The answer that the page begins with."""
    name = start["process"] and clean(start["process"])
    process = process_words(start["memory_bytes"], start["threads"], is_huge=start["is_huge"], name=name)
    return answer_sentence("fork", process, start["launch"], start["compared"])
