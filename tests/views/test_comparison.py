from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.views.sample_results import sample_results

from clonometer.errors import InputError, UsageError
from clonometer.results.change import Change
from clonometer.results.compare.types import Compared, ComparedPair, ComparedRow, Difference
from clonometer.results.types import LeftOut
from clonometer.verdicts import Direction, Word
from clonometer.views.comparison import change_text, differences_text, row_parts, stage_text, summary
from clonometer.views.comparison_picture import comparison_picture, comparison_spec
from clonometer.views.documents.comparison import comparison_document
from clonometer.views.terminal.document import render_document


def compared(**fields: Any) -> Compared:
    """Every row of the sample results against itself, one of them slower, one without a ratio."""
    rows = []
    for place, estimate in enumerate(cell for cell in sample_results().cells if cell.median_ns):
        nothing = Change(base=estimate, other=estimate)
        row = ComparedRow(replace(nothing, value=1.001, low=0.99, high=1.012, direction=Direction.EQUAL), 0.013)
        if place == 5:
            row = ComparedRow(replace(nothing, value=1.31, low=1.24, high=1.36, direction=Direction.MORE))
        if place == 6:
            row = ComparedRow(nothing, reason="there is no ratio to a median of zero or below")
        if place == 7:
            row = ComparedRow(replace(nothing, value=1.001))
        rows.append(row)
    pair = ComparedPair(
        "clonometer-run.previous.parquet",
        "clonometer-run.parquet",
        rows,
        [LeftOut("launch.vfork[temperature=warm]", "only in clonometer-run.parquet")],
        [Difference("kernel.release", "6.1.0", "6.18.5"), Difference("thp.enabled", "always", "madvise")],
    )
    return replace(Compared([pair], 0.02, 0.05, len(rows) - 2, "assumed"), **fields)


def test_sizes_of_both_sides_stand_in_one_unit_that_is_said() -> None:
    slab = replace(sample_results().cells[0], stage=None, quantity="slab_each_bytes", unit="bytes", median_ns=None)
    base, other = (replace(slab, value=size, value_low=size, value_high=size) for size in (900.0, 2_048.0))
    row = ComparedRow(Change(base=base, other=other, value=2.28, low=2.2, high=2.3, direction=Direction.MORE))
    assert stage_text(row) == "slab each, KiB"
    pair = ComparedPair("a", "b", [row], [], [])
    [line] = [
        text
        for text in render_document(
            comparison_document, Compared([pair], 0.02, 0.05, 1, "assumed"), width=160
        ).splitlines()
        if "slab" in text
    ]
    assert line.split()[-8:][:2] == ["0.879", "2"] or ("0.879" in line and " 2 " in line)


def test_at_80_columns_both_medians_and_the_change_are_whole() -> None:
    text = render_document(comparison_document, compared(), width=80)
    assert any(line.rstrip().endswith("31% slower (24 to 36)") for line in text.splitlines())
    assert any(line.rstrip().endswith("same within 1.3%") for line in text.splitlines())
    head = next(line for line in text.splitlines() if "change" in line)
    assert head.split() == ["until", "before", "after", "change"]


def test_long_labels_are_wrapped_before_a_median_goes() -> None:
    text = render_document(comparison_document, compared(), width=60)
    head = next(line for line in text.splitlines() if "change" in line)
    assert head.split() == ["until", "before", "after", "change"]
    assert any(line.startswith("  ") and len(line.split()) <= 3 for line in text.splitlines())


def test_at_40_columns_a_row_is_its_name_with_both_medians_and_the_change_below() -> None:
    lines = render_document(comparison_document, compared(), width=40).splitlines()
    assert lines[lines.index("row") + 1] == "    before → after: change"
    place = lines.index("fork, cold, reaped")
    assert lines[place + 1].split() == ["220", "→", "220:", "31%", "slower", "(24", "to", "36)"]


def test_at_120_columns_both_medians_have_their_intervals() -> None:
    head = next(
        line for line in render_document(comparison_document, compared(), width=120).splitlines() if "change" in line
    )
    assert head.split() == ["until", "before", "95%", "interval", "after", "95%", "interval", "change", "processes"]


def test_the_short_answer_has_the_change_and_says_what_it_hides() -> None:
    text = render_document(comparison_document, compared(), width=80)
    assert len(text.splitlines()) <= 25
    assert "31% slower" in text
    hidden = len(compared().pairs[0].rows) - 11
    assert f"--wide adds {hidden} rows" in text
    assert "--wide" not in render_document(comparison_document, compared(), width=80, wide=True)


def test_what_differs_is_said() -> None:
    text = " ".join(render_document(comparison_document, compared(), width=80).split())
    assert "kernel: 6.1.0 → 6.18.5; THP: always → madvise" in text
    assert "only in clonometer-run.parquet (launch.vfork[temperature=warm])" in text
    ascii_text = render_document(comparison_document, compared(), width=80, ascii_only=True)
    assert "6.1.0 -> 6.18.5" in ascii_text
    assert ascii_text.isascii()


def differing(**hosts: tuple[object, object]) -> list[Difference]:
    return [Difference(key.replace("__", "."), *sides) for key, sides in hosts.items()]


def test_what_moves_launches_most_is_said_however_much_differs() -> None:
    differences = differing(
        option__child_spin_ns=(None, 9000),
        host__name_hash=("a", "b"),
        cpu__model=("X", "Y"),
        kernel__release=("6.1", "6.18"),
        kernel__audit=(None, 1),
        cpu__microcode=("0x1", "0x2"),
        mitigations__summary=("KPTI", "no KPTI"),
        mitigations__meltdown=("PTI", "Vulnerable"),
        mitigations__mds=("Not affected", "Clear buffers"),
        effective_mhz=(3000, 2900),
        thp__enabled=("always", "madvise"),
        libc__version=("2.36", "2.41"),
        memory__total_bytes=(1 << 30, 2 << 30),
    )
    assert differences_text(differences, 5) == (
        "The runs differ in the option child_spin_ns: not set → 9000; machine: a → b; CPU: X → Y; kernel: 6.1 → 6.18; "
        "microcode: 0x1 → 0x2; mitigations: KPTI → no KPTI; effective MHz: 3000 → 2900; THP: always → madvise; "
        "libc: 2.36 → 2.41; and 4 more."
    )
    assert "mitigations.mds: Not affected → Clear buffers" in differences_text(differences)


def test_another_boot_is_said_and_is_no_setting() -> None:
    boot = differing(host__boot_id=("a1", "b2"))
    assert differences_text(boot, 5) == (
        "Same machine and settings, as far as they were recorded. The machine was rebooted between them."
    )
    both = differences_text([*differing(kernel__release=("6.1", "6.18")), *boot], 5)
    assert both == "The runs differ in kernel: 6.1 → 6.18; another boot."


def test_of_mitigations_that_sum_up_alike_one_is_said_by_its_name() -> None:
    differences = differing(mitigations__tsa=("a", "b"), mitigations__srbds=("c", "d"), cpu__smt=(True, False))
    assert (
        differences_text(differences, 5) == "The runs differ in mitigations.tsa: a → b; cpu.smt: yes → no; and 1 more."
    )


def test_no_single_difference_is_hidden() -> None:
    keys = {f"limit__a{number}": (1, 2) for number in range(6)}
    assert "limit.a5: 1 → 2." in differences_text(differing(**keys), 5)
    assert differences_text(differing(**keys, limit__a6=(1, 2)), 5).endswith("limit.a4: 1 → 2; and 2 more.")


def test_one_key_with_several_changes_is_said_once() -> None:
    changes = [Difference("limit.of_plan.warmup", *sides) for sides in ((10, 20), (3, 10))]
    assert differences_text(changes, 5) == "The runs differ in the plan's warmup: 10 → 20, 3 → 10."


def wide_text(**fields: Any) -> str:
    return " ".join(render_document(comparison_document, compared(**fields), width=80, wide=True).split())


def test_the_summary_counts_and_wide_adds_the_correction() -> None:
    text = summary(compared())
    total = len(compared().pairs[0].rows)
    assert text.startswith(f"{total} rows: 1 slower, {total - 3} the same, 1 open, 1 without a ratio.")
    assert "At most" not in text
    assert f"At most 5% of comparisons of {total - 2} rows have a false verdict" in wide_text()
    for source, words in (
        ("unknown", "no more than these two show"),
        ("given", "as --noise says"),
        ("measured", "clonometer noise"),
        ("these runs", "runs of each"),
    ):
        assert words in wide_text(noise_source=source)
    assert wide_text(noise_source="one run").endswith(f"of {total - 2} rows have a false verdict.")


def test_the_verdict_is_the_first_line_and_said_once() -> None:
    text = render_document(comparison_document, compared(noise_source="unknown"), width=200)
    assert text.splitlines()[0].startswith(summary(compared(noise_source="unknown"))[:60])
    assert text.count(" the same, ") == 1


def test_noise_that_nobody_measured_is_said_with_what_it_is_taken_to_be() -> None:
    made = compared(noise_source="unknown")
    [pair] = made.pairs
    rows = [replace(row, between=0.2 if row.base.is_first_launch else 0.04) for row in pair.rows]
    text = summary(replace(made, pairs=[replace(pair, rows=rows)]))
    assert "was never measured, and is taken to be 4%, as these two show." in text
    warm = next(index for index, row in enumerate(rows) if not row.base.is_first_launch)
    rows[warm] = replace(rows[warm], between=0.3)
    text = summary(replace(made, pairs=[replace(pair, rows=rows)]))
    assert "is taken to be at least 4%, as these two show." in text


def test_a_likely_change_is_said_so_and_an_open_one_by_its_ends() -> None:
    row = next(row for row in compared().pairs[0].rows if row.verdict.is_change)
    likely = row.changed(direction=Direction.UNKNOWN, word=Word.LIKELY)
    assert change_text(likely) == f"likely {change_text(row)}"
    assert change_text(likely.changed(word=Word.OPEN, low=0.9)) == "-10 to +36%"


def test_what_does_not_exist_is_a_dash() -> None:
    rows = compared().pairs[0].rows
    assert change_text(rows[6]) == "-"
    assert change_text(rows[7]) == "-"


def test_cells_of_one_run_are_labelled_by_what_sets_them_apart() -> None:
    cells = {cell.cell: cell for cell in sample_results().cells}
    fork, pthread = (cells[f"launch.{name}[temperature=warm]"] for name in ("fork", "pthread"))
    row = ComparedRow(Change(base=fork, other=pthread, value=0.5, low=0.4, high=0.6, direction=Direction.LESS))
    assert row_parts(row) == ("pthread / fork", "warm")


def test_colour_only_where_wanted() -> None:
    assert "\x1b" not in render_document(comparison_document, compared())
    assert "\x1b[31m" in render_document(comparison_document, compared(), colour=True)


def test_the_picture_has_every_row_that_has_a_ratio() -> None:
    [panel] = comparison_spec(compared())["vconcat"]
    assert len(panel["data"]["values"]) == len(compared().pairs[0].rows) - 1
    svg = comparison_picture(compared())
    assert isinstance(svg, str)
    assert "clonometer-run.previous.parquet" in svg
    # Three rows draw as well as all do.
    few = replace(compared().pairs[0], rows=compared().pairs[0].rows[:3])
    png = comparison_picture(compared(pairs=[few]), "png")
    assert isinstance(png, bytes)
    assert png.startswith(b"\x89PNG")


def test_a_picture_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to draw"):
        comparison_picture(compared(pairs=[replace(compared().pairs[0], rows=[])]))
    with pytest.raises(UsageError, match="unknown picture format 'pgn'"):
        comparison_picture(compared(), "pgn")
