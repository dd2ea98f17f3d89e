"""A live process turned into counts, and the counts into an answer: by made processes and a made calibration."""

from __future__ import annotations

import json
import resource
import time
from dataclasses import replace

import jsonschema
import pytest
from tests.fakes.made_target import GIB_KB, MadeMachine, entry
from tests.model.synthetic import EACH_NS, SCATTERED_NS, calibration
from tools.json_schema import schema_of

from clonometer.errors import InputError
from clonometer.host.cgroup import Bound
from clonometer.host.source import Source
from clonometer.host.target.areas import parse_smaps
from clonometer.host.target.headroom import Headroom
from clonometer.host.target.reader import expected_lock_ns, read_target
from clonometer.model.calibration import POSIX_SPAWN, CostModel
from clonometer.model.features import Features
from clonometer.model.stretch import StretchAt
from clonometer.model.types import CostRange, Scale, Scales
from clonometer.prediction.copying import WriteRate, judge_copying, rate_of, rewritten_share, share_written
from clonometer.prediction.judge import Machine, Question, judge
from clonometer.prediction.mappings import group_areas
from clonometer.prediction.profile import profile_from_json, profile_of, without_names
from clonometer.prediction.refusals import judge_headroom
from clonometer.prediction.rough import rough_calibration
from clonometer.records import to_json
from clonometer.views.documents.predict import answer_blocks

BASE = 0x7F0000000000
MIB = 1 << 20
SPAWN = CostModel(("base",), (1.0, 1.0), (), (100_000.0,), (), 0.0, 0.0, ())
FREE = Headroom(0, 32 << 30, 8 << 30, 64 << 30, 0, 32 << 30, 0, None, None, None, Bound(32768, 300))


def groups_of(*entries: str, tables: int = 1 << 20):
    return group_areas(parse_smaps("".join(entries).encode()), tables)


def counts(features: Features) -> dict[str, int]:
    return {name: value for name, value in vars(features).items() if value}


@pytest.mark.parametrize(
    ("area", "expected"),
    [
        (
            entry(BASE, BASE + 4 * MIB, Rss=4096, Anonymous=4096, AnonHugePages=2048, Swap=8, Locked=4),
            {"anon_areas": 1, "anon_pages": 512, "anon_tables": 2}
            | {"huge_pages": 1, "swapped_pages": 2, "locked_pages": 1},
        ),
        # The pages of a written private file are all copied, written or not.
        (
            entry(BASE, BASE + MIB, inode=5, name="/lib/a.so", Rss=40, Anonymous=4),
            {"anon_areas": 1, "anon_pages": 10, "anon_tables": 1},
        ),
        (entry(BASE, BASE + MIB, inode=5, name="/lib/a.so", Rss=40), {"file_areas": 1, "file_pages": 10}),
        (entry(BASE, BASE + MIB, permissions="rw-s", Rss=40), {"shared_areas": 1, "shared_pages": 10}),
        (entry(BASE, BASE + MIB), {"empty_areas": 1}),
        (entry(BASE, BASE + MIB, flags="rd wr dc", Rss=40, Anonymous=40), {"dontfork_areas": 1, "dontfork_pages": 10}),
        (
            entry(BASE, BASE + MIB, flags="wf um", Rss=4),
            {"wipeonfork_areas": 1, "wipeonfork_pages": 1, "uffd_areas": 1},
        ),
        (
            entry(BASE, BASE + 4 * MIB, inode=9, name="/anon_hugepage", KernelPageSize=2048, Private_Hugetlb=4096),
            {"anon_areas": 1, "hugetlb_pages": 2, "hugetlb_page_bytes": 2 * MIB},
        ),
    ],
)
def test_an_area_is_counted_as_the_kernel_copies_it(area, expected):
    [group] = groups_of(area)
    assert counts(group.features) == expected


def test_areas_get_names_by_their_neighbours_and_rights():
    arena = 0x7F0040000000
    stack = 0x7F2000000000
    labelled = groups_of(
        entry(0x5500000000, 0x5500100000, name="[heap]", Rss=100, Anonymous=100),
        entry(BASE, BASE + 512 * MIB, Rss=500_000, Anonymous=500_000),
        entry(BASE + 512 * MIB, BASE + 513 * MIB, permissions="rwxp", Rss=8, Anonymous=8),
        entry(arena, arena + 33 * 4096, Rss=100, Anonymous=100),
        entry(arena + 33 * 4096, arena + 64 * MIB, permissions="---p"),
        entry(0xC000000000, 0xC000400000, Rss=20, Anonymous=20),
        entry(0xC000400000, 0xC004000000, permissions="---p"),
        entry(stack - 4096, stack, permissions="---p"),
        entry(stack, stack + 8 * MIB, Rss=16, Anonymous=16),
        entry(stack + 9 * MIB, stack + 10 * MIB, name="[anon:v8]", Rss=12, Anonymous=12),
        entry(stack + 11 * MIB, stack + 12 * MIB, inode=4, name="/lib/x/libc.so.6", permissions="r-xp", Rss=4),
        entry(stack + 13 * MIB, stack + 14 * MIB, inode=4, name="/dev/shm/pool", permissions="rw-s", Rss=4),
    )
    assert [(group.label, group.kind) for group in labelled] == [
        (f"[anon] at {BASE:x}", "anon"),
        ("[heap]", "heap"),
        ("[anon] glibc malloc arenas", "arena"),
        ("[anon] Go heap", "anon"),
        ("[anon] thread stacks", "stack"),
        ("[anon:v8]", "anon"),
        ("[anon] code generated at run time", "code"),
        ("libc.so.6", "file"),
        ("pool", "shared"),
        ("[anon] reserved, no access", "reserved"),
    ]
    assert labelled[-1].areas == 3


def test_page_tables_add_up_to_what_the_process_has():
    # 10,000 pages, apart, each in an area: they share the tables of 80 MiB.
    apart = [entry(BASE + at * 8192, BASE + at * 8192 + 4096, Rss=4, Anonymous=4) for at in range(1000)]
    [group] = groups_of(*apart, tables=100 << 12)
    assert group.features.anon_tables == 4
    # 64 MiB in use of 1 GiB: in one piece, all over, or as VmPTE says between.
    spread = entry(BASE, BASE + 1024 * MIB, Rss=64 << 10, Anonymous=64 << 10)
    for tables, expected in ((0, 32), (1 << 30, 512), (101 << 12, 100)):
        [group] = groups_of(spread, tables=tables)
        # VmPTE has a table of an upper level beside them: of the GiB, and of the one that begins at its end.
        assert abs(group.features.anon_tables - expected) <= 1


def answered(tmp_path, *entries, machine=None, headroom=FREE, how=None, question=None, **status):
    made = MadeMachine(tmp_path).process(smaps="".join(entries), **status)
    reading = read_target(Source(made.root), 4711, how=how)
    profile = profile_of(reading, huge_pages_used=False)
    machine = machine or Machine(calibration(), is_rough=False)
    return judge(profile, machine, question or Question(), reading=reading, headroom=headroom)


HEAP = entry(0x5500000000, 0x5500000000 + 8 * MIB, name="[heap]", Rss=8192, Anonymous=8192)
LIBRARY = entry(BASE, BASE + MIB, permissions="r-xp", inode=7, name="/lib/libx.so", Rss=40)


def test_a_fork_costs_what_its_parts_cost(tmp_path):
    answer = answered(tmp_path, HEAP, LIBRARY, VmPTE="28 kB")
    each = EACH_NS
    # Where pages lie was not seen: half of them are taken to be scattered, at the time for least touched memory.
    pages = 2048 * (each["small pages"] + 0.5 * SCATTERED_NS[0])
    expected = each["base"] + 4 * each["page tables"] + each["written areas"] + each["file and shared areas"] + pages
    expected += each["open files"]
    assert answer.fork.first_ns.median == pytest.approx(expected)
    assert answer.fork.unwritten_ns.median == pytest.approx(0.8 * expected)
    # How much is rewritten is not known: from nothing to everything, and what waits longest is the headline.
    assert answer.fork.later_ns.median == pytest.approx(expected)
    assert answer.fork.later_ns.low < 0.8 * expected < expected < answer.fork.later_ns.high
    assert answer.waits.call_ns == answer.fork.first_ns
    assert answer.waits.until_exit_ns.median == pytest.approx((1 + 0.9) * expected)
    assert answer.waits.until_exec_ns.median == pytest.approx((1 + 0.95) * expected)
    assert answer.waits.until_exec_ns.high == pytest.approx(answer.fork.first_ns.high + answer.exec_ns.high)
    assert sum(term.first_ns for term in answer.terms) == pytest.approx(expected)
    heap, library = answer.contributors
    assert (heap.label, library.label) == ("[heap]", "libx.so")
    assert heap.first_ns == pytest.approx(4 * each["page tables"] + each["written areas"] + pages)
    doubled = answered(
        tmp_path, HEAP, LIBRARY, VmPTE="28 kB", machine=Machine(calibration(), False, Scales.alike(Scale(2.0, 0.1)))
    )
    assert doubled.fork.first_ns.median == pytest.approx(2 * expected)
    assert (doubled.basis.scales.cold.spread, doubled.basis.is_scaled) == (0.1, True)
    assert doubled.fork.first_ns.low < doubled.fork.first_ns.median < doubled.fork.first_ns.high


def test_on_a_busy_machine_a_caller_waits_longer_than_the_cpu_time_of_its_call(tmp_path):
    free = answered(tmp_path, HEAP, LIBRARY, VmPTE="28 kB")
    busy = [StretchAt(1.0, 2.0, 4.0, 8.0)]
    machine = Machine(calibration(), is_rough=False, stretches=busy)
    shared = answered(tmp_path, HEAP, LIBRARY, VmPTE="28 kB", machine=machine)
    assert shared.fork == free.fork
    assert (shared.basis.stretches, free.basis.stretches) == (busy, None)
    assert shared.waits.call_cpu_ns == free.waits.call_cpu_ns == free.waits.call_ns
    for name in ("call_ns", "until_exit_ns", "until_exec_ns"):
        wall, cpu = getattr(shared.waits, name), getattr(free.waits, name)
        assert wall.median == pytest.approx(4 * cpu.median)
        # Both ways it may be half or double; of the two together that leaves less than their product.
        assert 2 * cpu.low < wall.low < 4 * cpu.low
        assert 4 * cpu.high < wall.high < 8 * cpu.high
    document = to_json(shared)
    assert "of CPU time, and the CPUs are busy now." in str(answer_blocks(document))
    assert "busy" not in str(answer_blocks(to_json(free)))


def test_how_long_reading_will_hold_the_memory_lock_is_known_before(tmp_path):
    made = MadeMachine(tmp_path).process(smaps=HEAP, RssAnon="1048576 kB", VmRSS="1048576 kB")
    source = Source(made.root)
    pages = read_target(source, 4711).status.rss_bytes // resource.getpagesize()
    assert pages >= 1 << 18
    assert expected_lock_ns(source, 4711) == expected_lock_ns(source, 4711, how="smaps") == 100 * pages
    assert expected_lock_ns(source, 4711, how="counters") == expected_lock_ns(source, 4711, how="pagemap") == 0


def test_counters_alone_give_wider_intervals_that_hold_the_exact_ones(tmp_path):
    exact = answered(tmp_path, HEAP, LIBRARY, RssAnon="8192 kB", VmPTE="28 kB")
    wide = answered(tmp_path, HEAP, LIBRARY, RssAnon="8192 kB", VmPTE="28 kB", how="counters")
    assert wide.basis.how == "counters"
    assert wide.fork.first_ns.low < exact.fork.first_ns.median < wide.fork.first_ns.high
    assert wide.fork.first_ns.high - wide.fork.first_ns.low > exact.fork.first_ns.high - exact.fork.first_ns.low


def test_500_gb_overflow_nothing(tmp_path):
    size_kb = 500 * GIB_KB
    whole = entry(BASE, BASE + size_kb * 1024, Rss=size_kb, Anonymous=size_kb)
    for how in (None, "smaps"):
        answer = answered(tmp_path, whole, how=how, RssAnon=f"{size_kb} kB", VmPTE=f"{size_kb // 512} kB")
        assert answer.fork.first_ns.median == pytest.approx(500 * GIB_KB / 4 * (40 + 0.5 * 80), rel=0.1)
        assert answer.page_tables_bytes == pytest.approx(size_kb * 1024 / 512, rel=0.01)
        assert answer.cow.copied_at_worst_bytes == size_kb * 1024
        assert "small pages" in answer.basis.beyond
        assert any("CAP_SYS_ADMIN" in note for note in answer.basis.notes)


def test_a_process_with_nothing_but_hugetlbfs(tmp_path):
    pool = entry(BASE, BASE + (1 << 30), inode=9, name="/anon_hugepage", KernelPageSize=2048, Private_Hugetlb=1 << 20)
    counters = {"RssAnon": "0 kB", "RssFile": "0 kB", "HugetlbPages": f"{1 << 20} kB", "VmPTE": "8 kB"}
    answer = answered(tmp_path, pool, **counters)
    assert answer.rss_bytes == 1 << 30
    assert (answer.features.hugetlb_pages, answer.features.anon_pages, answer.page_tables_bytes) == (512, 0, 0)
    assert answer.cow.copied_at_worst_bytes == 1 << 30
    assert [part.rss_bytes for part in answer.contributors] == [1 << 30]
    assert any("hugetlbfs" in note for note in answer.basis.notes)


@pytest.mark.parametrize(
    ("headroom", "check", "fails"),
    [
        ({}, "overcommit", "no"),
        ({"overcommit": 1, "total_bytes": 0}, "overcommit", "no"),
        ({"total_bytes": 4 * MIB, "available_bytes": 1 << 40}, "overcommit", "yes"),
        ({"overcommit": 2}, "overcommit", "no"),
        ({"overcommit": 2, "committed_bytes": (32 << 30) - 7 * MIB}, "overcommit", "yes"),
        ({"overcommit": 2, "committed_bytes": (32 << 30) - 9 * MIB}, "overcommit", "no"),
        ({"overcommit": 2, "committed_bytes": (32 << 30) - 9 * MIB, "reserve_bytes": 2 * MIB}, "overcommit", "yes"),
        ({"overcommit": None}, "overcommit", "unknown"),
        ({"memory": Bound(10 * MIB, 10 * MIB - 4096)}, "cgroup_memory", "yes"),
        ({"memory": Bound(10 * MIB, 5 * MIB)}, "cgroup_memory", "maybe"),
        ({"memory": Bound(100 * MIB, 5 * MIB)}, "cgroup_memory", "no"),
        ({"memory": Bound(100 * MIB, None)}, "cgroup_memory", "unknown"),
        ({"memory": Bound(4096, None)}, "cgroup_memory", "yes"),
        ({"pids": Bound(10, None)}, "cgroup_pids", "unknown"),
        ({"pids": Bound(0, None)}, "cgroup_pids", "yes"),
        ({"pids": Bound(10, 10)}, "cgroup_pids", "yes"),
        ({"pids": Bound(10, 9)}, "cgroup_pids", "no"),
        ({"user_tasks": Bound(500, 500)}, "user_tasks", "yes"),
        ({"machine_tasks": Bound(300, 300)}, "machine_tasks", "yes"),
    ],
)
def test_what_would_refuse_a_child(tmp_path, headroom, check, fails):
    answer = answered(tmp_path, HEAP, LIBRARY, headroom=replace(FREE, **headroom))
    by_name = {each.check: each for each in answer.would_fail.checks}
    assert by_name[check].fails == fails
    assert answer.would_fail.fails == fails
    assert sum(each.fails != "no" for each in by_name.values()) == (fails != "no")


def test_a_promise_that_was_not_seen_is_not_judged(tmp_path):
    made = MadeMachine(tmp_path).process(smaps=HEAP, RssAnon="8192 kB")
    profile = profile_of(read_target(Source(made.root), 4711, how="counters"), huge_pages_used=False)
    for left_bytes, fails in ((1 << 30, "unknown"), (MIB, "yes")):
        headroom = replace(FREE, overcommit=2, committed_bytes=(32 << 30) - left_bytes)
        assert judge_headroom(profile, headroom, 0, 0).fails == fails


def test_copying_at_a_rate_never_exceeds_the_worst():
    cost = {"parent_small": CostRange(1, 600, 700)}
    features = Features(anon_pages=1000, huge_pages=2)
    worst = judge_copying(features, cost, None, 10.0)
    assert worst.copied_at_worst_bytes == (1000 + 1024) * 4096
    assert worst.worst_ns == pytest.approx((1000 + 1024) * 600)
    assert worst.copied_expected_bytes is None
    slow, fast = (judge_copying(features, cost, WriteRate(rate), 10.0) for rate in (4096.0, 1e12))
    assert slow.copied_expected_bytes == pytest.approx(10 * 4096, rel=0.01)
    assert fast.copied_expected_bytes == worst.copied_at_worst_bytes
    assert fast.expected_ns == pytest.approx(worst.worst_ns)
    # What was measured over one time is foretold for the same time.
    rate = rate_of(700, 2024, 3.0)
    assert share_written(rate, 2024, 3.0) == pytest.approx(700 / 2024)


@pytest.mark.parametrize(
    ("rate", "every_s", "share"),
    [
        (None, 60.0, (0.0, 1.0, 1.0, "unknown")),
        (WriteRate(1e6), None, (0.0, 1.0, 1.0, "unknown")),
        (WriteRate(1e12), 1.0, (1.0, 1.0, 1.0, "given")),
        (WriteRate(0.0), 1.0, (0.0, 0.0, 0.0, "given")),
        # A fifth of the pages within 10 s; in a tenth of that a fiftieth at least, in twice that two fifths at most.
        (WriteRate(rate_of(200, 1000, 10.0), "measured", 10.0), 10.0, (0.2, 0.2, 0.2, "measured")),
        (WriteRate(rate_of(200, 1000, 10.0), "measured", 10.0), 1.0, (0.02, 1 - 0.8**0.1, 0.2, "measured")),
        (WriteRate(rate_of(200, 1000, 10.0), "measured", 10.0), 20.0, (0.2, 1 - 0.8**2, 0.4, "measured")),
        (WriteRate(rate_of(200, 1000, 10.0), "measured", 10.0), 600.0, (0.2, 1.0, 1.0, "measured")),
        (WriteRate(rate_of(200, 1000, 10.0), "touched", 10.0), 20.0, (0.0, 0.4, 0.4, "touched")),
    ],
)
def test_what_is_known_of_the_share_that_is_rewritten(rate, every_s, share):
    seen = rewritten_share(Features(anon_pages=1000), rate, every_s)
    assert (seen.low, seen.likely, seen.high) == pytest.approx(share[:3], abs=1e-5)
    assert seen.source == share[3]


def test_a_known_share_narrows_a_later_fork(tmp_path):
    def later(*question):
        return answered(tmp_path / str(question), HEAP, question=Question(*question)).fork

    unknown, none, all_of_it = later(), later(WriteRate(0.0), 10.0, 60.0), later(WriteRate(1e12), 10.0, 60.0)
    assert none.later_ns.median == pytest.approx(none.unwritten_ns.median)
    assert all_of_it.later_ns.median == pytest.approx(all_of_it.first_ns.median)
    # With hot caches too.
    assert none.later_hot_ns.median == pytest.approx(none.unwritten_hot_ns.median)
    assert all_of_it.later_hot_ns.median == pytest.approx(all_of_it.first_hot_ns.median)
    assert unknown.later_ns.high - unknown.later_ns.low > all_of_it.later_ns.high - all_of_it.later_ns.low


def test_what_ifs_change_what_they_say(tmp_path):
    models = {**calibration().models, POSIX_SPAWN: SPAWN}
    machine = Machine(calibration(models=models), is_rough=False)
    large = entry(BASE, BASE + 64 * MIB, Rss=65536, Anonymous=65536)
    huge = entry(BASE + 64 * MIB, BASE + 66 * MIB, Rss=2048, Anonymous=2048, AnonHugePages=2048)
    answer = answered(tmp_path, HEAP, large, huge, LIBRARY, machine=machine)
    changes = {change.change: change for change in answer.what_ifs}
    now = answer.fork.first_ns.median
    assert set(changes) == {"posix_spawn", "helper", "dontfork", "thp_on", "thp_off"}
    assert changes["posix_spawn"].first_ns.median == 100_000
    assert changes["posix_spawn"].how == "measured"
    assert {change.how for name, change in changes.items() if name != "posix_spawn"} == {"modelled"}
    assert changes["thp_off"].first_ns.median > now
    # All of the large area and of the heap would be huge: 36 pages at 500 ns for 18,432 small ones.
    assert changes["thp_on"].first_ns.median < 0.2 * now
    assert f"at {BASE:x}" in changes["dontfork"].sentence
    assert changes["dontfork"].first_ns.median == pytest.approx(
        now - next(part.first_ns for part in answer.contributors) + EACH_NS["areas kept from children"], rel=0.2
    )
    assert [change.first_ns.median for change in answer.what_ifs] == sorted(
        change.first_ns.median for change in answer.what_ifs
    )


def test_the_rough_model_says_so_and_knows_every_term(tmp_path):
    answer = answered(tmp_path, HEAP, machine=Machine(rough_calibration(), is_rough=True))
    assert (answer.basis.model, answer.basis.age_days) == ("rough", None)
    assert answer.fork.first_ns.high > 4 * answer.fork.first_ns.low
    assert "measured" not in {change.how for change in answer.what_ifs}


def test_an_old_calibration_is_advised_against(tmp_path):
    for days, advised in ((29, False), (31, True)):
        made = calibration(made_at=int(time.time() - 86_400 * days))
        notes = " ".join(answered(tmp_path / str(days), HEAP, machine=Machine(made, is_rough=False)).basis.notes)
        assert ("clonometer calibrate" in notes) == advised


def test_notes_name_what_is_odd(tmp_path):
    low = entry(0x8048000, 0x8048000 + MIB, Rss=8, Anonymous=8)
    notes = " ".join(answered(tmp_path, low, State="T (stopped)", TracerPid=99, NSpid="4711\t7").basis.notes)
    for words in ("stopped", "Process 99 traces it", "process 7 in its PID namespace", "32-bit"):
        assert words in notes


def test_a_profile_comes_back_and_gives_no_name_away(tmp_path):
    secret = entry(BASE + 2 * MIB, BASE + 3 * MIB, name="[anon:secret]", Rss=8, Anonymous=8)
    made = MadeMachine(tmp_path).process(smaps=HEAP + LIBRARY + secret, Name="topsecret")
    profile = profile_of(read_target(Source(made.root), 4711), huge_pages_used=False)
    document = json.loads(json.dumps(to_json(profile)))
    again = profile_from_json(document)
    machine = Machine(calibration(), is_rough=False)
    live = judge(profile, machine, Question())
    assert judge(again, machine, Question()).fork == live.fork
    assert live.would_fail is None
    nameless = json.dumps(to_json(without_names(profile)))
    assert not [word for word in ("secret", "libx", "4711", "server", f"{BASE:x}") if word in nameless]
    for broken in ({**document, "schema": 99}, {**document, "features": {"anon_pages": -1}}, [], {}):
        with pytest.raises(InputError):
            profile_from_json(broken)


def test_the_answer_is_as_its_schema_says(tmp_path):
    from clonometer.prediction.answer import Predicted

    answer = answered(tmp_path, HEAP, LIBRARY, question=Question(WriteRate(1e6), 5.0))
    jsonschema.validate(to_json(answer), schema_of({"predicted": Predicted}))
