"""What doctor says of CPUID."""

from __future__ import annotations

from typing import Any

from clonometer.results.audit.cpuid import CpuidCost, check_cpuid, cpuid_of


def test_a_trapping_cpuid_says_what_each_new_program_pays() -> None:
    (item,) = check_cpuid(CpuidCost(8_100.0, 8_000.0, 68))
    assert (item.judged, item.known) == ("note", True)
    assert item.value == "8.10 µs each (at least 8.00 µs): it traps to the hypervisor"
    assert item.effect.startswith("A glibc program executes 68 as it starts: 551 µs in every new program. ")
    assert "without the C library" in item.effect


def test_without_a_count_none_is_claimed() -> None:
    (item,) = check_cpuid(CpuidCost(8_100.0, 8_000.0, None, "ptrace is refused"))
    assert "68" not in item.effect


def test_a_processor_that_executes_it_itself_is_fine() -> None:
    (item,) = check_cpuid(CpuidCost(60.0, 55.0, 68))
    assert (item.judged, item.value) == ("fine", "60.0 ns each")


def test_where_there_is_none_the_reason_is_said() -> None:
    (item,) = check_cpuid(CpuidCost(reason="CPUID is an x86 instruction, which this processor does not have"))
    assert not item.known
    assert "this processor does not have" in item.value


def test_it_is_read_from_a_run(builder: Any) -> None:
    builder.cell("program.steps", {"start_cpuid": 43, "cpuid": 44}, None, processes=1, samples=1, blocks=1, spread=0.0)
    builder.cell("program.cpuid", {"cpuid_ns": 5_000}, None, processes=2)
    cost = cpuid_of(builder.run, {})
    assert (cost.at_start, cost.reason) == (44, None)
    assert cost.cost_ns is not None
    assert cost.least_ns is not None
    assert cost.least_ns < 5_000 < cost.cost_ns * 1.1
