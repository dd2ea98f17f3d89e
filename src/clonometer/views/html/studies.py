"""The page of a reproduction: one self-contained HTML document, returned as text."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from clonometer.studies.published import Study
from clonometer.studies.types import ClaimEntry, Reproduction
from clonometer.views.drawing import can_draw, draw_svg, how_to_install
from clonometer.views.html.page import render_page
from clonometer.views.specs import PAGE, theme
from clonometer.views.studies import (
    STATUS_WORDS,
    STEP_WORDS,
    busy_text,
    condition_table,
    contradiction_table,
    counts_text,
    effect_lines,
    figure_table,
    outcome_text,
    why_text,
)
from clonometer.views.study_figures import figure_specs

_NO_FIGURES = "This page has no figures, since vl-convert-python is not installed. Install it and write the page again"


def render_studies_report(reproduction: Reproduction) -> str:
    """Write the page: the story in order, the figures remade, the ledger, what reverses the contradictions.

    A whole HTML document; figures are SVG inside it, and it fetches nothing and runs no script.
    """
    first, *others = (study.id for study in reproduction.studies)
    return render_page(
        "studies.html.j2",
        brand="Clonometer: studies",
        title="The studies, reproduced and reconciled" if others else f"{first}, reproduced",
        host_line=_host(reproduction),
        busy=busy_text(reproduction),
        step_words=STEP_WORDS,
        counts=counts_text(reproduction),
        notes=[*reproduction.notes, *([] if can_draw() else [f"{_NO_FIGURES}: {how_to_install()}"])],
        contradictions=contradiction_table(reproduction.flips, reproduction.items) if reproduction.flips else None,
        studies=[_study(reproduction, study) for study in reproduction.studies],
        flips=[(flip, effect_lines(flip), condition_table(flip)) for flip in reproduction.flips],
    )


def _host(reproduction: Reproduction) -> list[str]:
    host = reproduction.host
    words = [host.get("cpu.model"), f"{host.get('cpu.allowed')} CPUs" if host.get("cpu.allowed") else None,
             f"Linux {host['kernel.release']}" if host.get("kernel.release") else None]  # fmt: skip
    return [str(word) for word in (*words, "short form (--quick)" if reproduction.quick else None) if word]


def _study(reproduction: Reproduction, study: Study) -> dict[str, Any]:
    return {
        "about": study,
        "figures": figure_table(reproduction.rows(study.id), study),
        "pictures": [
            {"name": name, "svg": _svg(spec), "small": _svg(_small(spec)), "caption": spec.get("description", "")}
            for name, spec in (figure_specs(reproduction) if can_draw() else ())
            if name.startswith(study.id)
        ],
        "claims": _claims(reproduction.claims(study.id)),
    }


def _claims(claims: Sequence[ClaimEntry]) -> list[dict[str, Any]]:
    """For each claim its verdict with the number, why in a sentence, and the evidence, which is folded."""
    return [
        {
            "item": claim.item,
            "status": claim.verdict.status,
            "words": STATUS_WORDS[claim.verdict.status],
            "outcome": outcome_text(claim.verdict),
            "number": claim.verdict.effect_is,
            "why": why_text(claim),
            "reason": claim.verdict.reason,
            "evidence": claim.verdict.evidence,
            "next": claim.next,
            "does": STEP_WORDS[claim.next.does] if claim.next is not None else "",
        }
        for claim in claims
    ]


_SMALL_PX = 350


def _small(spec: dict[str, Any]) -> dict[str, Any]:
    """The same figure for a telephone, in letters of the same size."""
    small = copy.deepcopy(spec)
    small |= {"width": _SMALL_PX, "autosize": {"type": "fit-x", "contains": "padding"}}
    small["title"] = {"text": wrap(str(spec.get("title", "")), 40)}
    for layer in small.get("layer", [small]):
        axis = layer["encoding"].get("y", {}).get("axis") or {}
        if "labelLimit" in axis:
            axis["labelLimit"] = 0.6 * _SMALL_PX
    return small


_MARK = re.compile(r'<(path|line)( aria-label="([^"]*)"[^>]*)/>')


def _svg(spec: dict[str, Any]) -> str:
    """Draw a figure; each mark's words become its title, which browsers show on hover without any script."""
    drawn = draw_svg({**spec, "config": theme(*PAGE)})
    return _MARK.sub(r"<\1\2><title>\3</title></\1>", drawn)
