"""Two sides on a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.results.ab.test_judgement import judged, scattered

from clonometer.results.ab.types import AbResult, SwitchedSetting
from clonometer.results.types import LeftOut
from clonometer.views.documents.ab import ab_document
from clonometer.views.terminal.document import render_document


def text(result: AbResult, **options: object) -> str:
    return render_document(ab_document, result, **{"width": 80, **options})  # type: ignore[arg-type]


def test_both_medians_the_change_and_the_count_stand_beside_each_other() -> None:
    result = judged(scattered(0.3))
    [row] = result.rows
    drawn = text(result, width=120)
    lines = drawn.splitlines()
    assert lines[:2] == ["A: linkage=static", "B: defaults"]
    [line] = [line for line in lines if line.startswith("posix_spawn, warm")]
    assert f"{row.pairs} of {row.pairs}" in line
    assert "+3" in line
    assert line.endswith("slower")
    assert row.sentence in " ".join(drawn.split())
    guarantee = "If A and B are identical, the chance of any false verdict is at most 5%."
    assert guarantee not in " ".join(drawn.split())
    assert guarantee in " ".join(text(result, wide=True).split())


@pytest.mark.parametrize(
    ("centre", "scatter", "verdict"),
    [
        (0.3, 0.02, "REGRESSION: B is slower than A by more than 5%."),
        (0.0, 0.02, "No regression: B is slower than A by at most 5%."),
        (0.05, 0.1, "Cannot tell whether B is slower than A by more than 5%"),
    ],
)
def test_a_gate_says_its_verdict(centre: float, scatter: float, verdict: str) -> None:
    drawn = text(judged(scattered(centre, scatter=scatter), max_regression=0.05))
    assert verdict in " ".join(drawn.split())


def test_a_multiple_is_said_as_one_and_few_pairs_have_no_interval() -> None:
    [slower, faster] = (text(judged([sign, 1.01 * sign, 0.99 * sign] * 10), width=100) for sign in (1.0, -1.0))
    either = ((slower, "2.72 times 2.70 – 2.73 ", "slower"), (faster, " 1/2.72 1/2.73 – 1/2.70 ", "faster"))
    for drawn, change, verdict in either:
        [line] = [line for line in drawn.splitlines() if line.startswith("posix_spawn, warm")]
        assert change in " ".join(line.split())
        assert line.endswith(verdict)
    # The only word for which way it went where there is no verdict.
    drawn = text(judged([-1.0]))
    assert "1/2.72" in drawn
    assert "1 pair, started in random order." in drawn
    drawn = text(judged([0.3] * 4))
    assert "more pairs are needed" in " ".join(drawn.split())


def test_what_was_left_out_is_said_and_nothing_measured_too() -> None:
    result = judged(scattered(0.3))
    left = tuple(LeftOut(f"launch.fork[vmas={count}]", "skipped: none here") for count in range(5))
    drawn = text(replace(result, left_out=left))
    assert "--wide adds 2 reasons" in drawn
    assert text(replace(result, left_out=left), wide=True).count("skipped: none here") == 5
    assert "No pair finished on both sides." in text(replace(result, rows=()))


def test_both_medians_stand_in_columns_or_below_and_at_80_columns_beside_each_other() -> None:
    result = judged(scattered(0.3))
    long_label = replace(result.rows[0], cell="launch.posix_spawn[linkage=dynamic_lazy,temperature=warm]")
    result = replace(result, rows=(long_label,))
    for width in range(40, 140):
        lines = text(result, width=width).splitlines()
        head = next(line for line in lines if "A, µs" in line or "A → B, µs" in line)
        assert "A → B" in head or ("A, µs" in head and "B, µs" in head), width
        assert width < 80 or "A → B" not in head, width
        assert max(map(len, lines)) <= width


def test_what_was_switched_stands_below_its_side() -> None:
    thp = SwitchedSetting("b", "/sys/kernel/mm/transparent_hugepage/enabled", "madvise", "always", "madvise", 9, None)
    unknown = SwitchedSetting("a", "", None, None, None, 9, "the command names no file that can be read back")
    lines = text(replace(judged(scattered(0.3)), settings=(thp, unknown)), width=120).splitlines()
    assert lines[:4] == [
        "A: linkage=static",
        "- not verified: the command names no file that can be read back",
        "B: defaults",
        "- transparent_hugepage/enabled: madvise -> always; madvise again after undo (9 times)",
    ]


def test_a_reason_that_several_rows_share_is_said_once() -> None:
    result = judged(scattered(0.0, scatter=0.001))
    [row] = result.rows
    unknown = "it is not known whether do changed anything: it names no file"
    rows = [replace(row, reason=unknown), replace(row, reason=unknown), replace(row, reason="too coarse a clock")]
    drawn = " ".join(text(replace(result, rows=rows)).split())
    assert drawn.count(unknown) == 1
    assert f"! 2 rows: {unknown}" in drawn
    assert f"! {row.sentence}: too coarse a clock" in drawn


def test_a_long_value_is_cut_and_its_length_is_said() -> None:
    long = replace(judged(scattered(0.3)), a=("env:PAD=" + "x" * 120_000,), b=("do=" + "y" * 70, "undo=true"))
    lines = text(long, width=120).splitlines()
    assert lines[:2] == [f"A: env:PAD={'x' * 72}... (120,000 letters)", f"B: do={'y' * 70}, undo=true"]


def test_where_both_medians_have_no_room_a_row_is_its_name_with_its_figures_below() -> None:
    lines = text(judged(scattered(0.3)), width=40).splitlines()
    place = lines.index("posix_spawn, warm, reaped")
    assert lines[place - 2 : place] == ["row", "    A → B, µs: change, verdict"]
    assert lines[place + 1] == "    160 → 220: +35% (34 – 36), slower"


def test_a_change_that_drifts_has_a_word_in_place_of_its_interval_and_the_reason_below() -> None:
    for level, verdict in ((0.02, "open"), (0.5, "slower")):
        changes = [level + 0.04 * place / 20 for place in range(20)]
        result = judged(changes)
        assert (result.rows[0].drifts, result.rows[0].change.interval, result.rows[0].change.p) == (True, None, None)
        drawn = text(result, width=100)
        [line] = [line for line in drawn.splitlines() if line.startswith("posix_spawn, warm")]
        assert "drifts" in line
        assert line.endswith(verdict)
        assert "so it has no 95% interval; repeat it" in " ".join(drawn.split())
        assert "more pairs are needed" not in drawn


def test_warm_rows_are_said_before_cold_ones() -> None:
    result = judged(scattered(0.3))
    [warm] = result.rows
    cold = replace(warm, change=replace(warm.change, other=replace(warm.b, temperature="cold")), sentence="cold")
    drawn = text(replace(result, rows=(cold, cold, cold, warm)))
    assert "posix_spawn, warm, until the task is reaped: B was slower" in " ".join(drawn.split())
