"""What contradicts itself is refused with both sides; what is written is read back."""

from __future__ import annotations

import pytest

from clonometer.advice.wish import ServerMachine, Wish, check_wish
from clonometer.app.advise import FIELDS, default_workers, read_wish_file, wish_fields
from clonometer.errors import InputError, UsageError
from clonometer.results.latency_limit import LatencyLimit, parse_latency_limit
from clonometer.units import parse_seconds

HERE = ServerMachine(cpus=2, memory_bytes=8 << 30)
MS = 1e6


@pytest.mark.parametrize(
    ("wish", "both"),
    [
        (Wish(rate_hz=2000, work_ns=MS, cpus=1), ("--rate 2000", "--cpus 1")),
        (Wish(rate_hz=1, cpus=3), ("--cpus 3", "2")),
        (Wish(rate_hz=1, written_bytes=4096), ("--written 4 KiB", "--memory 0 B")),
        (Wish(rate_hz=1, memory_bytes=16 << 30), ("--memory 16 GiB", "8 GiB")),
        (Wish(rate_hz=1, work_ns=6 * MS, limit=LatencyLimit("p99", 5 * MS)), ("--limit p99=5ms", "--work 6.00 ms")),
        (Wish(rate_hz=1, block_ns=6 * MS, limit=LatencyLimit("p50", 5 * MS)), ("--limit p50=5ms", "--block")),
        (Wish(rate_hz=1e9), ("--rate 1e+09", "1e+07")),
    ],
)
def test_a_contradiction_is_refused_with_both_sides(wish, both):
    with pytest.raises(UsageError) as refused:
        check_wish(wish, HERE)
    assert all(text in refused.value.message for text in both), refused.value.message


def test_what_can_be_is_not_refused():
    check_wish(Wish(rate_hz=1000, work_ns=MS, cpus=2, memory_bytes=1 << 30, written_bytes=1 << 20), HERE)


def test_options_and_files_have_one_vocabulary(tmp_path):
    file = tmp_path / "wish.toml"
    file.write_text('rate = 300\nwork = "1.5ms"\nmemory = "64MiB"\nlimit = "p99=20ms"\nconnections = "per-request"\n')
    fields = read_wish_file(file)
    assert fields == {
        "rate_hz": 300.0,
        "work_ns": pytest.approx(1.5e6),
        "memory_bytes": 64 << 20,
        "limit": LatencyLimit("p99", pytest.approx(20e6)),
        "connections": "per_request",
    }
    assert {"rate", "work", "written", "isolation", "cpus"} <= FIELDS.keys()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("wrok = 1", "wrok"),
        ("rate = 0", "above 0"),
        ('rate = "many"', "many"),
        ('cpus = "two"', "whole number"),
        ("isolation = 1", "word"),
        ('work = "-1ms"', "not a time"),
        ('limit = "p98=1ms"', "not a limit"),
        ("rate = -1e300", "no number of requests"),
    ],
)
def test_what_a_file_cannot_mean_is_refused(tmp_path, text, why):
    file = tmp_path / "wish.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=why):
        read_wish_file(file)


def test_a_file_that_is_none_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_wish_file(tmp_path / "missing.toml")
    (tmp_path / "broken.toml").write_text("rate = = 1")
    with pytest.raises(InputError, match="not TOML"):
        read_wish_file(tmp_path / "broken.toml")
    for number in ("9" * 5000, "0x" + "f" * 5000, "1" + "0" * 4000):
        (tmp_path / "broken.toml").write_text(f"rate = {number}")
        with pytest.raises(InputError, match=r"digits|beyond 64 bits"):
            read_wish_file(tmp_path / "broken.toml")


def test_times_and_limits_are_read_with_their_units():
    assert [parse_seconds(text) for text in ("0", "5us", "2.5ms", "1s", "3")] == pytest.approx([0, 5e-6, 2.5e-3, 1, 3])
    for text in (" p50=200us", "p50 < 200us"):
        assert parse_latency_limit(text) == LatencyLimit("p50", pytest.approx(200e3))
    assert wish_fields({"block": "1ms"}, "here") == {"block_ns": pytest.approx(1e6)}


def test_a_pool_has_twice_the_tasks_that_requests_occupy():
    assert default_workers(Wish(rate_hz=1.0, cpus=2)) == 4
    assert default_workers(Wish(rate_hz=1000.0, block_ns=20 * MS)) == 40
    assert default_workers(Wish(rate_hz=1e6, block_ns=1e9)) == 512
