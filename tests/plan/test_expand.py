from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clonometer.errors import PlanError
from clonometer.plan.expand import Entry, expand
from clonometer.plan.limits import (
    estimated_launch_ns,
    estimated_process_ns,
    limits_conflict,
    limits_for,
    read_limits,
    sparing,
)
from clonometer.plan.types import Limits


def entry(workloads, settings=None, temperatures=None, place="here", **limits):
    return Entry(place, workloads, settings or {}, temperatures, limits)


def texts(targets):
    return [[cell.text for cell in target.cells] for target in targets]


def refused(entries, catalogue):
    with pytest.raises(PlanError) as caught:
        expand(entries, catalogue)
    return caught.value


def test_workloads_are_crossed_with_values(catalogue):
    settings = {"parent_bytes": ["2MiB", 1 << 26], "placement": ["pinned", "free"]}
    targets = expand([entry(["launch.fork", "launch.pthread"], settings, ["warm"])], catalogue)
    assert [text for [text] in texts(targets)] == [
        f"{workload}[parent_bytes={size}{placement},temperature=warm]"
        for workload in ("launch.fork", "launch.pthread")
        for size in ("2MiB", "64MiB")
        for placement in ("", ",placement=free")
    ]
    assert {target.condition["parent_bytes"] for target in targets} == {1 << 21, 1 << 26}


def test_temperatures_share_a_target_cold_first(catalogue):
    [target] = expand([entry(["launch.fork"], None, ["warm", "cold"])], catalogue)
    assert [cell.temperature for cell in target.cells] == ["cold", "warm"]


def test_without_temperatures_a_workload_has_all_its_own(catalogue):
    targets = expand([entry(["launch.fork", "launch.stamp", "clock.used"])], catalogue)
    assert texts(targets) == [
        ["launch.fork[temperature=cold]", "launch.fork[temperature=warm]"],
        ["launch.stamp[temperature=warm]"],
        ["clock.used"],
    ]


def test_a_workload_without_temperature_ignores_it(catalogue):
    assert texts(expand([entry(["clock.used"], None, ["cold"])], catalogue)) == [["clock.used"]]


def test_a_temperature_that_a_named_workload_lacks_is_refused(catalogue):
    error = refused([entry(["launch.stamp"], None, ["cold"])], catalogue)
    assert error.message == "here: launch.stamp is not measured cold"
    assert error.hint == "it is measured warm"


def test_an_unknown_temperature_is_refused(catalogue):
    assert "did you mean 'cold'" in refused([entry(["launch.fork"], None, ["colt"])], catalogue).message


def test_a_glob_takes_the_temperatures_and_axes_that_each_workload_has(catalogue):
    targets = expand([entry(["launch.*"], {"parent_bytes": ["1GiB"]}, ["cold"])], catalogue)
    assert ["launch.none"] in texts(targets)
    assert ["launch.fork[parent_bytes=1GiB,temperature=cold]"] in texts(targets)
    assert not any(target.workload in ("launch.stamp", "clock.used") for target in targets)


def test_a_named_workload_must_have_the_axis_and_the_error_lists_those_it_has(catalogue):
    error = refused([entry(["launch.none"], {"parent_bytes": [0]})], catalogue)
    assert "unknown axis of launch.none 'parent_bytes'" in error.message
    assert error.hint == "available: linkage, placement"


def test_an_axis_that_no_workload_of_a_glob_has_is_refused(catalogue):
    error = refused([entry(["clock.*"], {"parent_bytes": [0]})], catalogue)
    assert "no workload of clock.* has the axis 'parent_bytes'" in error.message
    assert error.hint == "the axes they have: linkage, placement"
    assert "did you mean 'pages'" in refused([entry(["clock.*"], {"page": ["first"]})], catalogue).message


def test_an_unknown_workload_names_the_nearest(catalogue):
    error = refused([entry(["launch.fokr"])], catalogue)
    assert error.message == "here: unknown workload 'launch.fokr'; did you mean 'launch.fork'?"
    assert "launch.pthread" in (error.hint or "")
    assert "launch.p*z" in refused([entry(["launch.p*z"])], catalogue).message


def test_workloads_of_a_driver_that_is_missing_may_be_meant_by_globs_alone(catalogue):
    lacking = replace(catalogue, lacks=({"what": "go", "reason": "Go is not here: golang-go has it"},))
    both = [entry(["launch.fork", "*.command"]), entry(["go.*", "*.thread"], {"message_bytes": [1]})]
    assert [target.workload for target in expand(both, lacking)] == ["launch.fork"]
    assert "Go is not here: golang-go has it" in refused([entry(["go.command"])], lacking).message
    assert "unknown workload" in refused([entry(["launch.p*z"])], lacking).message
    assert "unknown workload" in refused([entry(["go.*"])], catalogue).message
    # Of no driver in particular: there may be none.
    assert expand([entry(["*.command"], {"message_bytes": [1]})], catalogue) == ()


def test_a_condition_named_twice_is_one_target(catalogue):
    targets = expand(
        [
            entry(["launch.fork"], None, ["warm"], samples=50),
            entry(["launch.pthread"]),
            entry(["launch.fork"], {"parent_bytes": [0, "0"]}, ["cold"], blocks=2),
        ],
        catalogue,
    )
    assert [target.workload for target in targets] == ["launch.fork", "launch.pthread"]
    assert [cell.temperature for cell in targets[0].cells] == ["cold", "warm"]
    assert targets[0].limits == Limits(samples=50, blocks=2)
    assert targets[1].limits == Limits()


def test_a_condition_with_two_limits_of_a_kind_is_refused(catalogue):
    entries = [
        entry(["launch.fork"], None, ["warm"], "cells 1", samples=50),
        entry(["launch.f*k"], None, ["cold"], "cells 2", samples=60),
    ]
    error = refused(entries, catalogue)
    assert error.message == "cells 2: launch.fork has samples = 60 here and 50 in cells 1"


def test_what_this_machine_lacks_stays_in_the_plan(catalogue):
    targets = expand([entry(["launch.fork"], {"linkage": ["musl"]}, ["warm"]), entry(["launch.absent"])], catalogue)
    assert texts(targets)[0] == ["launch.fork[linkage=musl,temperature=warm]"]
    assert targets[1].workload == "launch.absent"


def test_clean_pages_have_no_cold_launch(catalogue):
    settings = {"parent_bytes": ["64MiB"], "pages": ["first", "clean"]}
    first, clean = expand([entry(["launch.fork"], settings)], catalogue)
    assert [cell.temperature for cell in first.cells] == ["cold", "warm"]
    assert [cell.temperature for cell in clean.cells] == ["warm"]


def test_pages_without_memory_are_left_out(catalogue):
    settings = {"parent_bytes": [0, "64MiB"], "pages": ["rewritten", "first", "clean"]}
    targets = expand([entry(["launch.fork"], settings, ["warm"])], catalogue)
    kept = [(target.condition["parent_bytes"], target.condition["pages"]) for target in targets]
    assert kept == [(0, "rewritten"), *((1 << 26, pages) for pages in ("rewritten", "first", "clean"))]


def test_an_entry_of_which_nothing_is_left_is_refused(catalogue):
    settings = {"parent_bytes": ["64MiB"], "pages": ["clean"]}
    assert "only an earlier fork" in refused([entry(["launch.fork"], settings, ["cold"])], catalogue).message
    assert "parent_bytes=0" in refused([entry(["launch.fork"], {"pages": ["first"]})], catalogue).message
    assert "no such temperature" in refused([entry(["launch.st*"], None, ["cold"])], catalogue).message


@pytest.mark.parametrize(
    ("axis", "value", "message"),
    [
        ("parent_bytes", "64Mi B", "takes a size such as"),
        ("parent_bytes", -1, "the minimum is 0"),
        ("parent_bytes", 1.5, "takes a size such as"),
        ("parent_bytes", True, "takes a size such as"),
        ("open_files", 2, "open_files = 2: the minimum is 3"),
        ("open_files", "many", "takes a whole number"),
        ("open_files", "4KiB", "takes a whole number"),
        ("open_files", "half per cpu", "or one such as '2 per cpu'"),
        ("open_files", "0 per cpu", "the minimum is 3"),
        ("placement", "fre", "did you mean 'free'"),
        ("placement", 1, "takes one of pinned, free"),
        ("program", "", "takes a text"),
        ("program", 7, "takes a text"),
    ],
)
def test_a_wrong_value_names_axis_and_what_it_takes(catalogue, axis, value, message):
    error = refused([entry(["launch.fork_exec"], {axis: [value]})], catalogue)
    assert error.message.startswith("here: ")
    assert axis in error.message
    assert message in error.message


@pytest.mark.parametrize(("text", "each"), [("1 per cpu", 1), ("4 per cpu", 4), ("12percpu", 12)])
def test_a_count_for_each_cpu_follows_the_machine(catalogue, monkeypatch, text, each):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {1, 5, 7})
    [target] = expand([entry(["launch.fork_exec"], {"open_files": [text]}, ["warm"])], catalogue)
    assert target.condition["open_files"] == 3 * each


def test_counts_that_are_the_same_on_this_machine_are_measured_once(catalogue, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3})
    values = [4, "1 per cpu", "2 per cpu"]
    targets = expand([entry(["launch.fork_exec"], {"open_files": values}, ["warm"])], catalogue)
    assert [target.condition["open_files"] for target in targets] == [4, 8]


def test_easing_lowers_the_base_but_not_what_was_asked_for(catalogue):
    dear = entry(["launch.fork"], {"parent_bytes": ["1GiB"]}, ["warm"], samples=7)
    [eased] = expand([dear], catalogue, ease=True)
    assert (eased.limits.warmup, eased.limits.blocks, eased.limits.samples) == (1, 1, 7)
    [plain] = expand([dear], catalogue)
    assert plain.limits == Limits(samples=7)


def test_a_family_restricts_what_globs_mean(catalogue):
    names = {each.id for each in catalogue.workloads.values() if each.family == "floor"}
    assert names
    [*targets] = expand([replace(entry(["*.*"]), family="floor")], catalogue)
    assert {target.workload for target in targets} == names
    [named] = expand([replace(entry(["launch.fork", "*.pthread"], None, ["warm"]), family="floor")], catalogue)
    assert named.workload == "launch.fork"
    assert expand([replace(entry(["*.*"]), family="of no driver here")], catalogue) == ()


LIMITS = st.builds(
    Limits,
    processes=st.integers(1, 40),
    samples=st.integers(1, 500),
    blocks=st.integers(1, 9),
    warmup=st.integers(0, 50),
    block_limit_ns=st.integers(0, 10**9),
)
SIZES = st.integers(0, 1 << 34)


def test_milliseconds_become_nanoseconds():
    assert read_limits({"block_limit_ms": 3, "warmup": 0}) == {"block_limit_ns": 3_000_000, "warmup": 0}


def test_a_conflict_is_the_same_limit_with_another_value():
    assert limits_conflict({"samples": 1, "blocks": 2}, {"samples": 1, "warmup": 3}) is None
    assert limits_conflict({"samples": 1, "blocks": 2}, {"blocks": 3}) == "blocks"


@given(LIMITS, SIZES)
def test_easing_never_raises_a_limit_and_leaves_processes(base, size):
    eased = limits_for({"parent_bytes": size}, base)
    assert eased.processes == base.processes
    assert eased.warmup <= base.warmup
    assert eased.blocks <= base.blocks


@given(SIZES, SIZES)
def test_more_memory_never_makes_a_launch_cheaper(first, second):
    less, more = sorted([first, second])
    assert estimated_launch_ns({"parent_bytes": less}) <= estimated_launch_ns({"parent_bytes": more})


def test_cold_caches_cost_the_time_until_they_are_cold():
    hot = estimated_launch_ns({"caches": "hot", "idle_ns": 100_000_000, "thrash_bytes": 1 << 30})
    idle = {"caches": "idle", "idle_ns": 100_000_000, "concurrency": 4}
    # Launchers idle at the same time.
    assert estimated_launch_ns(idle) == 100_000_000 + 4 * hot
    walked = {"caches": "thrashed", "thrash_bytes": 1 << 30}
    assert 100_000_000 < estimated_launch_ns(walked) - hot < 1_000_000_000
    assert estimated_process_ns(walked, Limits(samples=1, blocks=1, warmup=0)) > estimated_launch_ns(walked) * 2


def test_easing_keeps_a_process_with_much_memory_short():
    condition = {"parent_bytes": 1 << 30}
    eased = estimated_process_ns(condition, limits_for(condition))
    assert eased < estimated_process_ns(condition, Limits()) / 4


def test_a_block_limit_ends_the_block_after_three_samples_at_least():
    condition = {"parent_bytes": 0}
    launch_ns = estimated_launch_ns(condition)
    long = estimated_process_ns(condition, Limits(samples=1000, blocks=1, warmup=0, block_limit_ns=0))
    short = estimated_process_ns(condition, Limits(samples=1000, blocks=1, warmup=0, block_limit_ns=1))
    assert round(long - short) == round(997 * launch_ns)


def test_the_more_sparing_limits_have_the_most_processes():
    first = Limits(processes=12, samples=200, blocks=3, warmup=5, block_limit_ns=50)
    second = Limits(processes=20, samples=100, blocks=3, warmup=20, block_limit_ns=70)
    assert sparing(first, second) == Limits(processes=20, samples=100, blocks=3, warmup=5, block_limit_ns=50)
    boundless = Limits(block_limit_ns=0)
    assert sparing(boundless, Limits(block_limit_ns=9)).block_limit_ns == 9
    assert sparing(boundless, boundless).block_limit_ns == 0
