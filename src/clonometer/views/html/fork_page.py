"""The page "What does a fork cost?": what stands there without scripts, and the data that these read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from clonometer.units import approximate_bytes, brief_duration
from clonometer.views.documents.fork_page import machine_phrases
from clonometer.views.fork_figure import timeline_svg
from clonometer.views.fork_words import PARTS, WAYS, JsonRecord, meanwhile_sentence, start_sentence, unbroken
from clonometer.views.html.page import render_page

_SCRIPTS = (
    "fork_model.js",
    "fork_shape.js",
    "fork_launch.js",
    "fork_words.js",
    "fork_profile.js",
    "fork_curve.js",
    "fork_timeline.js",
    "fork_page.js",
)
_MOST_LACKING = 3


def render_fork_page(page: JsonRecord) -> str:
    """Write the page as one self-contained HTML document that fetches nothing."""
    start = page["start"]
    launch, answer = start["launch"], start_sentence(start)
    return render_page(
        "fork.html.j2",
        *_SCRIPTS,
        styles=("fork.css",),
        data=_data(page),
        brand="Clonometer: what does a fork cost?",
        name="What does a fork cost?",
        title=unbroken(answer),
        meanwhile=unbroken(meanwhile_sentence("fork", start["threads"], launch)),
        about=machine_phrases(page),
        is_rough=page["model"] == "rough",
        figure=timeline_svg(launch, answer),
        parts=[_part(part) for part in launch["parts"]],
        others=[_way(way) for way in start["ways"]],
        basis=list(_basis(page)),
    )


def _data(page: JsonRecord) -> Mapping[str, Any]:
    """What the scripts read."""
    kept = {name: page[name] for name in ("model", "calibration", "scales", "runtimes", "profile", "most_bytes")}
    ways = [
        {**{name: way[name] for name in ("mechanism", "shape", "until_exit")}, "name": name, "waits": waits}
        for way, (name, waits) in ((way, WAYS[way["name"]]) for way in page["start"]["ways"])
    ]
    return {
        **kept,
        "words": {part: words._asdict() for part, words in PARTS.items()},
        "ways": ways,
        "points": [point for run in page["runs"] for point in run["points"]],
    }


def _part(part: JsonRecord) -> Mapping[str, str]:
    words = PARTS[part["part"]]
    return {
        "hue": words.hue,
        "name": f"child {words.name}" if part["lane"] == "child" else words.name,
        "time": brief_duration(part["lasts_ns"]),
        "count": f"{round(part['count']):,}" if part["count"] else "",
        "meaning": words.meaning,
    }


def _way(way: JsonRecord) -> Mapping[str, str]:
    cost, (name, waits) = way["cost"], WAYS[way["name"]]
    if cost is None:
        return {"name": name, "time": "not measured", "interval": "", "waits": waits}
    interval = f"{brief_duration(cost['low_ns'])} to {brief_duration(cost['high_ns'])}"
    return {"name": name, "time": brief_duration(cost["median_ns"]), "interval": interval, "waits": waits}


def _basis(page: JsonRecord) -> Iterator[str]:
    """Where the times come from, and what they cannot say."""
    if page["model"] == "rough":
        yield "From a rough model, good for the order of magnitude."
    else:
        day = datetime.fromtimestamp(page["calibration"]["made_at"], UTC).date().isoformat()
        scan = "A scan of its speed scaled them." if page["is_scaled"] else "Its speed afterwards was not measured."
        yield f"From the {page['model']} of this machine, made on {day}. {scan}"
    if page["most_bytes"]:
        most = approximate_bytes(page["most_bytes"])
        yield f"Forks were measured up to {most}. Above that the page extrapolates, and says so."
    yield (
        "Nine in ten forks take a time in the interval. Caches are cold, as in a server that forks now and then. "
        "Without a profile, the process is a small program that filled its memory; half of its page frames are "
        "assumed to be scattered."
    )
    for run in page["runs"]:
        yield f"Dots: medians of calls in {run['name']}, in a loop with warm caches, on {run['host']}."
    for what, reason in list(page["calibration"]["lacks"].items())[:_MOST_LACKING]:
        yield f"Not measured: {what} ({reason})."
