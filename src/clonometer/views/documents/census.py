"""A census: how many tasks, what they cost, and who made them how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from clonometer.tracing.census.call_sites import MISSING_STACKS, STACK_ENDS, one_place
from clonometer.tracing.census.launches import LaunchSite, worth_changing
from clonometer.tracing.census.savings import Saving
from clonometer.tracing.census.tally import Census, Group
from clonometer.tracing.census.unnamed import unnamed_lines
from clonometer.tracing.census.usage import Usage
from clonometer.units import format_bytes, format_duration, format_share
from clonometer.views.creation_tree import creation_tree
from clonometer.views.document import BulletList, Document, DocumentBlock, Hint, Note, Paragraph, TableBlock, TreeBlock
from clonometer.views.documents.launches import launch_advice, sites_table, time_in
from clonometer.views.documents.services import by_service, services_table
from clonometer.views.table import MISSING, Column, Table
from clonometer.views.terminal.text import clean, wide_adds
from clonometer.words import counted

_LABEL_LEAST = 10
_LABEL_MOST = 40
_ROWS = 15
_PROGRAMS = 10
_SITES = 10
_SERVICES = 10
#: Of how many rows it is said in words what each task used.
_USED = 2
#: What runs programs whose lines are in no file of code.
_MICROSECOND = 1000
_MILLISECOND = 1_000_000


def census_document(
    census: Census,
    name: str,
    worth: Sequence[Saving] = (),
    predicted: Sequence[str] = (),
    launches: Sequence[LaunchSite] = (),
    *,
    wide: bool = False,
) -> Document:
    """Make a document of a census of what the user named.

    ``worth``: what would be worth a change; ``predicted``: what a fork would cost processes that were seen;
    ``launches``: each call site with its option. ``wide``: every creator, not only the 15 that cost most. Where several
    services are watched, these are ranked, and call sites stand by service; who created tasks is in the wide form.
    """
    lead = _headline(census, clean(name))
    first: list[DocumentBlock] = [Paragraph(lead, "bold"), Note(_seen_by_ptrace(census), "warn")]
    if census.ended["lost"]:
        # Every figure below may be too small.
        first += [Note(text, "warn") for text in _room(census)]
    first.append(Paragraph(_cost(census) if census.created else ""))
    groups = census.by_cost()
    services = census.services.by_cost()
    several = len(services) > 1
    shown = groups if wide else [] if several else groups[:_ROWS]
    executed = _executed(groups, by_creator=wide)
    listed = executed if wide else executed[:_PROGRAMS]
    listed_launches = launches or [LaunchSite(site) for site in one_place(census.sites.by_cost())]
    sites = [launch for launch in listed_launches if launch.site.frames]
    sites = by_service(sites, services, wide=wide) if several else sites
    shown_sites = sites if wide or several else sites[:_SITES]
    hints = wide_adds(
        (len(sites) - len(shown_sites), "call site"),
        (len(groups) - len(shown), "row"),
        (0 if wide else max(len(services) - _SERVICES, 0), "service"),
        (len(executed) - len(listed), "program"),
    )
    last: list[DocumentBlock] = [
        BulletList(_sentences(census, groups)),
        *(Note(text, "warn") for text in _cautions(census, launches)),
    ]
    parts: list[list[DocumentBlock]] = [first]
    if several:
        listed_services = services if wide else services[:_SERVICES]
        parts.append([TableBlock(services_table(listed_services, census.wall_s))])
    if shown:
        parts.append([TableBlock(_census_table(shown, timed=census.how == "tracepoints"))])
    parts += launch_advice(worth_changing(launches))
    if sites:
        parts.append([TableBlock(sites_table(shown_sites, timed=census.how == "tracepoints", services=several))])
    if listed:
        parts.append([TableBlock(_programs(listed, by_creator=wide))])
    parts[-1] += map(Hint, hints)
    parts.append(_over_time(census))
    parts += [[]] if shown or several else []
    parts[-1] += last
    parts += [[*(Paragraph(_advice(saving)) for saving in worth), Paragraph(_MODEL)]] if worth else []
    parts[-1].append(BulletList(predicted))
    return Document("census", "The tasks that a program creates", lead, parts)


#: How another way stands at the beginning of a phrase.
_INSTEAD = {"posix_spawn": "posix_spawn", "vfork": "vfork and exec", "thread": "threads"}
#: What is said of advice: it is not a measurement of the program.
_MODEL = "This is a model, from what small programs pay on this machine. It does not include the tasks' own work."


def _advice(saving: Saving) -> str:
    """What the forks of a group cost, and what other ways would save."""
    creator = clean(saving.group.creator or "a program")
    threads = any(way.mechanism == "thread" for way in saving.instead)
    did = (
        f"made {counted(saving.created, 'task')} by fork that executed no program"
        if threads
        else f"started {counted(saving.created, 'program')} by fork and exec"
    )
    ways = [
        f"{_INSTEAD[way.mechanism]} {format_duration(way.saved_ns)} ({format_duration(way.making_ns)} each)"
        for way in saving.instead
    ]
    return (
        f"What to do: {creator} {did}. A fork took at least {format_duration(saving.making_ns)}, all of them "
        f"{format_duration(saving.created * saving.making_ns)}. This would save at least: {', '.join(ways)}."
    )


#: A task as it is spoken of after its creation.
_EACH = {
    "thread": "each thread",
    "fork": "each forked child",
    "vfork": "each child of vfork",
    "posix_spawn": "each child of posix_spawn",
}


def _headline(census: Census, name: str) -> str:
    """How many tasks, and made how: what most people ask."""
    wall = f"{census.wall_s:.3g} s" if census.wall_s < 100 else f"{census.wall_s:,.0f} s"
    each = census.created / census.wall_s if census.wall_s > 0 else 0.0
    rate = f", {each:,.0f} a second" if each >= 100 else f", {each:.3g} a second" if each else ""
    ways = [
        counted(count, "thread") if how == "thread" else f"{count:,} {_MADE[how][0]}"
        for how, count, _ in census.by_mechanism()
    ]
    return f"{name} created {counted(census.created, 'task')} in {wall}{rate}{': ' if ways else ''}{', '.join(ways)}."


#: A mechanism as the headline counts it, and as a call of it is named.
_MADE = {
    "thread": ("", "a thread"),
    "fork": ("by fork", "a fork"),
    "vfork": ("by vfork", "a vfork"),
    "posix_spawn": ("by posix_spawn", "a posix_spawn"),
    "clone(VM|VFORK)": ("by clone(VM|VFORK)", "a clone(VM|VFORK)"),
    "shares memory": ("sharing memory", "one that shares memory"),
    "container": ("in new namespaces", "one in new namespaces"),
}


def _cost(census: Census) -> str:
    """What that cost: the time in which some task was made or began a program, and a typical making of each way."""
    share = census.creating_share
    makings = [
        f"{_MADE[how][1]} {format_duration(median_ns)}"
        for how, _, median_ns in census.by_mechanism()
        if median_ns is not None
    ]
    if share is None or not makings:
        return "The cost of creating them cannot be seen this way."
    return (
        f"{format_share(share)} of that time ({format_duration(census.ended['creating_ns'])}) was spent creating them "
        f"and in exec. Median times: {', '.join(makings)}."
    )


def _census_table(groups: Sequence[Group], *, timed: bool) -> Table:
    creators = [clean(group.creator or "?") for group in groups]
    columns = [
        Column("created by", creators, least=_LABEL_LEAST, most=_LABEL_MOST, cut_start=True, once=True),
        Column("how", [group.mechanism for group in groups]),
        Column("tasks", [f"{group.created:,}" for group in groups], "point"),
        Column("exec", [f"{group.execed:,}" for group in groups], "point", drop=2),
    ]
    if timed:
        columns += [
            _times(groups, name, drop) for name, drop in (("making", 0), ("cpu_wait", 0), ("runs", 1), ("exec", 3))
        ]
    lives = [time_in(group.median_ns("life_ns"), _MILLISECOND) for group in groups]
    columns.append(Column("lives, ms", lives, "point", drop=4))
    columns += _usage_columns(groups)
    if timed:
        columns.append(Column("all, ms", [time_in(group.cost_ns, _MILLISECOND) for group in groups], "point"))
    return Table(columns)


def _usage_columns(groups: Sequence[Group]) -> list[Column]:
    """What a task of each group used itself, medians: CPU time and page faults."""
    faults = [group.used.minor_faults.median_ns for group in groups]
    counts = [MISSING if count is None else f"{count:,.0f}" for count in faults]
    times = [time_in(group.used.cpu_ns.median_ns, _MICROSECOND) for group in groups]
    columns = [Column("used CPU, µs", times, "point", drop=4)] if any(text != MISSING for text in times) else []
    return [*columns, Column("faults", counts, "point", drop=4)] if any(text != MISSING for text in counts) else []


def _times(groups: Sequence[Group], name: str, drop: int) -> Column:
    """Medians of a time of each group, in us."""
    times = [time_in(group.median_ns(f"{name}_ns"), _MICROSECOND) for group in groups]
    title = {"cpu_wait": "CPU wait"}.get(name, name)
    return Column(f"{title}, µs", times, "point", drop=drop)


@dataclass
class _Executed:
    """Tasks that executed one program: how many, and how long they lived in sum, from their making to their end."""

    creator: str
    program: str
    times: int = 0
    life_ns: int = 0


def _executed(groups: Sequence[Group], *, by_creator: bool) -> list[_Executed]:
    """The programs that tasks executed, the longest first; those of each creator by themselves if asked for."""
    programs: dict[tuple[str, str], _Executed] = {}
    for group in groups:
        creator = clean(group.creator or "?") if by_creator else ""
        for program, times in group.programs.items():
            each = programs.setdefault((creator, program), _Executed(creator, program))
            each.times += times
            each.life_ns += group.program_life_ns[program]
    creators = Counter[str]()
    for each in programs.values():
        creators[each.creator] += each.life_ns
    return sorted(programs.values(), key=lambda each: (-creators[each.creator], each.creator, -each.life_ns))


def _programs(executed: Sequence[_Executed], *, by_creator: bool) -> Table:
    names = [clean(each.program) for each in executed]
    lives = [time_in(each.life_ns / each.times or None, _MILLISECOND) for each in executed]
    columns = [
        Column("executed program", names, least=_LABEL_LEAST, most=_LABEL_MOST, cut_start=True),
        Column("times", [f"{each.times:,}" for each in executed], "point"),
        Column("each lives, ms", lives, "point"),
        Column("all of them, ms", [time_in(each.life_ns or None, _MILLISECOND) for each in executed], "point", drop=1),
    ]
    if by_creator:
        creators = [each.creator for each in executed]
        columns.insert(0, Column("by", creators, least=_LABEL_LEAST, most=_LABEL_MOST, cut_start=True, once=True))
    return Table(columns)


def _sentences(census: Census, groups: Sequence[Group]) -> list[str]:
    sentences = []
    whole = sum(group.cost_ns for group in groups)
    if whole > 0 and len(groups) > 1:
        first = groups[0]
        sentences.append(
            f"What matters most: {clean(first.creator or 'a program')} by {first.mechanism}, "
            f"{counted(first.created, 'task')}, {format_share(first.cost_ns / whole)} of the cost."
        )
    if whole > 0 and any(group.waits for group in groups):
        sentences.append(
            "A creator that uses vfork or posix_spawn sleeps until its child calls exec, and is woken in the middle of "
            "it: creation ends there, while exec continues. `all` has both, and counts what they share once."
        )
    sentences += [_used(group) for group in groups[:_USED] if len(group.used.cpu_ns)]
    faults = census.ended.get("own_faults")
    if faults is not None and any(group.mechanism == "fork" and group.created > group.execed for group in groups):
        sentences.append(
            f"The watched process itself had {counted(faults, 'page fault')} meanwhile. While a forked child "
            "lives, each page that its parent writes is copied by one."
        )
    waited = sum(group.cpu_wait_ns for group in groups)
    if waited > 0:
        sentences.append(
            f"CPU wait: woken creators then waited for a CPU, {format_duration(waited)} together. That is not a cost "
            "of making tasks, and not in `all`."
        )
    failed = sum(group.failed_execs for group in groups)
    if failed:
        sentences.append(f"{counted(failed, 'exec call')} failed, usually while searching PATH.")
    return sentences


def _used(group: Group) -> str:
    """What each task of a group used itself, beside its creation, which the answer's figures are about."""
    cpu_ns, faults = group.used.cpu_ns.median_ns, group.used.minor_faults.median_ns
    each = f"{clean(group.creator or 'a program')}: {_EACH.get(group.mechanism, 'each task')} then used"
    text = f"{each} {format_duration(cpu_ns or 0)} of CPU time and {counted(round(faults or 0), 'page fault')} itself"
    share = group.used.share_of_creation(group.median_ns("making_ns"))
    if group.waits or share is None:
        return f"{text} (medians), its exec and its tear-down included."
    return f"{text} (medians). Its creation is {format_share(share)} of both together."


def _seen_by_ptrace(census: Census) -> str:
    """Say before all figures that they are the lesser way's, why, and what to do about it."""
    if census.how != "ptrace":
        return ""
    because = f"Kernel tracepoints cannot be used: {clean(census.without)}. " if census.without else ""
    return (
        f"{because}Seen by ptrace, which stops every task that creates another: lifetimes are inflated, and the "
        "cost of the calls is not known."
    )


def _cautions(census: Census, launches: Sequence[LaunchSite]) -> list[str]:
    ended = census.ended
    sentences = []
    if ended["ended_it"] and ended["timed_out"]:
        sentences.append("The time limit was reached before it ended, so it was stopped.")
    elif ended["timed_out"] and ended["exit_status"] >= 0:
        sentences.append("The time limit was reached before all the tasks it created had ended.")
    if ended["interrupted"]:
        sentences.append("Interrupted before it ended.")
    if census.running:
        ran = f"{census.running:,} of its tasks {'was' if census.running == 1 else 'were'} still running"
        sentences.append(f"{ran} when the census ended{_so_far(census)}.{_go_on(census)}")
    if sum(ended["failed"].values()):
        sentences.append(
            f"{counted(sum(ended['failed'].values()), 'call')} created no task; --json lists them by error."
        )
    if ended.get("unprivileged"):
        sentences.append(
            f"{clean(ended['unprivileged'])} ran without the privileges that it has otherwise: ptrace withholds them, "
            "so it may have failed, or have done something else. As root the census keeps them."
        )
    if ended.get("without_usage"):
        sentences.append(f"It is not known what tasks used themselves: {clean(ended['without_usage'])}.")
    room = [] if ended["lost"] else _room(census)
    return sentences + room + _stackless(census, launches) + _folded(census)


def _stackless(census: Census, launches: Sequence[LaunchSite]) -> list[str]:
    """Why call sites are missing, or less than they could be."""
    stacks = census.ended.get("stacks", {})
    sentences = []
    if stacks.get("by") == "frame pointers" and stacks["without"]:
        sentences.append(
            f"Call sites are known by frame pointers alone, which most programs lack: {clean(stacks['without'])}."
        )
    elif stacks.get("without"):
        sentences.append(f"Call sites are not known: {clean(stacks['without'])}.")
    missing = [f"{stacks[name]:,} {why}" for name, why in MISSING_STACKS.items() if stacks.get(name)]
    if missing:
        sentences.append(f"The call sites of some tasks are not known: {', '.join(missing)}.")
    if census.written.left_out:
        calls = counted(census.written.left_out, "call")
        sentences.append(f"The lines of {calls} that hooks noted had no room or could not be read, and are not known.")
    runtimes = {launch.site.program: launch.runtime.name for launch in launches if launch.runtime is not None}
    sites = census.sites.by_cost()
    silent = unnamed_lines(sites, hooked=census.hooked, library=census.hook_library, runtimes=runtimes)
    sentences += [clean(" ".join(silent))] if silent else []
    cut = Counter(site.ends for site in census.sites.by_cost() if site.ends in STACK_ENDS and site.where is None)
    sentences += [f"{counted(n, 'call site')} end at {STACK_ENDS[why]}." for why, n in cut.items() if why]
    return sentences


def _over_time(census: Census) -> list[DocumentBlock]:
    """The tree of creation, where times of tasks were kept."""
    if census.timeline is None or not census.created:
        return []
    tree = creation_tree(census.timeline, census.sites, int(census.ended["wall_ns"]))
    return [TreeBlock("Tasks over time", tree)]


def _folded(census: Census) -> list[str]:
    """What has no place of its own, since there are too many, or whose service could not be read."""
    sentences = []
    if census.services.folded:
        sentences.append(
            f"{counted(census.services.folded, 'service')} that cost least are counted together as others."
        )
    if census.ended.get("cgroups_full"):
        sentences.append("There were more than 8,192 control groups: services that came later are counted as unknown.")
    if census.ended.get("unplaced"):
        sentences.append(
            f"Of {counted(census.ended['unplaced'], 'creator')} the service is not known, since they ended before it "
            "could be read."
        )
    if census.sites.folded:
        sentences.append(f"{counted(census.sites.folded, 'call site')} that cost least are counted together.")
    return sentences


def _so_far(census: Census) -> str:
    """What those had used until then that still ran; empty where it is not known."""
    used = Usage()
    for group in census.groups.values():
        used.add(group.used_so_far)
    if not len(used.cpu_ns):
        return ""
    faults = counted(used.minor_faults.total_ns + used.major_faults, "page fault")
    return f", and had used {format_duration(used.cpu_ns.total_ns)} of CPU time and {faults} by then"


def _go_on(census: Census) -> str:
    """What to do where the program has ended and what it made has not."""
    ended = census.ended
    if ended["timed_out"] or ended["interrupted"] or ended["exit_status"] < 0:
        return ""
    return " Tasks created from now on are not counted; --until-all-end continues until all have ended."


def _room(census: Census) -> list[str]:
    """Say whether there was room for all events."""
    lost, grown = census.ended["lost"], census.ended["grown"]
    larger = f"enlarged during the census, to {format_bytes(census.ended['ring_bytes'])} on a CPU" if grown else ""
    if lost:
        were = "was" if lost == 1 else "were"
        also = f" The buffer was {larger}." if larger else ""
        return [
            f"{counted(lost, 'event')} {were} lost because the buffer was full: tasks may be missing, or seem to be "
            f"still running.{also} Start with a larger --buffer."
        ]
    return [f"The buffer was nearly full and was {larger}; nothing was lost."] if larger else []
