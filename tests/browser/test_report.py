from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

CHARTS = [
    "overview-same_image",
    "overview-new_program",
    "ecdf",
    *(f"memory-0-{place}" for place in range(3)),
]


def visible_rows(page):
    return page.locator("#cell-table tbody tr:visible")


def column(page, number):
    return page.locator(f"#cell-table tbody tr:visible > :nth-child({number})").all_inner_texts()


def values(page, number):
    cells = f"#cell-table tbody tr:not([hidden]) td:nth-child({number})"
    return [float(text) for text in page.eval_on_selector_all(cells, "all => all.map((one) => one.dataset.v)")]


def marks(page, chart):
    """How many lines and dots of data a chart has."""
    return page.locator(
        f"#{chart} svg .mark-line path, #{chart} svg .mark-symbol:not(.role-legend-symbol) path"
    ).count()


def test_it_loads_in_silence_asks_for_nothing_and_draws_every_chart(look, report_file):
    seen = look()
    assert seen.messages == []
    assert seen.asked == [report_file.as_uri()]
    for chart in CHARTS:
        assert marks(seen.page, chart) > 0, chart
        box = seen.page.locator(f"#{chart} svg").bounding_box()
        assert box["width"] > 200
        assert box["height"] > 90


def test_a_browser_that_cannot_unpack_the_library_says_so_and_has_the_tables(browser, report_file):
    page = browser.new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto(report_file.as_uri())
    page.wait_for_selector("html[data-drawn]", state="attached")
    assert "too old to draw the charts" in page.inner_text("main > .banner")
    assert page.locator("#cell-table tbody tr").count() > 10
    assert page.locator("main svg").count() == 0
    page.close()


def test_nothing_overflows_sideways_on_the_narrowest_telephone(look):
    page = look(320).page
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    clipped = page.evaluate(
        """() => [...document.querySelectorAll(".plot svg")].filter((svg) => {
            const room = svg.parentElement.getBoundingClientRect();
            return [...svg.querySelectorAll("text")].some((text) => {
                const box = text.getBoundingClientRect();
                return box.right > room.right + 1 || box.left < room.left - 1;
            });
        }).map((svg) => svg.parentElement.id)"""
    )
    assert clipped == []


def test_dark_differs_and_the_charts_follow(look):
    def colours(scheme):
        return look(scheme=scheme).page.evaluate(
            """() => [getComputedStyle(document.body).backgroundColor,
                      getComputedStyle(document.querySelector("#ecdf svg .role-axis-label text")).fill]"""
        )

    (light_ground, light_ink), (dark_ground, dark_ink) = colours("light"), colours("dark")
    assert light_ground != dark_ground
    assert light_ink != dark_ink


def test_a_distribution_can_be_chosen(visit):
    page = visit().page
    assert page.inner_text("#ecdf-caption") == "Shown: fork; vfork; pthread."
    assert marks(page, "ecdf") == 6
    page.select_option("#ecdf-choices [name=temperature]", "warm")
    page.wait_for_function("document.querySelectorAll('#ecdf svg .mark-line path').length === 3")
    page.select_option("#ecdf-choices [name=condition]", "64 MiB")
    page.wait_for_function(
        "document.getElementById('ecdf-caption').textContent.includes('fork, 64 MiB; pthread, 64 MiB')"
    )
    page.select_option("#ecdf-choices [name=family]", "new_program")
    page.wait_for_function("document.getElementById('ecdf-caption').textContent.startsWith('Nothing')")
    assert marks(page, "ecdf") == 0


@pytest.fixture(scope="module")
def table_page(look):
    """The filters and the order stay as a test leaves them, so each test sets its own."""
    return look(width=1100).page


def test_the_table_can_be_filtered(table_page):
    page = table_page
    everything = visible_rows(page).count()
    page.fill("#cell-filters [name=text]", "pthread 64mib")
    assert set(column(page, 1)) == {"pthread"}
    assert visible_rows(page).count() == 6
    page.select_option("#cell-filters [name=temperature]", "cold")
    assert visible_rows(page).count() == 3
    assert page.inner_text("#cell-count").startswith(f"3 of {everything} rows")
    page.fill("#cell-filters [name=text]", "no such thing")
    assert visible_rows(page).count() == 0


def test_the_table_can_be_sorted_from_the_keyboard(table_page):
    page = table_page
    page.fill("#cell-filters [name=text]", "")
    page.select_option("#cell-filters [name=temperature]", "")
    page.focus("#cell-table th:nth-child(6) button")
    page.keyboard.press("Enter")
    rising = values(page, 6)
    assert len(set(rising)) > 10
    assert rising == sorted(rising)
    assert page.get_attribute("#cell-table th:nth-child(6)", "aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert values(page, 6) == sorted(rising, reverse=True)


def test_what_has_no_p99_sorts_last(table_page):
    page = table_page
    page.fill("#cell-filters [name=text]", "")
    page.select_option("#cell-filters [name=temperature]", "")
    heads = [text.strip() for text in page.locator("#cell-table thead th").all_inner_texts()]
    place = 1 + heads.index("p99")
    for _ in range(2):
        page.click(f"#cell-table th:nth-child({place}) button")
        texts = column(page, place)
        first_dash = texts.index("-")
        assert set(texts[first_dash:]) == {"-"}


def test_print_shows_light_and_hides_controls(visit):
    page = visit(scheme="light").page
    page.emulate_media(media="print")
    assert not page.is_visible("#ecdf-choices")
    assert page.is_visible("#memory-0-0 svg")


def test_a_narrower_window_redraws_the_charts(visit):
    page = visit(1280).page
    wide = page.locator("#ecdf svg").bounding_box()["width"]
    page.set_viewport_size({"width": 500, "height": 900})
    page.wait_for_function(f"document.querySelector('#ecdf svg').getBoundingClientRect().width < {wide / 2}")
    assert page.evaluate("document.documentElement.scrollWidth") == 500
