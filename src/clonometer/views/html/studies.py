"""The page of a reproduction: one self-contained HTML document, returned as text."""

from __future__ import annotations

import re
from typing import Any

from clonometer.studies.types import Reproduction
from clonometer.views.drawing import can_draw, draw_svg, how_to_install
from clonometer.views.html import asset, environment
from clonometer.views.specs import theme
from clonometer.views.studies import (
    STATUS_WORDS,
    condition_rows,
    counts_text,
    effect_lines,
    ours_text,
    published_text,
    ratio_text,
    study_items,
)
from clonometer.views.study_figures import figure_specs


def render_studies_report(found: Reproduction) -> str:
    """Write the page: the story in order, the figures remade, the ledger, what reverses the contradictions.

    Parameters
    ----------
    found
        The answer.

    Returns
    -------
    str
        A whole HTML document; figures are SVG inside it, and it fetches nothing and runs no script.
    """
    return (
        environment()
        .get_template("studies.html.j2")
        .render(
            title=_title(found),
            counts=counts_text(found),
            notes=[*found.notes, *_without_pictures()],
            host=_host(found),
            studies=[_study(found, study) for study in found.studies],
            flips=[
                {
                    "id": flip.pairing.id,
                    "title": flip.pairing.title,
                    "sides": list(flip.pairing.sides),
                    "sentence": flip.sentence,
                    "effects": effect_lines(flip),
                    "rows": condition_rows(flip),
                    "n_reversing": len(flip.reversed_by),
                }
                for flip in found.flips
            ],
            style=asset("style.css"),
        )
    )


def _without_pictures() -> list[str]:
    if can_draw():
        return []
    return [
        "This page has no figures, since vl-convert-python is not installed. Install it and write the page again: "
        f"{how_to_install()}"
    ]


def _title(found: Reproduction) -> str:
    if len(found.studies) == 1:
        return f"{found.studies[0].id}, reproduced"
    return "The studies, reproduced and reconciled"


def _host(found: Reproduction) -> list[str]:
    host = found.host
    words = [host.get("cpu.model"), f"{host.get('cpu.allowed')} CPUs" if host.get("cpu.allowed") else None,
             f"Linux {host['kernel.release']}" if host.get("kernel.release") else None]  # fmt: skip
    return [str(word) for word in (*words, "short form (--quick)" if found.quick else None) if word]


def _study(found: Reproduction, study: Any) -> dict[str, Any]:
    figures, claims = study_items(found, study.id)
    return {
        "id": study.id,
        "author": study.author,
        "name": study.title,
        "source": study.source,
        "method": study.method,
        "year": str(study.year or "published"),
        "rows": [
            {
                "id": row.id,
                "what": row.published.what,
                "published": published_text(row.published),
                "ours": ours_text(row),
                "ratio": ratio_text(row),
                "note": row.note,
            }
            for item in figures
            for row in found.rows[item.id]
        ],
        "pictures": [
            {"name": name, "svg": _svg(spec), "caption": spec.get("description", "")}
            for name, spec in (figure_specs(found) if can_draw() else ())
            if name.startswith(study.id)
        ],
        "claims": [
            {
                "id": item.id,
                "text": item.text,
                "status": found.verdicts[item.id].status,
                "words": STATUS_WORDS[found.verdicts[item.id].status],
                "reason": found.verdicts[item.id].reason,
                "evidence": list(found.verdicts[item.id].evidence),
            }
            for item in claims
        ],
    }


_MARK = re.compile(r'<(path|line)( aria-label="([^"]*)"[^>]*)/>')


def _svg(spec: dict[str, Any]) -> str:
    """Draw a figure; each mark's words become its title, which browsers show on hover without any script."""
    drawn = draw_svg({**spec, "config": theme("currentColor", "transparent")})
    return _MARK.sub(r"<\1\2><title>\3</title></\1>", drawn)
