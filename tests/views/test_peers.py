"""The peers' table at two widths, from rows of every kind."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from clonometer.results.change import Change
from clonometer.results.peers.configurations import CONFIGURATIONS
from clonometer.results.peers.rows import PeerFigure, PeerInstallation, PeerRow, PeersAnswer
from clonometer.runner.peers import PROGRAMS
from clonometer.verdicts import Direction
from clonometer.views.documents.peers import peers_document
from clonometer.views.terminal.document import render_document


def answer(rows, programs=()):
    missing = [PeerInstallation(each.name, list(each.figures), False, each.install) for each in programs]
    return PeersAnswer("complete", rows, missing)


def render_peers(rows, programs=(), **options):
    return render_document(peers_document, answer(rows, programs), **options)


OURS, THEIRS = PeerFigure(50_000.0, 49_000.0, 51_000.0, 12), PeerFigure(150_000.0, 148_000.0, 152_000.0, 12)
ALONE = Change(base=OURS, other=PeerFigure())
RATIO = Change(base=OURS, other=THEIRS, value=3.0, low=2.9, high=3.1, direction=Direction.MORE)


def rows():
    made = [PeerRow(configuration, "not run", ALONE) for configuration in CONFIGURATIONS]
    different = replace(made[8], status="measured", reason=made[8].configuration.why, change=RATIO)
    unsure = replace(RATIO, low=0.9, direction=Direction.UNKNOWN)
    unclear = replace(different, configuration=CONFIGURATIONS[9], change=unsure)
    equal = replace(RATIO, direction=Direction.EQUAL)
    alike = replace(different, configuration=CONFIGURATIONS[20], change=equal, reason=None)
    nothing = Change(base=PeerFigure(), other=PeerFigure())
    failed = replace(made[7], status="failed", reason="it ended with status 1", change=nothing)
    return [*made[:6], replace(made[6], status="not installed"), failed, different, unclear, *made[10:20], alike]


@pytest.mark.parametrize("width", [80, 120])
def test_every_row_fits_and_says_what_and_why(width):
    lines = render_peers(rows(), PROGRAMS, width=width, wide=True).splitlines()
    assert max(len(line) for line in lines if not line.startswith("  $ ")) <= width
    text = " ".join(" ".join(lines).split())
    for row in rows():
        assert row.configuration.peer in text
        assert row.configuration.measures in text
    assert "150 µs" in text
    assert "3.0 (2.9 to 3.1)" in text
    assert "because: stress-ng is a large program" in text
    assert "cannot tell yet; expected: " in text
    assert "failed: it ended with status 1" in text
    assert "$ apt-get install -y hyperfine" in text


def test_it_begins_with_how_far_apart_two_figures_of_one_word_are():
    made = [
        replace(row, change=replace(ALONE, base=replace(OURS, value=(number + 1) * 10_000.0)))
        for number, row in enumerate(rows()[:5])
    ]
    text = " ".join(render_peers(made, width=100).split())
    assert text.startswith("A fork takes 10 µs or 50 µs on this machine, depending on who defines it: Bendersky 2018 (")
    assert "Not installed" not in text


def test_what_is_not_run_from_here_is_one_line_a_word_unless_all_is_asked_for():
    text = render_peers(rows(), width=80)
    assert "Clonometer, measuring like others: Bendersky 2018 50 µs, " in text
    of_peers = {row.configuration.peer for row in rows() if row.status == "failed" or row.change.value is not None}
    assert {line.split("  ")[1] for line in text.splitlines() if re.match("  [^ o]", line)} >= of_peers
    assert "failed: it ended with status 1" in text, "what failed is not folded"
    assert len(text.splitlines()) < len(render_peers(rows(), width=80, wide=True).splitlines()) - 15
