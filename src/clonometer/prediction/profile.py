"""What is known of a process, apart from the machine that it runs on: enough to predict, and to keep in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from clonometer.host.target.reader import Reading
from clonometer.inputs import check_schema
from clonometer.model.features import PAGES_OF_HUGE, SMALL_PAGE_BYTES, Features, add_features
from clonometer.prediction.mappings import MappingGroup, group_areas
from clonometer.records import Count, Ge, OneOf, from_json, version

PROFILE_SCHEMA = 1
#: Kinds of groups whose labels tell of programs and paths.
_NAMED_BY_PROGRAM = ("file", "shared")
#: How many areas a process has of which none could be seen: between these, and as a rule.
_FEWEST_AREAS, _USUAL_AREAS, _MOST_AREAS = 20, 200, 2000


@dataclass(frozen=True)
class Profile:
    """What a process has that its fork depends on."""

    schema = version(PROFILE_SCHEMA)

    process: Annotated[str | None, "The program's name; null where the profile was saved without names."]
    how: Annotated[str, OneOf(("smaps", "pagemap", "counters")), "How its areas were read."]
    why: Annotated[str | None, "Why smaps was not used."]
    rss_bytes: Annotated[Count, "Memory that is present."]
    features: Annotated[Features, "The most likely value."]
    least: Annotated[Features | None, "The lowest possible value; null where everything was read."]
    most: Annotated[Features | None, "The highest possible value."]
    promised_bytes: Annotated[
        Count | None, "Memory that must be committed for a child (areas with the flag ac); null where not read."
    ]
    largest_promised_bytes: Annotated[Count | None, "How much of that is in the largest area."]
    groups: Annotated[Sequence[MappingGroup], "Its areas by name, those with most memory first."]
    arenas: Annotated[int, Ge(0), "Arenas of glibc's malloc beside its first."] = 0


def profile_of(reading: Reading, *, huge_pages_used: bool) -> Profile:
    """Count what a reading saw; where only counters were read it matters whether huge pages may be in use."""
    status = reading.status
    tables = status.counters.get("VmPTE", 0)
    groups = [] if reading.areas is None else group_areas(reading.areas, tables, pages_known=reading.how != "counters")
    whole = replace(
        add_features(group.features for group in groups),
        page_table_bytes=tables,
        open_files=reading.open_files or 0,
        threads=status.threads,
    )
    least = most = None
    if reading.how == "counters":
        whole, least, most = _by_counters(reading, whole, huge_pages_used=huge_pages_used)
    promised = [area.size_bytes for area in reading.areas or () if area.has("ac") and not area.has("dc")]
    is_promise_known = reading.how == "smaps"
    return Profile(
        process=status.name,
        how=reading.how,
        why=reading.why,
        rss_bytes=status.rss_bytes + status.counters.get("HugetlbPages", 0),
        features=whole,
        least=least,
        most=most,
        promised_bytes=sum(promised) if is_promise_known else None,
        largest_promised_bytes=max(promised, default=0) if is_promise_known else None,
        groups=groups,
        arenas=sum(group.areas for group in groups if group.kind == "arena"),
    )


def _by_counters(reading: Reading, whole: Features, *, huge_pages_used: bool) -> tuple[Features, Features, Features]:
    """What a process likely has, at least and at most, where only sums of its memory are known.

    Its pages are in small pages or in huge ones, its page tables between as many as the pages fill and all that it has
    (VmPTE). Where not even maps may be read, 20 to 2,000 areas are taken, 200 as a rule.
    """
    counters = reading.status.counters
    pages = counters.get("RssAnon", counters.get("VmRSS", 0)) // SMALL_PAGE_BYTES
    swapped = counters.get("VmSwap", 0) // SMALL_PAGE_BYTES
    fewest = -(-pages // PAGES_OF_HUGE)
    all_tables = max(fewest, whole.page_table_bytes // SMALL_PAGE_BYTES)
    usual = replace(whole, anon_pages=pages, anon_tables=min(pages, all_tables), swapped_pages=swapped)
    if reading.areas is None:
        few, likely, many = (
            replace(usual, anon_areas=count // 4, file_areas=count - count // 4)
            for count in (_FEWEST_AREAS, _USUAL_AREAS, _MOST_AREAS)
        )
    else:
        # Which areas are kept from children is not known: at least none of them is copied.
        few, likely, many = replace(usual, anon_areas=0, empty_areas=usual.empty_areas + usual.anon_areas), usual, usual
    huge = pages // PAGES_OF_HUGE if huge_pages_used else 0
    small = pages - huge * PAGES_OF_HUGE
    return (
        likely,
        replace(few, anon_pages=small, huge_pages=huge, anon_tables=-(-small // PAGES_OF_HUGE), open_files=0),
        replace(many, open_files=max(many.open_files, reading.status.fd_slots)),
    )


def without_names(profile: Profile) -> Profile:
    """Take out what tells of the program: its name, and those of its files, which become ``file 1``, ``file 2``."""
    groups = []
    for number, group in enumerate(profile.groups, 1):
        label = group.label
        if group.kind in _NAMED_BY_PROGRAM:
            label = f"{group.kind} {number}"
        elif group.kind == "anon" and group.label != "[anon]":
            # An address tells where to look, and a name of anonymous memory what the program is.
            label = f"[anon] {number}"
        groups.append(replace(group, label=label))
    # The reason names the process and its user.
    return replace(profile, process=None, why=None, groups=groups)


def profile_from_json(content: object) -> Profile:
    """Read a profile that anybody may have written.

    Raises
    ------
    InputError
        If it is none, or contradicts itself.
    """
    check_schema(content, PROFILE_SCHEMA)
    return from_json(Profile, content)
