"""Which service's creators spend how long: ranked, bounded, as JSON, in a table and as metrics."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as text_format
from tests.fakes.census_lines import FORK, LIBRARY, MODULES, STACKS, ended, frame, group, site, taken, task
from tests.schemas import check

from clonometer.app.census import CensusAnswer
from clonometer.host.services import WatchedGroups
from clonometer.tracing.census import call_sites, services
from clonometer.tracing.census.launches import LaunchSite
from clonometer.tracing.census.tally import Census
from clonometer.views.documents.census import census_document
from clonometer.views.exports.launched import HEADING, LaunchMetrics
from clonometer.views.terminal.document import render_document

render_census = partial(render_document, census_document)
WHOLE = WatchedGroups(0, "/", "This machine")


def machine(*more: dict[str, Any], **changes: Any) -> Census:
    return taken(
        group(0, "/system.slice/cheap.service"),
        task(cgroup=0, cost_ns=1000),
        group(1, "/system.slice/dear.service/inner"),
        task(cgroup=1, site=0, cost_ns=5_000_000, call="clone", flag_names=FORK, making_ns=4_000_000),
        task(cgroup=1, cost_ns=1_000_000),
        task(cgroup=None),
        *more,
        ended(stacks=STACKS, **changes),
    )


def test_services_are_ranked_and_their_call_sites_stand_by_them() -> None:
    census = machine(site(0, *LIBRARY, frame(1, "start_it", 80, line=12)), *MODULES, unplaced=1)
    ranked = census.services.by_cost()
    assert [(each.name, each.created, each.cost_ns) for each in ranked] == [
        ("dear.service", 2, 6_000_000),
        ("unknown", 1, 110_000),
        ("cheap.service", 1, 1000),
    ]
    text = render_census(census, "This machine", width=100)
    assert text.index("dear.service") < text.index("unknown") < text.index("cheap.service")
    assert "dear.service  posix_spawn  /src/a.c:12" in text
    assert "Of 1 creator the service is not known" in text


def test_the_answer_as_json_has_the_services() -> None:
    census = machine()
    answer = CensusAnswer(census, (), None, (), (), [LaunchSite(each) for each in census.sites.by_cost()], WHOLE)
    written = answer.to_json()
    check(written, "census")
    assert written["services"]["service"][0]["name"] == "dear.service"
    assert {launch["service"] for launch in written["launches"]} == {"dear.service", "cheap.service", "unknown"}


def test_too_many_services_and_sites_are_counted_together_the_dearest_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MOST_SERVICES", 4)
    monkeypatch.setattr(call_sites, "_MOST_SITES", 4)
    lines = [
        line
        for number in range(40)
        for line in (
            group(number, f"/{number}"),
            task(cgroup=number, cost_ns=1_000_000 if number == 7 else 10, creator_program=f"/{number}"),
        )
    ]
    census = taken(*lines, ended(stacks=STACKS))
    ranked = census.services.by_cost()
    assert len(ranked) <= 5
    assert ranked[0].name == "/7"
    assert sum(each.created for each in ranked) == 40
    assert census.services.folded + len(ranked) >= 40
    sites = census.sites.by_cost()
    assert sites[0].program == "/7"
    assert sum(each.created for each in sites) == 40
    text = render_census(census, "This machine", width=100)
    assert "are counted together as others" in text
    assert "call sites that cost least are counted together" in text


def test_metrics_are_what_both_formats_of_collectors_read() -> None:
    text = "".join(LaunchMetrics().encode(machine().services))
    assert text.startswith(HEADING)
    for parse in (text_string_to_metric_families, text_format):
        (family,) = [each for each in parse(text) if each.samples]
        assert family.type == "histogram"
        of_fork = {each.labels.get("le"): each.value for each in family.samples if each.labels["mechanism"] == "fork"}
        assert (of_fork["0.0025"], of_fork["0.005"], of_fork["+Inf"]) == (0, 1, 1)
        sums = [each.value for each in family.samples if each.name.endswith("_sum")]
        assert sum(sums) == pytest.approx(0.00424)


def test_hostile_names_of_services_are_escaped() -> None:
    census = taken(group(0, '/a"\n\\b{'), task(cgroup=0), ended())
    (family,) = text_string_to_metric_families("".join(LaunchMetrics().encode(census.services)))
    assert family.samples[0].labels["service"] == '/a"\n\\b{'


def test_the_number_of_series_is_bounded_and_a_series_stays_that_of_its_service() -> None:
    metrics, census = LaunchMetrics(), Census()
    census.take({"line": "begin", "how": "tracepoints", "without": None})

    def named(text: str) -> set[str]:
        (family,) = text_string_to_metric_families(text)
        return {each.labels["service"] for each in family.samples}

    for number in range(60):
        census.take(group(number, f"/{number}"))
        census.take(task(cgroup=number))
    before = named("".join(metrics.encode(census.services)))
    for number in range(60, 200):
        census.take(group(number, f"/{number}"))
        census.take(task(cgroup=number, cost_ns=10**9))
    after = named("".join(metrics.encode(census.services)))
    assert before < after
    assert len(after) == 65
    assert "others" in after
