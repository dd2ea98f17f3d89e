from __future__ import annotations

import warnings

import jsonschema
import pytest
from tests.views.sample_kinds import need_samples

from clonometer.views.html.figures import figure_content
from clonometer.views.pictures import KINDS, picture_spec
from clonometer.views.specs import LIGHT, PALETTE, theme

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import altair


def trimmed(value):
    """Few points are enough for a schema, and validating each takes its time."""
    if isinstance(value, dict):
        return {name: trimmed(inner[:2] if name == "values" else inner) for name, inner in value.items()}
    return [trimmed(inner) for inner in value] if isinstance(value, list) else value


def validate(spec):
    altair.Chart.from_dict(trimmed(spec), validate=True)
    check_scales(spec)


def check_scales(spec):
    """An axis is logarithmic where its title says so, and nowhere else."""
    if isinstance(spec, dict):
        title = (spec.get("axis") or {}).get("title") if isinstance(spec.get("axis"), dict) else None
        if isinstance(title, str) and isinstance(spec.get("scale"), dict):
            assert ("(log)" in title) == (spec["scale"].get("type") == "log"), (title, spec["scale"])
    inside = spec.values() if isinstance(spec, dict) else spec if isinstance(spec, list) else ()
    for inner in inside:
        check_scales(inner)


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_obey_the_schema_of_vega_lite(everything, kind):
    need_samples(everything, kind)
    validate({**picture_spec(everything, kind), "config": theme(*LIGHT)})


def test_the_reports_charts_obey_the_schema_of_vega_lite(everything):
    content = figure_content(everything)
    for spec in (*(chart["spec"] for chart in content["charts"]), content["ecdf"]["spec"]):
        validate({**spec, "config": content["theme"]})


def test_validation_refuses_what_is_no_chart():
    with pytest.raises(jsonschema.ValidationError):
        validate({"data": {"values": []}, "mark": "violin", "encoding": {}})


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", PALETTE)
@pytest.mark.parametrize("ground", ["#ffffff", "#14181d"])
def test_colours_stand_out_from_light_and_dark(colour, ground):
    lighter, darker = sorted((luminance(colour), luminance(ground)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 3
