"""The parts of a launch add up to what the model predicts, in the lanes and the order in which they happen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.fork_machine import fork_machine

from clonometer.launch_paths.reading import load_book
from clonometer.model.calibration import EXEC, EXIT, FORK_STARTS, PTHREAD
from clonometer.model.predictor import predict
from clonometer.prediction.fork_page import make_fork_page
from clonometer.prediction.fork_shape import SMALL_PROGRAM, ForkShape, private_bytes, shaped
from clonometer.prediction.fork_timeline import CALL_ORDER, FORK, FORK_EXEC, MECHANISMS, THREAD, predict_launch
from clonometer.prediction.judge import Machine

GIB = 1 << 30
MACHINE = fork_machine()


def launched(mechanism, shape, machine=MACHINE):
    return predict_launch(mechanism, shaped(shape), shape, machine.calibration, machine.scales_now)


def lasting(launch, lane, *names):
    return sum(part.lasts_ns for part in launch.parts if part.lane == lane and part.part in (names or CALL_ORDER))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_parts_of_a_call_add_up_to_it_and_follow_each_other(mechanism):
    launch = launched(mechanism, ForkShape(memory_bytes=GIB, threads=5, copied=0.1))
    call_ns = lasting(launch, "parent") + lasting(launch, "parent", "waits")
    assert call_ns == pytest.approx(launch.call_ns.median_ns)
    for lane in ("parent", "child"):
        ends = {part.starts_ns + part.lasts_ns for part in launch.parts if part.lane == lane}
        begins = [part.starts_ns for part in launch.parts if part.lane == lane]
        assert begins == sorted(begins)
        assert all(any(begin == pytest.approx(end) for end in ends) for begin in begins[1:])


def test_a_first_fork_and_an_unwritten_one_are_those_of_predict():
    shape = ForkShape(memory_bytes=GIB)
    predicted = predict(shaped(shape), MACHINE.calibration, scales=MACHINE.scales_now)
    assert launched(FORK, shape).call_ns == predicted.fork.first
    assert launched(FORK, replace(shape, rewritten=0.0)).call_ns == predicted.fork.unwritten
    assert launched(FORK_EXEC, shape).call_ns == predicted.fork.first.plus(predicted.exec)


def test_the_waits_of_a_child_are_divided_and_nothing_is_added():
    shape = ForkShape(memory_bytes=GIB, copied=0.0)
    predicted = predict(shaped(shape), MACHINE.calibration, scales=MACHINE.scales_now)
    ends = lasting(launched(FORK, shape), "child", "starts", "frees", "ends")
    assert ends == pytest.approx(predicted.exit.median_ns)
    execs = lasting(launched(FORK_EXEC, shape), "child", "starts", "frees", "executes")
    assert execs == pytest.approx(predicted.exec.median_ns)


def test_a_child_lives_until_the_parent_has_copied_what_it_writes_to():
    launch = launched(FORK, ForkShape(memory_bytes=GIB, copied=0.5))
    copies = next(part for part in launch.parts if part.part == "copies")
    frees = next(part for part in launch.parts if part.part == "frees")
    assert copies.starts_ns == pytest.approx(launch.call_ns.median_ns)
    assert frees.starts_ns == pytest.approx(copies.starts_ns + copies.lasts_ns)
    assert copies.lasts_ns == pytest.approx(launch.copying_ns)
    assert launch.copied_bytes == pytest.approx(GIB / 2, rel=0.001)


def test_what_was_not_measured_is_no_part_and_no_launch():
    models = {name: model for name, model in MACHINE.calibration.models.items() if name not in (PTHREAD, FORK_STARTS)}
    machine = Machine(
        replace(MACHINE.calibration, models=models, first_writes={}), is_rough=False, scales=MACHINE.scales
    )
    shape = ForkShape(memory_bytes=GIB, copied=0.5)
    assert launched(THREAD, shape, machine) is None
    launch = launched(FORK, shape, machine)
    assert launch.copying_ns is None
    assert not {"starts", "copies", "lives"} & {part.part for part in launch.parts}
    start = make_fork_page(machine, load_book()).start
    assert start.compared is None
    assert [way.name for way in start.ways if way.cost is None] == ["thread"]


def test_a_wake_up_is_at_most_what_all_waits_share():
    slow = replace(MACHINE.calibration.models[FORK_STARTS], each_ns=(1e9,))
    models = {**MACHINE.calibration.models, FORK_STARTS: slow}
    machine = Machine(replace(MACHINE.calibration, models=models), is_rough=False, scales=MACHINE.scales)
    for mechanism, name in ((FORK, EXIT), (FORK_EXEC, EXEC)):
        launch = launched(mechanism, ForkShape(memory_bytes=GIB), machine)
        base_ns = machine.calibration.models[name].each_ns[0] * machine.scales_now.waits.factor
        assert lasting(launch, "child", "starts") == pytest.approx(base_ns)


def test_a_shape_has_the_memory_that_is_asked_for_in_small_pages_or_huge_ones():
    for pages in ("given", "small", "huge"):
        features = shaped(ForkShape(memory_bytes=GIB, pages=pages, threads=3))
        stacks = 2 * 4096
        assert private_bytes(features) == GIB + stacks + private_bytes(SMALL_PROGRAM)
        assert (features.huge_pages == 512) == (pages == "huge")
        assert features.threads == 3


def test_every_mechanism_of_the_book_is_offered_and_threads_too():
    page = make_fork_page(MACHINE, load_book())
    assert {launch.mechanism for runtime in page.runtimes for launch in runtime.launches} == set(MECHANISMS)
    node = next(runtime for runtime in page.runtimes if runtime.name == "node")
    spawn = next(launch for launch in node.launches if launch.api.startswith("child_process.spawn,"))
    assert spawn.mechanism == FORK_EXEC
