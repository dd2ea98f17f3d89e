from __future__ import annotations

import itertools
import json
import math
import warnings

import jsonschema
import numpy as np
import pytest
from tests.views.blocks import blocks_of, drawn_panels
from tests.views.sample_kinds import need_samples

from clonometer.families import axis, families
from clonometer.views.colours import HUES, PALETTE
from clonometer.views.document import SwitchedFigure
from clonometer.views.documents.run import run_document
from clonometer.views.pictures import KINDS, picture_spec
from clonometer.views.specs import LIGHT, PAGE, theme

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import altair


def trimmed(value):
    """Few points are enough for a schema, and validating each takes its time."""
    if isinstance(value, dict):
        return {name: trimmed(inner[:2] if name == "values" else inner) for name, inner in value.items()}
    return [trimmed(inner) for inner in value] if isinstance(value, list) else value


def without_texts(value):
    """What a schema may refuse: any title, point and end of an axis is as good as another of its type."""
    if isinstance(value, dict):
        return {
            name: type(inner).__name__
            if isinstance(inner, str if name == "title" else list) and name in {"title", "values", "domain"}
            else without_texts(inner)
            for name, inner in value.items()
        }
    return [without_texts(inner) for inner in value] if isinstance(value, list) else value


#: What has been validated: the same theme and charts alike stand in many specs.
VALID = set()


def validate(spec):
    parts = [{name: value for name, value in spec.items() if name != "config"}]
    if "config" in spec:
        parts.append({"data": {"values": []}, "mark": "point", "encoding": {}, "config": spec["config"]})
    for part in parts:
        if (kind := json.dumps(without_texts(part))) not in VALID:
            altair.Chart.from_dict(trimmed(part), validate=True)
            VALID.add(kind)
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
    document = run_document(everything)
    switched = [block.spec for block in blocks_of(document) if isinstance(block, SwitchedFigure)]
    assert switched
    for spec in (*(panel.draw() for panel in drawn_panels(document)), *switched):
        validate({**spec, "config": theme(*PAGE)})


def test_validation_refuses_what_is_no_chart():
    with pytest.raises(jsonschema.ValidationError):
        validate({"data": {"values": []}, "mark": "violin", "encoding": {}})


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


#: Seen without one kind of cones (Machado, Oliveira and Fernandes 2009, severity 1.0), in linear sRGB.
SEEN_WITHOUT = {
    "none": np.eye(3),
    "red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "green": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]),
    "blue": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]]),
}
TO_XYZ = np.array([[0.412456, 0.357576, 0.180438], [0.212673, 0.715152, 0.072175], [0.019334, 0.119192, 0.950304]])


def lab(colour, cones):
    parts = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(SEEN_WITHOUT[cones] @ linear, 0, 1) / np.array([0.95047, 1, 1.08883])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(first, second):
    """CIEDE2000, after Sharma, Wu and Dalal (2005)."""
    (l1, a1, b1), (l2, a2, b2) = first, second
    mean_chroma = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * math.sqrt(mean_chroma**7 / (mean_chroma**7 + 25**7))
    c1, c2 = math.hypot(a1 * stretch, b1), math.hypot(a2 * stretch, b2)
    h1, h2 = (math.degrees(math.atan2(b, a * stretch)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    hue = (h1 + h2 + (360 if abs(h1 - h2) > 180 else 0)) / 2
    turns = ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63))
    shape = 1 + sum(weight * math.cos(math.radians(times * hue + shift)) for weight, times, shift in turns)
    of_light = (l2 - l1) / (1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2))
    of_chroma = (c2 - c1) / (1 + 0.045 * chroma)
    of_hue = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2)) / (1 + 0.015 * chroma * shape)
    bend = math.sin(math.radians(60 * math.exp(-(((hue - 275) / 25) ** 2))))
    turned = -2 * math.sqrt(chroma**7 / (chroma**7 + 25**7)) * bend
    return math.sqrt(of_light**2 + of_chroma**2 + of_hue**2 + turned * of_chroma * of_hue)


def test_the_distance_of_colours_is_that_of_the_published_pairs():
    # The authors' test data, pairs 1, 4 and 17.
    for first, second, published in (
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0000),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
    ):
        assert distance(first, second) == pytest.approx(published, abs=1e-4)


@pytest.mark.parametrize(("cones", "least"), [("none", 17), ("red", 9), ("green", 9), ("blue", 12)])
def test_colours_differ_to_everybody(cones, least):
    seen = [lab(colour, cones) for colour in PALETTE]
    assert min(distance(*pair) for pair in itertools.combinations(seen, 2)) >= least


def test_families_name_colours_that_exist():
    given = {words.colour for known in families() for words in known.workloads.values() if words.colour}
    assert given | set(axis("task_kind").colours.values()) <= set(HUES)


@pytest.mark.parametrize("colour", PALETTE)
@pytest.mark.parametrize("ground", ["#ffffff", "#14181d"])
def test_colours_stand_out_from_light_and_dark(colour, ground):
    lighter, darker = sorted((luminance(colour), luminance(ground)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 3
