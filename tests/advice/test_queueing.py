"""The simulation against closed forms of queueing theory, which know nothing of its events."""

from __future__ import annotations

import math
from statistics import fmean

import pytest

from clonometer.advice.queueing import CONSTANT, Load, QueueStage, Server, Station, latencies_ns

SERVICE_NS = 100_000.0
MANY = 40_000
#: A mean of many requests that wait for each other.
NEAR = 0.06


def mean(server, load, **changes):
    rate_hz = load * server.cpus * 1e9 / server.cpu_ns
    return fmean(latencies_ns(server, Load(rate_hz, MANY, **changes)))


def one_station(tasks, cpus, *, work_ns=SERVICE_NS, **about):
    return Server([Station(tasks)], [QueueStage(0, 0.0, work_ns, answers=True)], cpus, **about)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_exponential_work_in_one_task_is_a_queue_m_m_1(load):
    expected = SERVICE_NS / (1 - load)
    assert mean(one_station(1, 1), load, work_varies=True) == pytest.approx(expected, rel=NEAR)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_constant_work_in_one_task_waits_as_pollaczek_and_khinchine_say(load):
    expected = SERVICE_NS * (1 + load / (2 * (1 - load)))
    assert mean(one_station(1, 1), load) == pytest.approx(expected, rel=NEAR)


@pytest.mark.parametrize(("servers", "load"), [(2, 0.6), (3, 0.8), (8, 0.7)])
def test_a_pool_with_a_cpu_for_each_task_waits_as_erlang_says(servers, load):
    offered = servers * load
    last = offered**servers / math.factorial(servers) / (1 - load)
    waits = last / (sum(offered**n / math.factorial(n) for n in range(servers)) + last)
    expected = SERVICE_NS * (1 + waits / (servers * (1 - load)))
    assert mean(one_station(servers, servers), load, work_varies=True) == pytest.approx(expected, rel=NEAR)


@pytest.mark.parametrize("work_varies", [False, True])
def test_with_short_slices_the_mean_depends_on_the_load_alone(work_varies):
    shared = one_station(0, 1, slice_ns=SERVICE_NS / 50)
    rate_hz = 0.7e9 / SERVICE_NS
    taken = fmean(latencies_ns(shared, Load(rate_hz, 30_000, work_varies=work_varies)))
    assert taken == pytest.approx(SERVICE_NS / 0.3, rel=2 * NEAR)


def test_tasks_of_one_cpu_without_slices_are_one_queue():
    pool, task_each, single = (one_station(tasks, 1) for tasks in (4, 0, 1))
    load = Load(7000, 5000)
    expected = latencies_ns(single, load)
    assert latencies_ns(task_each, load) == pytest.approx(expected)
    # A task of the pool takes the next request before others run that hold earlier ones: the mean is the same.
    assert fmean(latencies_ns(pool, load)) == pytest.approx(fmean(expected), rel=NEAR)


def test_two_loops_of_which_each_request_meets_one_are_two_queues():
    loops = Server([Station(1, copies=2)], [QueueStage(0, 0.0, SERVICE_NS, answers=True)], cpus=2)
    expected = SERVICE_NS * (1 + 0.6 / (2 * 0.4))
    assert mean(loops, 0.6) == pytest.approx(expected, rel=NEAR)


def test_without_load_a_request_takes_what_its_stages_take_until_the_answer():
    server = Server(
        [Station(1), Station(0)],
        [QueueStage(0, 10.0), QueueStage(1, 20.0, 30.0, block_ns=40.0, answers=True), QueueStage(1, 1000.0)],
    )
    taken = latencies_ns(server, Load(1e5, 100, arrivals=CONSTANT))
    assert taken == pytest.approx([100.0] * 90)
    assert server.cpu_ns == 1060.0


def test_a_blocked_task_frees_the_cpu_but_not_the_task():
    stages = [QueueStage(0, 1000.0, block_ns=9000.0, answers=True)]
    alone, several = Server([Station(1)], stages), Server([Station(8)], stages)
    assert alone.utilisation(1e5) == pytest.approx(1.0)
    assert several.utilisation(1e5) == pytest.approx(0.125)
    load = Load(9e4, 4000)
    assert fmean(latencies_ns(alone, load)) > 3 * fmean(latencies_ns(several, load))


def test_who_has_waited_needs_the_cpu_again_and_waits_for_it():
    stage = QueueStage(0, 20.0, 30.0, block_ns=40.0, then_ns=50.0, answers=True)
    server = Server([Station(0)], [stage])
    assert server.cpu_ns == 100.0
    assert latencies_ns(server, Load(1e6, 100, arrivals=CONSTANT)) == pytest.approx([140.0] * 90)
    # The other one, of another station, has the CPU for most of the time.
    crowded = latencies_ns(server, Load(9e6, 3000))
    split_later = latencies_ns(Server([Station(0)], [QueueStage(0, 70.0, 30.0, 40.0, answers=True)]), Load(9e6, 3000))
    assert fmean(crowded) > fmean(split_later) + 50.0
    without_block = QueueStage(0, 20.0, 30.0, then_ns=50.0, answers=True)
    assert latencies_ns(Server([Station(0)], [without_block]), Load(1e6, 100, arrivals=CONSTANT)) == pytest.approx(
        [100.0] * 90
    )


def test_a_cpu_that_is_handed_on_answers_before_the_next_is_accepted():
    def answered(hands_cpu):
        stages = [QueueStage(0, 100.0, hands_cpu=hands_cpu), QueueStage(1, 100.0, answers=True)]
        server = Server([Station(1), Station(0)], stages)
        return latencies_ns(server, Load(1e9, 20, arrivals=CONSTANT))

    # All come at once; the first two are left out.
    assert answered(hands_cpu=True) == pytest.approx([200.0 * (n + 1) - n for n in range(2, 20)])
    assert answered(hands_cpu=False)[0] > 20 * 100


def test_a_seed_repeats_a_simulation():
    server = one_station(2, 2)
    first, second, other = (latencies_ns(server, Load(15_000, 500, seed=seed)) for seed in (1, 1, 2))
    assert first == second != other
