from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from tests.views.sample_results import sample_results

from clonometer.results.noise.types import AgainstItself, Noise, NoiseRow
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


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("wide", [False, True])
def test_no_line_is_longer_than_the_terminal(width: int, wide: bool) -> None:
    text = render_noise(noise(), width=width, wide=wide)
    assert max(map(len, text.splitlines())) <= width
    assert "nan" not in text.lower()
    assert "None" not in text


def test_it_says_what_is_detectable_and_how_often_it_alarmed() -> None:
    made = noise()
    text = " ".join(render_noise(made, wide=True).split())
    seen = sum(row.detectable is not None for row in made.rows)
    assert f"can find a slow-down of 10% in {seen} of {len(made.rows)} rows" in text
    assert "started in turn: 1 of 20 checks alarmed falsely (a rate of 0.1% to 25%; designed: at most 1%)" in text
    assert "launch.fork[temperature=warm] reaped" in text
    assert "round before: 0 of 19 checks" in text
    assert "round before" not in render_noise(noise(in_a_row=None))


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
