"""The places in programs that make tasks: stacks of calls, as the census unwound them, with what each made."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from clonometer.launch_paths.explaining import option_calls
from clonometer.tracing.census.demangling import demangle
from clonometer.tracing.census.durations import Durations
from clonometer.tracing.census.language import LanguageCall
from clonometer.tracing.census.usage import Usage, usage_to_json

#: Why a task has no call site, by the name under which `census` counts it.
MISSING_STACKS = {
    "lost": "for want of room",
    "unseen_calls": "of 32-bit programs, or whose making had begun before the census",
    "narrow": "of 32-bit programs",
    "unknown_mappings": "of creators that had exited before their mappings could be read",
    "too_many": "of new stacks that came faster than they can be unwound, 2,000 per second",
    "no_stack": "without a user stack",
}
#: Where a stack ends other than at the outermost call.
STACK_ENDS = {
    "beyond copy": "the stack is deeper than the part that is copied",
    "no table": "code without unwind tables, as just-in-time compilers write it",
    "no file": "code of a file that cannot be read: it was deleted or replaced, or is in another root",
    "no code": "an address at which no code is known to be mapped",
    "most frames": "more calls than can be stored",
    "frame pointers end": "where the frame pointers end, which need not be the outermost call",
}
#: A program that makes tasks in ever new places must not fill the memory.
_MOST_SITES = 10_000
#: So that each of the many sites keeps few names: what is beyond is counted without its name.
MOST_NAMES = 100
#: What C libraries and runtimes do in children whatever they are asked for.
_USUAL = frozenset(("rt_sigaction", "close", "dup", "dup2", "dup3", "close_range", "getdents64", "prctl(PR_SET_NAME)"))
#: Libraries that launch for a program, and functions of those that it contains: who calls these is the site.
_LIBRARY = re.compile(
    r"^(?:(?:libc|libpthread|libstdc\+\+|ld-linux[^/]*|ld-musl[^/]*|ld)[.-][^/]*"
    r"|lib(?:glib|gio)-2\.0\.so[^/]*|libQt[56]Core\.so[^/]*)$"
)
#: By the demangled name: those of Rust and C++, and the packages of Go that launch.
_STANDARD = re.compile(r"<?(?:std|core|alloc)::|(?:syscall|os|os/exec|runtime|sync|internal/[\w/]+)\.")
_MAKERS = frozenset(
    (
        *("fork", "vfork", "clone", "clone3", "clone_internal", "libc_fork", "libc_vfork"),
        *("posix_spawn", "posix_spawnp", "spawni", "spawnix"),
        *("system", "do_system", "popen", "proc_open", "new_proc_open"),
        *("pthread_create", "create_thread", "thrd_create"),
    )
)
#: What programs call, where the C library names its function otherwise.
_PUBLIC = {
    "do_system": "system",
    "libc_fork": "fork",
    "Fork": "fork",
    "new_proc_open": "popen",
    "IO_proc_open": "popen",
}


@dataclass(frozen=True)
class StackFrame:
    """One call of a stack.

    ``module`` is the file that its code is in, None for code that is in no file (just-in-time compilers);
    ``module_offset`` the address in it, as the file counts. ``function`` and how far into it (``plus``), ``file`` and
    ``source_line`` are None where they are not known.
    """

    module: str | None
    build_id: str | None
    module_offset: int
    function: str | None = None
    plus: int | None = None
    file: str | None = None
    source_line: int | None = None

    @property
    def name(self) -> str:
        """The function's name as its compiler made it, without the version of its symbol."""
        return (self.function or "").partition("@")[0]

    @property
    def written_name(self) -> str:
        """The function's name as its programmer wrote it."""
        return demangle(self.name)

    @property
    def is_maker(self) -> bool:
        """Whether it is of a library that launches for programs, or one of its functions that make tasks."""
        library = self.module is not None and _LIBRARY.match(self.module.rpartition("/")[2])
        return (
            bool(library or _STANDARD.match(self.written_name))
            or self.name.lower().lstrip("_").removeprefix("gi_").lstrip("_") in _MAKERS
        )

    @property
    def place(self) -> str:
        """Where it is: file and line as far as they are known, else module and address."""
        if self.file is not None and self.source_line:
            return f"{self.file}:{self.source_line}"
        if self.file is not None and self.module is None:
            return self.file
        return f"{self.module or '[code in no file]'}+0x{self.module_offset:x}"


def _python_frame(frame: StackFrame) -> StackFrame | None:
    """The Python function of a frame that ``python -X perf`` names: py::FUNCTION:FILE, of no line; None for others."""
    if frame.module is not None or not frame.name.startswith("py::"):
        return None
    function, _, file = (frame.function or "").removeprefix("py::").partition(":")
    return StackFrame(None, None, frame.module_offset, function, None, file or None)


def _count_name(counts: Counter[str], name: str, times: int = 1) -> int:
    """Count a program; how many of the times had no room for its name."""
    if name not in counts and len(counts) >= MOST_NAMES:
        return times
    counts[name] += times
    return 0


@dataclass
class CallSite:
    """What one place makes in one way: the key is the program, the mechanism, the stack, and the options.

    ``making_ns`` has the time of each task that was timed, and ``costs_ns`` that of its making and exec together;
    ``cost_ns`` is their sum. ``used`` has what they used themselves until their end. ``calls`` has what its tasks do
    before exec, as the book of launch paths names it (`clonometer.launch_paths.explaining.option_calls`); None where
    that is not known. ``language`` has what the program's runtime said of the call, which then says where it is.
    ``service`` is the control group of the creators, where these are watched.
    """

    program: str | None
    mechanism: str
    site: int | None = None
    calls: frozenset[str] | None = None
    flag_names: tuple[str, ...] = ()
    language: LanguageCall | None = None
    service: str | None = None
    created: int = 0
    execed: int = 0
    cost_ns: int = 0
    #: Of how many of its tasks it is known what they did before their exec, and of how many not all of that.
    did_known: int = 0
    did_cut: int = 0
    #: By the name of a call: how many of these tasks made it, and how many times together.
    did_tasks: Counter[str] = field(default_factory=Counter)
    did_times: Counter[str] = field(default_factory=Counter)
    #: Programs that tasks executed only to execute another one.
    helpers: Counter[str] = field(default_factory=Counter)
    #: Programs that they executed last.
    programs: Counter[str] = field(default_factory=Counter)
    #: Executions of either that are in neither, since there were too many different ones.
    unnamed: int = 0
    making_ns: Durations = field(default_factory=Durations)
    costs_ns: Durations = field(default_factory=Durations)
    used: Usage = field(default_factory=Usage)
    frames: Sequence[StackFrame] = ()
    #: Where the stack ends, other than at the outermost call: a key of `STACK_ENDS`.
    ends: str | None = None

    def add(self, other: CallSite) -> None:
        """Take what another one has made for its own."""
        self.created += other.created
        self.execed += other.execed
        self.cost_ns += other.cost_ns
        self.making_ns.extend(other.making_ns)
        self.costs_ns.extend(other.costs_ns)
        self.used.add(other.used)
        self.did_known += other.did_known
        self.did_cut += other.did_cut
        self.did_tasks.update(other.did_tasks)
        self.did_times.update(other.did_times)
        self.unnamed += other.unnamed
        for names, counts in ((other.helpers, self.helpers), (other.programs, self.programs)):
            for name, times in names.items():
                self.unnamed += _count_name(counts, name, times)

    def take_did(self, line: Mapping[str, Any]) -> None:
        """Take what a task did between its creation and its exec."""
        did = line.get("did")
        if did is not None:
            self.did_known += 1
            self.did_cut += line["did_cut"]
            for name, times in did.items():
                self.did_tasks[name] += 1
                self.did_times[name] += times
        if line.get("helper") is not None:
            self.unnamed += _count_name(self.helpers, line["helper"])
        if line["execs"] and line["program"] is not None:
            self.unnamed += _count_name(self.programs, line["program"])

    @property
    def options(self) -> list[str]:
        """The calls that show an option of the launch, most frequent first: what every launch may do left out."""
        return [name for name, _ in self.did_tasks.most_common() if name not in _USUAL]

    @property
    def making_median_ns(self) -> float | None:
        """The median of a making; None where none was timed."""
        return self.making_ns.median_ns

    @property
    def where(self) -> StackFrame | None:
        """The innermost call that is not in a library that launches for programs; None where none is known."""
        spoken = self.language.where if self.language is not None else None
        if spoken is not None:
            return StackFrame(None, None, 0, spoken.function, None, spoken.file, spoken.line)
        in_python = next(filter(None, map(_python_frame, self.frames)), None)
        return in_python or next((frame for frame in self.frames if not frame.is_maker), None)

    @property
    def api(self) -> str | None:
        """The function that was called there, as far as its name is known."""
        if self.language is not None:
            return self.language.api
        names = []
        for frame in self.frames:
            if not frame.is_maker:
                break
            names.append(frame.written_name)
        name = names[-1].lstrip("_") if names else ""
        return _PUBLIC.get(name, name) or None


@lru_cache(maxsize=1024)
def _option_calls(did: tuple[tuple[str, int], ...]) -> frozenset[str]:
    return option_calls(dict(did))


_SiteKey = tuple[str | None, str, int | None, frozenset[str] | None, tuple[str, ...], LanguageCall | None, str | None]


def _identity(site: CallSite) -> _SiteKey:
    """What two sites must have in common to be one, whatever their stacks are."""
    return site.program, site.mechanism, None, site.calls, site.flag_names, site.language, site.service


@dataclass
class CallSites:
    """All of a census; filled line by line. Names come at its end: see `census`.

    Where there are too many, the least expensive half becomes one site of each mechanism and service, without a
    program: ``folded`` counts them.
    """

    folded: int = 0
    _sites: dict[_SiteKey, CallSite] = field(default_factory=dict)
    _stacks: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    _modules: dict[int, Mapping[str, Any]] = field(default_factory=dict)

    def take(
        self,
        line: Mapping[str, Any],
        mechanism: str,
        language: LanguageCall | None = None,
        service: str | None = None,
    ) -> None:
        """Take a task, and what its creator's runtime said."""
        did = line.get("did")
        key: _SiteKey = (
            line["creator_program"],
            mechanism,
            line.get("site"),
            None if did is None else _option_calls(tuple(did.items())),
            tuple(line["flag_names"]),
            language,
            service,
        )
        site = self._sites.get(key)
        if site is None:
            if len(self._sites) >= _MOST_SITES:
                self._fold()
            site = self._sites.setdefault(key, CallSite(*key))
        site.created += 1
        site.execed += line["execs"] > 0
        site.cost_ns += line["cost_ns"] or 0
        site.take_did(line)
        if not line["alive"]:
            site.used.take(line)
        if line["making_ns"] is not None:
            site.making_ns.append(line["making_ns"])
            site.costs_ns.append(line["cost_ns"] or line["making_ns"])

    def _fold(self) -> None:
        """Make room: in a day a program may make tasks in ever new places."""
        dearest = sorted(self._sites.items(), key=lambda item: (-item[1].cost_ns, -item[1].created))
        self._sites = dict(dearest[: _MOST_SITES // 2])
        for _, site in dearest[_MOST_SITES // 2 :]:
            key: _SiteKey = (None, site.mechanism, None, None, (), None, site.service)
            self._sites.setdefault(key, CallSite(*key)).add(site)
            self.folded += 1

    def take_stack(self, line: Mapping[str, Any]) -> None:
        """Take what a site's calls are."""
        self._stacks[line["site"]] = line

    def take_module(self, line: Mapping[str, Any]) -> None:
        """Take what a file of code is."""
        self._modules[line["module"]] = line

    def by_cost(self) -> list[CallSite]:
        """The sites, dearest first; where no calls were timed, most tasks first.

        One place may reach the kernel by several ways through the C library: these are one site.
        """
        merged: dict[tuple[Any, ...], CallSite] = {}
        for site in self._sites.values():
            stack = self._stacks.get(site.site) if site.site is not None else None
            frames = [self._frame(frame) for frame in stack["frames"] if frame] if stack is not None else []
            ends = stack["ends"] if stack is not None and stack["ends"] != "complete" else None
            whole = replace(CallSite(*_identity(site)), frames=frames, ends=ends)
            callers: Any = tuple((frame.module, frame.module_offset) for frame in frames if not frame.is_maker)
            callers = callers if site.language is None else ()
            merged.setdefault((*_identity(site), whole.api, callers, ends), whole).add(site)
        return sorted(merged.values(), key=lambda site: (-site.cost_ns, -site.created))

    def place(self, number: int | None, language: LanguageCall | None = None) -> CallSite:
        """The site of a stack, or of what a runtime said, without figures."""
        stack = self._stacks.get(number) if number is not None else None
        frames = [self._frame(frame) for frame in stack["frames"] if frame] if stack is not None else []
        return CallSite(None, "", number, language=language, frames=frames)

    def _frame(self, frame: Mapping[str, Any]) -> StackFrame:
        module = self._modules.get(frame["module"], {})
        return StackFrame(
            module=module.get("path"),
            build_id=module.get("build_id"),
            module_offset=frame["offset"],
            function=frame["function"],
            plus=frame["plus"] if frame["function"] is not None else None,
            file=frame["file"],
            source_line=frame["source_line"] or None,
        )


def one_place(sites: Sequence[CallSite]) -> list[CallSite]:
    """Add up the sites of one line, whoever called its function; each has the stack of the first."""
    places: dict[tuple[Any, ...], CallSite] = {}
    for site in sites:
        where = site.where.place if site.where is not None else None
        whole = replace(CallSite(*_identity(site)), frames=site.frames, ends=site.ends)
        # Of what a runtime said only the line and what it called count: who called that is another matter.
        spoken = site.language is not None
        identity = _identity(replace(site, language=None))
        place = places.setdefault((*identity, spoken, site.api, where), whole)
        place.add(site)
        if place.language is not None and site.language is not None:
            # Two targets of make share a recipe's line: it is of neither.
            place.language = place.language.common(site.language)
    return sorted(places.values(), key=lambda site: (-site.cost_ns, -site.created))


def sites_to_json(sites: Sequence[CallSite]) -> list[dict[str, Any]]:
    """Turn call sites into plain JSON values."""
    return [
        {
            "program": site.program,
            "mechanism": site.mechanism,
            "api": site.api,
            "created": site.created,
            "execed": site.execed,
            "making_median_ns": site.making_median_ns,
            "cost_ns": site.cost_ns if site.making_ns else None,
            "used": usage_to_json(site.used),
            "did": {
                name: {"tasks": site.did_tasks[name], "times": times} for name, times in site.did_times.most_common()
            },
            "did_known": site.did_known,
            "did_cut": site.did_cut,
            "helpers": dict(site.helpers.most_common()),
            "where": None if site.where is None else frame_to_json(site.where),
            "language": None if site.language is None else _language_to_json(site.language),
            "frames": [frame_to_json(frame) for frame in site.frames],
            "frames_end": STACK_ENDS.get(site.ends or "", site.ends),
        }
        for site in sites
    ]


def _language_to_json(call: LanguageCall) -> dict[str, Any]:
    return {
        "runtime": call.runtime,
        "event": call.event,
        "frames": [
            {
                "function": f"{each.module}.{each.function}",
                "file": each.file,
                "line": each.line,
                "library": each.library,
            }
            for each in call.frames
        ],
    }


def frame_to_json(frame: StackFrame) -> dict[str, Any]:
    """Turn a call of a stack into plain JSON values."""
    return {
        "function": frame.function,
        "written_name": frame.written_name or None,
        "plus": frame.plus,
        "file": frame.file,
        "line": frame.source_line,
        "module": frame.module,
        "module_offset": frame.module_offset,
        "build_id": frame.build_id,
    }
