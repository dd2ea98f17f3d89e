"""The benchmark that holds our forks beside those of a live server."""

from __future__ import annotations

import pytest
from bench import redis

NS_A_PAGE = {"redis": 70.0, "idle": 69.0, "thrashed": 75.0, "hot": 37.0}
PAGES = 1000.0


def _turns(**changed: float) -> list[dict[str, float]]:
    each = {**NS_A_PAGE, **changed}
    return [{name: ns * PAGES * (1 + turn / 1000) for name, ns in each.items()} for turn in range(6)]


def test_what_both_say_of_a_page_is_shown_beside_their_ratio() -> None:
    by_name = {line.name: line for line in redis.lines("clean", _turns(), PAGES)}
    assert by_name["redis.clean.caches=hot"].value == pytest.approx(70 / 37)
    assert "70.2 and 37.1 ns a page" in by_name["redis.clean.caches=hot"].note
    assert by_name["redis.clean.apart"].verdict == "ok"


@pytest.mark.parametrize("idle", [50.0, 98.0])
def test_a_figure_too_far_to_either_side_is_a_miss(idle: float) -> None:
    (*_, apart) = redis.lines("clean", _turns(idle=idle), PAGES)
    assert apart.verdict == "miss"
    assert apart.value == pytest.approx(max(70 / idle, idle / 70))


def test_without_a_server_it_says_so_and_asks_for_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    assert list(redis.run()) == []
    assert "skipped, redis-server and redis-cli not installed" in capsys.readouterr().out
