"""The parts of a launch add up to what the model predicts, in the lanes and the order in which they happen."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.fakes.fork_machine import fork_machine
from tests.model.synthetic import calibration

from clonometer.host.target.runtime import Runtime
from clonometer.launch_paths.own_work import OwnWork, OwnWorks, load_own_works
from clonometer.launch_paths.reading import load_book
from clonometer.model.calibration import EXEC, EXIT, FORK_STARTS, PTHREAD
from clonometer.model.features import Features
from clonometer.model.predictor import predict
from clonometer.model.types import UNSCALED, Scale, Scales
from clonometer.prediction.answer import Predicted, RuntimeLaunches, RuntimePaths
from clonometer.prediction.fork_page import make_fork_page
from clonometer.prediction.fork_shape import SMALL_PROGRAM, ForkShape, private_bytes, shaped
from clonometer.prediction.fork_timeline import CALL_ORDER, FORK, FORK_EXEC, MECHANISMS, THREAD, predict_launch
from clonometer.prediction.judge import Machine, Question, judge
from clonometer.prediction.profile import Profile
from clonometer.prediction.runtime_paths import runtime_paths
from clonometer.prediction.spans import PredictedTime
from clonometer.records import to_json
from clonometer.views.documents.predict import predicted_document
from clonometer.views.terminal.document import render_document

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


BOOK = load_book()
NOTHING = OwnWorks("a machine", "2026-11-27", {}, {})
SPAWN = PredictedTime(1e5, 2e5, 3e5)


def predicted(scales: Scales = UNSCALED) -> Predicted:
    whole = Features(anon_areas=1, anon_pages=100_000, anon_tables=200, threads=1)
    profile = Profile("it", "smaps", None, 400 << 20, whole, None, None, 1, 1, [])
    return replace(
        judge(profile, Machine(calibration(), is_rough=False, scales=scales), Question()), posix_spawn_ns=SPAWN
    )


def paths_of(
    runtime: str,
    version: str | None,
    *,
    is_root: bool = True,
    works: OwnWorks = NOTHING,
    answer: Predicted | None = None,
) -> RuntimePaths:
    paths = runtime_paths(Runtime(runtime, version, "/bin/x"), BOOK, answer or predicted(), works, is_root=is_root)
    assert paths is not None
    return paths


def options(runtime: str, version: str | None, api: str, *, is_root: bool = True) -> dict[str, list[str]]:
    """Of an API: the options by mechanism."""
    launches = paths_of(runtime, version, is_root=is_root).launches
    return {each.mechanism: list(each.options) for each in launches if each.api == api}


def entry(paths: RuntimePaths, api: str, mechanism: str) -> RuntimeLaunches:
    (launches,) = (each for each in paths.launches if (each.api, each.mechanism) == (api, mechanism))
    return launches


def test_options_of_one_path_are_one_entry_and_what_copies_is_first() -> None:
    copies = [each.copies for each in paths_of("python", "3.11").launches]
    assert copies == sorted(copies, reverse=True)
    assert True in copies
    assert False in copies
    popen = options("python", "3.11", "subprocess.run, Popen")
    assert {"user=", "preexec_fn="} <= set(popen["fork"])
    assert {"", "cwd="} <= set(popen["vfork"])


def test_an_older_version_takes_another_path() -> None:
    assert "" in options("python", "3.9", "subprocess.run, Popen")["fork"]
    assert "" not in options("python", "3.11", "subprocess.run, Popen")["fork"]


@pytest.mark.parametrize(("is_root", "mechanism"), [(True, "fork"), (False, "vfork")])
def test_what_only_root_or_only_others_take_is_left_out(is_root: bool, mechanism: str) -> None:
    system = {each.mechanism for each in paths_of("ruby", "3.1.2", is_root=is_root).launches if "system" in each.api}
    assert mechanism in system


def test_a_runtime_that_the_book_does_not_have_has_no_paths() -> None:
    assert runtime_paths(Runtime("cobol", "1", "/bin/x"), BOOK, predicted(), NOTHING, is_root=True) is None


def test_a_caller_waits_for_the_kernels_part_where_the_runtimes_own_is_not_known() -> None:
    answer = predicted()
    paths = paths_of("python", "3.11", answer=answer)
    copying, sharing = (entry(paths, "subprocess.run, Popen", how) for how in ("fork", "vfork"))
    assert (copying.waits_ns, copying.own_ns) == (answer.waits.until_exec_ns, None)
    assert (sharing.waits_ns, sharing.own_ns) == (SPAWN, None)


def test_the_runtimes_own_work_is_added_at_the_speed_of_now() -> None:
    works = replace(NOTHING, runtimes={"python": {"preexec_fn": OwnWork(1e6, "exec")}})
    answer = predicted(Scales.alike(Scale(1.5, 0.1)))
    entry_now = entry(paths_of("python", "3.11", works=works, answer=answer), "subprocess.run, Popen", "fork")
    kernel = answer.waits.until_exec_ns
    assert entry_now.own_ns == 1.5e6
    assert entry_now.waits_ns is not None
    assert entry_now.waits_ns.median == kernel.median + 1.5e6
    # On other machines it may be half of that, or twice.
    assert (entry_now.waits_ns.low, entry_now.waits_ns.high) == (kernel.low + 0.75e6, kernel.high + 3e6)


def test_who_forks_by_himself_waits_for_the_call_alone() -> None:
    works = replace(NOTHING, runtimes={"python": {"os.fork-exec": OwnWork(0.0, "call")}})
    answer = predicted()
    forking = entry(paths_of("python", "3.11", works=works, answer=answer), "os.fork and os.exec", "fork")
    assert forking.waits_ns == answer.waits.call_ns


def test_who_executes_nothing_waits_for_the_call_alone() -> None:
    answer = predicted()
    assert entry(paths_of("python", "3.11", answer=answer), "os.fork", "fork").waits_ns == answer.waits.call_ns


def test_what_comes_with_clonometer_is_of_lines_of_the_book() -> None:
    works = load_own_works()
    for name, lines in works.runtimes.items():
        assert set(lines) <= {path.name for path in BOOK.runtime(name).paths}, name
        assert works.versions[name]


def test_many_options_that_do_the_same_are_named_in_part() -> None:
    glibc = replace(predicted(), paths=paths_of("glibc", "2.36"))
    text = " ".join(render_document(predicted_document, to_json(glibc), width=120).split())
    assert "POSIX_SPAWN_SETSID" in text
    assert "POSIX_SPAWN_USEVFORK" not in text
    assert re.search(r"and \d+ more", text)
    assert "preexec_fn" in render_document(
        predicted_document, to_json(replace(predicted(), paths=paths_of("python", "3.11")))
    )
