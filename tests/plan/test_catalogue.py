from __future__ import annotations

import copy

import pytest

from clonometer.errors import CatalogueError
from clonometer.plan.catalogue import read_catalogue


def test_everything_described_is_there(described):
    catalogue = read_catalogue([described])
    fork = catalogue.workloads["launch.fork"]
    assert fork.temperatures == ("cold", "warm")
    [vfork] = [workload for workload in catalogue.raw["workloads"] if workload["id"] == "launch.vfork"]
    assert vfork["call_returns_contains"] == "child_life"
    assert (catalogue.workloads["launch.absent"].available, catalogue.workloads["launch.absent"].reason) == (
        False,
        "needs Linux 9.9, this is 6.1",
    )
    assert catalogue.axes["linkage"].unavailable == {"musl": "no musl-gcc when it was built"}
    assert (catalogue.axes["open_files"].kind, catalogue.axes["open_files"].minimum) == ("count", 3)
    assert catalogue.quantities["reaped_ns"].stage == "reaped"
    assert catalogue.quantities["cost_ns"].stage is None
    assert catalogue.lacks == ({"what": "launch.absent", "reason": "needs Linux 9.9, this is 6.1"},)


def test_what_was_merged_reads_the_same_again(described):
    catalogue = read_catalogue([described])
    assert read_catalogue([catalogue.raw]) == catalogue


def second_driver(described):
    other = copy.deepcopy(described)
    other["driver"]["name"] = "go"
    other["workloads"] = [{**other["workloads"][0], "id": "launch.goroutine"}]
    return other


def test_drivers_are_merged_and_each_workload_knows_its_driver(described):
    catalogue = read_catalogue([described, second_driver(described)])
    drivers = {workload["id"]: workload["driver"] for workload in catalogue.raw["workloads"]}
    assert (drivers["launch.fork"], drivers["launch.goroutine"]) == ("probe", "go")
    assert [driver["name"] for driver in catalogue.raw["drivers"]] == ["probe", "go"]
    again = read_catalogue([catalogue.raw])
    assert again == catalogue


def test_a_value_is_unavailable_only_where_every_driver_lacks_it(described):
    other = second_driver(described)
    other["axes"]["linkage"]["unavailable"] = {"dynamic_now": "go is static"}
    assert read_catalogue([described, other]).axes["linkage"].unavailable == {}
    other["axes"]["linkage"]["unavailable"] = {"musl": "go is static"}
    catalogue = read_catalogue([described, other])
    assert catalogue.axes["linkage"].unavailable == {"musl": "no musl-gcc when it was built"}
    assert catalogue.raw["axes"]["linkage"]["unavailable"] == {"musl": "no musl-gcc when it was built"}


@pytest.mark.parametrize(
    ("spoil", "key"),
    [
        (lambda other: other["axes"]["placement"].update(default="free"), "axes.placement.default"),
        (lambda other: other["axes"]["placement"].update(values=["pinned"]), "axes.placement.values"),
        (
            lambda other: other["axes"]["parent_bytes"].update(minimum=4096, default=4096),
            "axes.parent_bytes.default",
        ),
        (lambda other: other["axes"]["parent_bytes"].update(type="count"), "axes.parent_bytes.type"),
        (lambda other: other["axes"]["program"].update(form="target_.*"), "axes.program.form"),
        (lambda other: other["quantities"]["reaped_ns"].update(unit="us"), "quantities.reaped_ns.unit"),
        (lambda other: other["workloads"][0].update(id="launch.fork"), "workloads[0].id"),
    ],
)
def test_drivers_that_contradict_each_other_are_refused(described, spoil, key):
    other = second_driver(described)
    spoil(other)
    with pytest.raises(CatalogueError) as caught:
        read_catalogue([described, other])
    assert "'go'" in caught.value.message
    assert key in caught.value.message


SPOILT = [
    (lambda described: described["axes"]["parent_bytes"].pop("type"), "axes.parent_bytes.type"),
    (lambda described: described["axes"]["parent_bytes"].update(type="size"), "axes.parent_bytes.type"),
    (lambda described: described["axes"]["parent_bytes"].update(default="64MiB"), "axes.parent_bytes.default"),
    (lambda described: described["axes"]["parent_bytes"].update(default=True), "axes.parent_bytes.default"),
    (lambda described: described["axes"]["parent_bytes"].pop("default"), "axes.parent_bytes.default"),
    (lambda described: described["axes"]["open_files"].update(default=2), "axes.open_files.default"),
    (lambda described: described["axes"]["open_files"].update(minimum=-1), "axes.open_files.minimum"),
    (lambda described: described["axes"]["pages"].update(values="first"), "axes.pages.values"),
    (lambda described: described["axes"]["pages"].update(default="dirty"), "axes.pages.default"),
    (lambda described: described["axes"]["pages"].update(values=["rewritten", "rewritten"]), "axes.pages.values"),
    (lambda described: described["axes"]["pages"].update(unavailable={"dirty": "no"}), "axes.pages.unavailable"),
    (lambda described: described["axes"]["pages"].pop("summary"), "axes.pages.summary"),
    (lambda described: described["axes"]["program"].update(form="target_("), "axes.program.form"),
    (lambda described: described["axes"]["program"].update(form="x+"), "axes.program.default"),
    (lambda described: described["axes"].update(temperature=described["axes"]["pages"]), "axes.temperature"),
    (lambda described: described["axes"].update({"Pages": described["axes"]["pages"]}), "axes.Pages"),
    (lambda described: described.update(axes=[]), "axes"),
    (lambda described: described["quantities"]["reaped_ns"].pop("unit"), "quantities.reaped_ns.unit"),
    (lambda described: described["quantities"].update({"a b": described["quantities"]["cost_ns"]}), "quantities.a b"),
    (lambda described: described.pop("workloads"), "workloads"),
    (lambda described: described["workloads"].append("launch.x"), "workloads[11]"),
    (lambda described: described["workloads"][0].update(id="launch.fork[x]"), "workloads[0].id"),
    (lambda described: described["workloads"][1].update(id="launch.fork"), "workloads[1].id"),
    (lambda described: described["workloads"][0].update(family="No kin"), "workloads[0].family"),
    (lambda described: described["workloads"][0]["axes"].append("colour"), "workloads[0].axes"),
    (lambda described: described["workloads"][0]["quantities"].append("colour"), "workloads[0].quantities"),
    (lambda described: described["workloads"][0].update(temperatures=["hot"]), "workloads[0].temperatures"),
    (lambda described: described["workloads"][0].update(nulls={"image_runs_ns": 1}), "workloads[0].nulls"),
    (lambda described: described["workloads"][0].update(available="yes"), "workloads[0].available"),
    (lambda described: described["workloads"][0].update(available=False), "workloads[0].reason"),
    (lambda described: described["lacks"].append({"what": "x"}), "lacks[1].reason"),
]


@pytest.mark.parametrize(("spoil", "key"), SPOILT, ids=[f"{number}:{key}" for number, (_, key) in enumerate(SPOILT)])
def test_a_wrong_description_names_driver_and_key(described, spoil, key):
    spoil(described)
    with pytest.raises(CatalogueError) as caught:
        read_catalogue([described])
    assert f"'probe': invalid --describe output: {key} " in caught.value.message


def test_a_driver_without_a_name_is_refused(described):
    del described["driver"]["name"]
    with pytest.raises(CatalogueError, match=r"driver\.name"):
        read_catalogue([described])
