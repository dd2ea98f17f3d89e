from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from tests.dataset.made import make_run
from tests.fakes.memory_run import write_run
from tools.json_schema import schema_of

from clonometer.dataset.compare import compare_fleet
from clonometer.dataset.load import load
from clonometer.dataset.show import show_fleet
from clonometer.dataset.types import FleetCompared, FleetShown
from clonometer.errors import InputError, UsageError
from clonometer.records import to_json

FORK, PTHREAD = "launch.fork[temperature=warm]", "launch.pthread[temperature=warm]"


def test_hosts_are_units_and_the_odd_one_is_named(fleet: Path) -> None:
    dataset = load(fleet)
    shown = show_fleet(dataset, "class")
    assert [(group.name, group.n_hosts, group.n_runs) for group in shown.groups] == [("Test CPU, 4 CPUs, KVM", 9, 18)]
    row = next(row for row in shown.rows if (row.label.cell, row.label.stage) == (PTHREAD, "reaped"))
    label = next(
        place for place, label in enumerate(dataset.labels) if (label.cell, label.stage) == (PTHREAD, "reaped")
    )
    chosen = dataset.rows["label"] == label
    hosts = dataset.hosts[1][dataset.rows["run"][chosen]]
    logs = np.log(dataset.rows["value"][chosen])
    table = np.array([logs[hosts == host] for host in range(9)])
    means, within = table.mean(axis=1), float(table.var(axis=1, ddof=1).mean())
    assert (row.n_hosts, row.n_runs) == (9, 18)
    assert row.median == pytest.approx(math.exp(float(np.median(means))))
    assert row.within_host == pytest.approx(math.sqrt(within))
    assert row.between_hosts == pytest.approx(math.sqrt(means.var(ddof=1) - within / 2))
    [odd] = shown.odd_hosts
    assert (odd.host, odd.workload) == ("00000008", "launch.fork")
    assert odd.ratio == pytest.approx(2.0, rel=0.2)
    Draft202012Validator(schema_of({"fleet_shown": FleetShown})).validate(json.loads(json.dumps(to_json(shown))))


def test_fewer_hosts_have_no_odd_one_and_one_host_no_interval(fleet: Path) -> None:
    shown = show_fleet(load(fleet, where=lambda run: run.host == "00000008"), "all")
    assert not shown.odd_hosts
    assert {(row.low, row.high, row.between_hosts, row.n_hosts) for row in shown.rows} == {(None, None, None, 1)}
    assert all(row.within_host is not None for row in shown.rows)


def test_an_unknown_fact_is_refused_with_the_nearest(fleet: Path) -> None:
    with pytest.raises(UsageError, match="kernel") as error:
        show_fleet(load(fleet), "kernal")
    assert "kernel" in f"{error.value.message} {error.value.hint}"


def kernels(folder: Path, *, hosts: int, paired: bool, fork: float, seed: int = 5) -> Path:
    """Hosts that differ by 20%, on two kernels; with the new one fork takes ``fork`` times as long."""
    random = np.random.default_rng(seed)
    levels = np.exp(0.2 * random.normal(size=2 * hosts))
    for place, (kernel, factor) in enumerate((("6.12.3", 1.0), ("6.12.4", fork))):
        for number in range(hosts):
            host = number if paired else number + place * hosts
            level = float(levels[host] * np.exp(0.01 * random.normal()))
            facts = {"kernel.release": kernel, "cpu.microcode": "0x2" if kernel == "6.12.4" else "0x1"}
            run = make_run(
                host=f"{host:08x}", day=10 * place, seed=10 * host + place, factor=level * factor, pthread=level,
                facts=facts,
            )  # fmt: skip
            write_run(folder / kernel / f"{number}.parquet", run)
    return folder


def test_hosts_in_both_groups_are_compared_each_with_itself(tmp_path: Path) -> None:
    dataset = load(kernels(tmp_path, hosts=6, paired=True, fork=1.1))
    answer = compare_fleet(dataset, "kernel")
    assert answer.paired == ["6.12.4"]
    [pair] = answer.compared.pairs
    verdicts = {(row.other.cell, row.other.stage): row for row in pair.rows}
    assert {row.verdict for (cell, _), row in verdicts.items() if cell == FORK} == {"more"}
    assert {row.verdict for (cell, _), row in verdicts.items() if cell == PTHREAD} <= {"equal", "unknown"}
    ends = verdicts[FORK, "reaped"].change.interval
    assert ends is not None
    assert ends[0] < 1.1 < ends[1]
    assert {difference.key: difference.other for difference in pair.differences} == {
        "kernel.release": "6.12.4",
        "cpu.microcode": "0x2",
    }
    Draft202012Validator(schema_of({"fleet_compared": FleetCompared})).validate(json.loads(json.dumps(to_json(answer))))


def test_other_hosts_carry_what_hosts_differ_by(tmp_path: Path) -> None:
    """The same change is not seen where each kernel has its hosts, which differ by 20%; one of 3 times is."""
    dataset = load(kernels(tmp_path / "small", hosts=6, paired=False, fork=1.1))
    answer = compare_fleet(dataset, "kernel")
    assert answer.paired == []
    assert {row.verdict for row in answer.compared.pairs[0].rows} == {"unknown"}
    dataset = load(kernels(tmp_path / "large", hosts=6, paired=False, fork=3.0))
    answer = compare_fleet(dataset, "kernel", base="6.12.4")
    forks = [row for row in answer.compared.pairs[0].rows if row.other.cell == FORK]
    assert {row.verdict for row in forks} == {"less"}


def test_a_fleet_of_one_group_has_nothing_to_compare(fleet: Path) -> None:
    with pytest.raises(InputError, match=r"kernel\.release=6\.12\.3"):
        compare_fleet(load(fleet), "kernel")
    with pytest.raises(UsageError):
        compare_fleet(load(fleet), "host", base="none")
