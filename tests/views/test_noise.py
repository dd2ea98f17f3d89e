from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from tests.views.sample_results import sample_results

from clonometer.results.noise.types import AgainstItself, LayoutRow, Layouts, Noise, NoiseRow
from clonometer.views.documents.noise import noise_document
from clonometer.views.terminal.document import render_document

render_noise = partial(render_document, noise_document)


def noise(**fields: Any) -> Noise:
    rows = [
        NoiseRow(row, 0.012, 0.004 if place % 2 else None, 0.071 if place % 3 else None)
        for place, row in enumerate(cell for cell in sample_results().cells if cell.median_ns)
    ]
    checks = AgainstItself(20, 1, 0.001, 0.25, ("launch.fork[temperature=warm] reaped",))
    return replace(
        Noise(
            plan="quick",
            rounds=20,
            max_regression=0.05,
            error_rate=0.01,
            n_tests=len(rows),
            interleaved=checks,
            in_a_row=AgainstItself(19, 0, 0.0, 0.18, ()),
            rows=rows,
        ),
        **fields,
    )


def layouts(*ends: tuple[float | None, float | None, float | None], draws: bool | None = True) -> Layouts:
    times = [cell for cell in sample_results().cells if cell.median_ns][: len(ends)]
    why = ["few pairs" if each[0] is None else None for each in ends]
    every = zip(times, ends, why, strict=True)
    rows = [LayoutRow(row, 75, 74, 0.021, 0.0125, *each, reason) for row, each, reason in every]
    return Layouts(None, draws, rows)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("wide", [False, True])
def test_no_line_is_longer_than_the_terminal(width: int, wide: bool) -> None:
    of_layouts = layouts(*[(0.65, 0.31, 0.82), (0.1, 0.0, 0.41), (None, None, None)] * 2)
    text = render_noise(noise(layouts=of_layouts), width=width, wide=wide)
    assert max(map(len, text.splitlines())) <= width
    assert "nan" not in text.lower()
    assert "None" not in text


def test_it_says_what_is_detectable_and_how_often_it_alarmed() -> None:
    made = noise()
    text = " ".join(render_noise(made, wide=True).split())
    seen = sum(row.detectable is not None for row in made.rows)
    assert f"can detect a slowdown of 10% in {seen} of {len(made.rows)} rows" in text
    assert "started in pairs: 1 of 20 checks raised a false alarm (a rate of 0.1% to 25%; designed: at most 1%)" in text
    assert "launch.fork[temperature=warm] reaped" in text
    assert "previous round: 0 of 19 checks" in text
    assert "previous round" not in render_noise(noise(in_a_row=None))


def test_wide_adds_the_other_stages() -> None:
    short, wide = (render_noise(noise(), wide=wide) for wide in (False, True))
    assert "task runs" not in short
    assert "task runs" in wide
    assert "--wide adds" in short
    assert "--wide" not in wide


def test_colour_and_ascii_only_where_wanted() -> None:
    assert "\x1b" not in render_noise(noise())
    assert "\x1b[1m" in render_noise(noise(), colour=True)
    assert render_noise(noise(), ascii_only=True).isascii()


def test_what_layouts_add_is_a_share_with_its_interval_or_said_not_to_be_shown() -> None:
    made = noise(layouts=layouts((0.65, 0.31, 0.82), (0.1, 0.0, 0.41), (None, None, None)))
    text = " ".join(render_noise(made, wide=True, width=100).split())
    assert "74 2.1% 1.2% 65% (31% to 82%)" in text
    assert "74 2.1% 1.2% not shown: below 41%" in text
    assert "74 2.1% 1.2% few pairs" in text
    assert "shown to add to the scatter in 1 of 3 rows; by chance alone in 2.5% of rows." in text
    assert "randomize_va_space" not in text
    assert "randomize_va_space" in render_noise(noise(layouts=layouts((0.1, 0.0, 0.41), draws=False)))


def test_what_layouts_add_may_not_be_known_for_a_reason() -> None:
    text = " ".join(render_noise(noise(layouts=Layouts("the kernel refuses", None))).split())
    assert "How much of the scatter comes from memory layout is not known: the kernel refuses." in text
    assert "is not known: too little was measured." in " ".join(render_noise(noise(layouts=layouts())).split())
