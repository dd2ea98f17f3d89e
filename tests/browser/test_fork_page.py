"""The page about forks: it predicts as the model in Python does, works by keyboard, and takes no stranger's word."""

from __future__ import annotations

import json
import random
import re
from dataclasses import asdict, replace
from importlib.resources import files

import pytest
from tests.browser.test_pages import AXE, BROKEN, CUT, WIDTHS
from tests.fakes.fork_machine import fork_machine, random_profile, random_shape

from clonometer.launch_paths.reading import load_book
from clonometer.prediction.fork_page import make_fork_page
from clonometer.prediction.fork_shape import ForkShape, shaped
from clonometer.prediction.fork_timeline import MECHANISMS, predict_launch
from clonometer.prediction.judge import Question, judge
from clonometer.records import to_json
from clonometer.views.fork_words import answer_sentence, meanwhile_sentence, process_words, unbroken
from clonometer.views.html.fork_page import render_fork_page

pytestmark = pytest.mark.browser

SHAPES, PROFILES = 250, 100
MOST_BYTES = 300_000


@pytest.fixture(scope="module")
def machine():
    return fork_machine()


@pytest.fixture(scope="module")
def page_file(tmp_path_factory, machine):
    path = tmp_path_factory.mktemp("fork") / "fork.html"
    path.write_text(render_fork_page(to_json(make_fork_page(machine, load_book()))), encoding="utf-8")
    return path


@pytest.fixture
def visit(browser, page_file):
    """Open the page, by default with nothing in its address."""
    pages = []

    def open_page(address="", width=1280, scheme="light", **context):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, **context)
        pages.append(page)
        page.messages, page.asked = [], []
        page.on("console", lambda message: page.messages.append(message.text))
        page.on("pageerror", lambda error: page.messages.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(page_file.as_uri() + address)
        if context.get("java_script_enabled", True):
            page.wait_for_selector("html[data-drawn]", state="attached")
        return page

    yield open_page
    for page in pages:
        page.close()


def until(page, expression):
    """Wait until it holds; the page's policy forbids the browser's own way to."""
    for _ in range(400):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never true: {expression}")


def span(cost):
    return [cost.low_ns, cost.median_ns, cost.high_ns]


def in_script(shape):
    return asdict(shape)


def launch_in_python(mechanism, shape, features, page):
    launch = predict_launch(mechanism, features, shape, page.calibration, page.scales)
    parts = [(part.lane, part.part, part.starts_ns, part.lasts_ns, part.count) for part in launch.parts]
    return span(launch.call_ns), parts, (launch.page_tables_bytes, launch.copied_bytes, launch.copying_ns or 0.0)


def launch_in_script(answer):
    launch = answer["launch"]
    call = [launch["call"][end] for end in ("low", "median", "high")]
    parts = [tuple(part[key] for key in ("lane", "part", "starts", "lasts", "count")) for part in launch["parts"]]
    return call, parts, (launch["pageTables"], launch["copiedBytes"], launch["copyingNs"] or 0.0)


def test_it_predicts_what_the_model_predicts_in_many_shapes(visit, machine):
    chance = random.Random(36)
    page = make_fork_page(machine, load_book())
    questions = [(chance.choice(MECHANISMS), random_shape(chance)) for _ in range(SHAPES)]
    asked = [{"mechanism": mechanism, "shape": in_script(shape), "profile": None} for mechanism, shape in questions]
    answers = visit().evaluate("(asked) => clonometerPage.evaluate(asked)", asked)
    assert len(answers) == SHAPES
    for (mechanism, shape), answer in zip(questions, answers, strict=True):
        features = shaped(shape)
        assert answer["features"] == asdict(features)
        call, parts, sizes = launch_in_python(mechanism, shape, features, page)
        call_there, parts_there, sizes_there = launch_in_script(answer)
        assert call_there == pytest.approx(call, rel=0.001), (mechanism, shape)
        assert [part[:2] for part in parts_there] == [part[:2] for part in parts]
        for part, drawn in zip(parts, parts_there, strict=True):
            assert drawn[2:] == pytest.approx(part[2:], rel=0.001, abs=1.0)
        assert sizes_there == pytest.approx(sizes, rel=0.001, abs=1.0)


def test_a_profile_is_judged_as_predict_judges_it(visit, machine):
    chance = random.Random(37)
    profiles = [random_profile(chance) for _ in range(PROFILES)]
    untouched = {**in_script(ForkShape()), "copied": 1.0}
    texts = [json.dumps(to_json(profile)) for profile in profiles]
    answers = visit().evaluate(
        "([texts, shape]) => texts.map((text) => clonometerPage.evaluate("
        "[{ mechanism: 'fork', shape, profile: clonometerPage.profileOf(JSON.parse(text)) }])[0])",
        [texts, untouched],
    )
    for profile, answer in zip(profiles, answers, strict=True):
        predicted = judge(profile, machine, Question())
        judged = answer["judged"]
        for name, time in (
            ("first", predicted.fork.first_ns),
            ("unwritten", predicted.fork.unwritten_ns),
            ("firstHot", predicted.fork.first_hot_ns),
            ("unwrittenHot", predicted.fork.unwritten_hot_ns),
            ("untilExit", predicted.waits.until_exit_ns),
            ("untilExec", predicted.waits.until_exec_ns),
        ):
            spans = [judged[name][end] for end in ("low", "median", "high")]
            assert spans == pytest.approx([time.low, time.median, time.high], rel=0.01), name
        assert answer["launch"]["pageTables"] == predicted.page_tables_bytes
        assert answer["copying"]["bytes"] == predicted.cow.copied_at_worst_bytes
        assert answer["copying"]["ns"] == pytest.approx(predicted.cow.worst_ns, rel=0.01)


def test_a_changed_profile_is_the_process_that_python_makes_of_it(visit):
    chance = random.Random(38)
    questions = [(random_profile(chance), random_shape(chance)) for _ in range(PROFILES)]
    asked = [[json.dumps(to_json(profile)), in_script(shape)] for profile, shape in questions]
    answers = visit().evaluate(
        "(asked) => asked.map(([text, shape]) => clonometerPage.evaluate("
        "[{ mechanism: 'fork', shape, profile: clonometerPage.profileOf(JSON.parse(text)) }])[0].features)",
        asked,
    )
    for (profile, shape), features in zip(questions, answers, strict=True):
        could_be_huge = sum(group.could_be_huge for group in profile.groups)
        assert features == asdict(shaped(shape, profile.features, could_be_huge))


def test_it_says_what_stood_there_before_scripts_ran(visit, machine):
    still, live = visit(java_script_enabled=False), visit()
    for selector in ("#answer", "#meanwhile", "#parts", "#others"):
        assert " ".join(still.inner_text(selector).split()) == " ".join(live.inner_text(selector).split()), selector


@pytest.mark.parametrize(("mechanism", "other"), [("fork", "thread"), ("fork_exec", "posix_spawn"), ("thread", "fork")])
def test_its_sentences_are_those_of_the_terminal(visit, machine, mechanism, other):
    page = visit(f"#make={mechanism}&memory=3072MiB&threads=12&pages=huge")
    shape = ForkShape(memory_bytes=3 << 30, threads=12, pages="huge", open_files=3)
    launch, compared = (
        to_json(predict_launch(each, shaped(shape), shape, machine.calibration, machine.scales_now))
        for each in (mechanism, other)
    )
    process = process_words(3 << 30, 12, is_huge=True)
    assert page.inner_text("#answer") == unbroken(answer_sentence(mechanism, process, launch, compared))
    assert page.inner_text("#meanwhile") == unbroken(meanwhile_sentence(mechanism, 12, launch))


def test_without_scripts_it_has_a_picture_and_no_dead_controls(visit):
    page = visit(java_script_enabled=False)
    assert page.locator("svg.timeline rect.bar").count() > 5
    assert page.locator("input:visible, select:visible, button:visible").count() == 0
    assert "Without JavaScript" in page.inner_text("noscript")


def test_the_file_is_small_silent_and_asks_for_nothing(visit, page_file):
    page = visit()
    assert page_file.stat().st_size < MOST_BYTES
    assert page.messages == []
    assert page.asked == [page_file.as_uri()]


#: Texts for screen readers alone are cut on purpose.
CUT_HERE = CUT.replace(".plot, .chart, .picture", "svg").replace('"select, input,', '".visually-hidden, select, input,')
STATES = ("", "#make=thread&memory=16384MiB", "#make=fork_exec&pages=huge&threads=64", "#in=node&by=0&memory=0MiB")


@pytest.mark.parametrize("key", ["toString", "constructor", "__proto__", "hasOwnProperty"])
def test_what_every_object_has_is_no_mechanism(visit, key):
    page = visit(f"#make={key}")
    assert page.messages == []
    assert page.inner_text("body") == visit().inner_text("body")


@pytest.mark.parametrize("address", STATES)
def test_it_is_whole_at_every_width_and_open_to_everybody(visit, address):
    axe = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
    page = visit(address)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(50)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(CUT_HERE) == [], width
        assert page.evaluate(BROKEN) == [], width
    page.evaluate(axe)
    for scheme, asked_of_axe in AXE:
        page.emulate_media(color_scheme=scheme)
        violations = page.evaluate(asked_of_axe)["violations"]
        assert [(entry["id"], [node["html"][:120] for node in entry["nodes"]][:3]) for entry in violations] == [], (
            scheme
        )
    assert page.messages == []


def test_the_slider_changes_the_sentence_and_the_address_and_a_link_shows_the_same(visit):
    page = visit()
    page.focus("#memory")
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert page.input_value("input[name=mechanism]:checked") == "fork_exec"
    until(page, "location.hash.includes('make=')")
    assert "fork() and exec() from a process with 4\u00a0GiB" in visit(page.evaluate("location.hash")).inner_text(
        "#answer"
    )
    page.select_option("#pages", "huge")
    page.select_option("#runtime", "python")
    until(page, "location.hash.includes('in=python')")
    assert "with 4\u00a0GiB in huge pages" in page.inner_text("#answer")
    address = page.evaluate("location.hash")
    again = visit(address)
    for shown in ("#timeline", "#parts", "#others", "#controls"):
        assert again.inner_text(shown) == page.inner_text(shown)
    assert again.inner_text("#answer") == page.inner_text("#answer")
    again.evaluate("location.hash = '#memory=1MiB'")
    until(again, "document.getElementById('answer').textContent.includes('1\u00a0MiB')")


def test_a_runtime_takes_the_path_that_the_book_has(visit):
    page = visit()
    for runtime in load_book().only(["node", "python", "java"]).runtimes:
        page.select_option("#runtime", runtime.name)
        offered = page.evaluate("[...document.getElementById('launch').options].map((each) => each.textContent)")
        assert len(offered) > 3
        for index in range(len(offered)):
            page.select_option("#launch", str(index))
            note = page.inner_text("#path-note")
            mechanism = page.evaluate("document.querySelector('[name=mechanism]:checked').value")
            copies = re.search(r"\bfork\b", note) is not None
            assert copies == mechanism.startswith("fork"), (offered[index], note)


def test_more_than_was_calibrated_is_marked(visit):
    assert "Extrapolated" not in visit("#memory=1024MiB").inner_text("#range-note")
    assert "Extrapolated: measured up to" in visit("#memory=65536MiB").inner_text("#range-note")


def test_play_runs_through_all_parts_and_step_goes_from_end_to_end(visit):
    page = visit()
    page.click("#step")
    first = page.inner_text("#now")
    page.click("#step")
    assert page.inner_text("#now") != first
    assert page.locator("#parts tr.now").count() >= 1
    page.click("#play")
    assert page.get_attribute("#play", "aria-pressed") == "true"
    until(page, "document.getElementById('seek').value === '1000'")
    assert page.inner_text("#play") == "Play"


def test_where_motion_is_unwanted_play_jumps_from_part_to_part(visit):
    page = visit(reduced_motion="reduce")
    stops = page.evaluate("[0, ...clonometerPage.timeline.stops]")
    page.click("#play")
    places = set()
    while len(places) < 3:
        places.add(page.evaluate("clonometerPage.timeline.now"))
        page.wait_for_timeout(20)
    assert places <= set(stops)
    page.click("#play")


def drop(page, text, name="server.json"):
    page.set_input_files("#profile", {"name": name, "mimeType": "application/json", "buffer": text.encode()})


def test_a_profile_becomes_the_process_and_stands_in_the_address(visit, machine):
    profile = random_profile(random.Random(5))
    profile = replace(profile, process="<img src=x onerror=alert(1)>")
    page = visit()
    drop(page, json.dumps(to_json(profile)))
    until(page, "location.hash.includes('has=')")
    assert page.messages == []
    assert page.locator("#answer img").count() == 0
    predicted = judge(profile, machine, Question())
    assert page.inner_text("#answer").startswith("fork() in ?img src?x onerror?alert(1)? with ")
    again = visit(page.evaluate("location.hash"))
    assert again.inner_text("#answer") == page.inner_text("#answer")
    call_ns = again.evaluate("clonometerPage.now().launch.call.median")
    assert call_ns == pytest.approx(predicted.fork.first_ns.median, rel=0.01)
    page.click("#forget")
    until(page, "!location.hash.includes('has=')")
    assert "a process with 1\u00a0GiB" in page.inner_text("#answer")


def test_a_file_can_be_dropped_anywhere(visit):
    text = json.dumps(to_json(replace(random_profile(random.Random(7)), process="nginx")))
    page = visit()
    page.evaluate(
        """(text) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([text], "server.json"));
          document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
        }""",
        text,
    )
    until(page, "document.getElementById('answer').textContent.includes('nginx')")
    assert page.messages == []


def with_features(**changes):
    document = to_json(random_profile(random.Random(6)))
    return json.dumps({**document, "features": {**document["features"], **changes}})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[]", "no profile"),
        ('{"schema": 99}', "schema 99"),
        ("{}", "no features"),
        (with_features(anon_pages=-1), "anon_pages"),
        (with_features(anon_pages=1e300), "anon_pages"),
        (with_features(anon_pages="1"), "anon_pages"),
        (with_features(anon_tables=2**40), "more page tables than pages"),
        ('{"features": {"threads": 1}, "groups": {"length": 1e9}}', "no list"),
        ("[" * 100_000, "not JSON"),
        (" " * (5 << 20), "at most"),
    ],
)
def test_what_is_no_profile_is_refused_with_what_is_wrong(visit, text, words):
    page = visit()
    before = page.inner_text("#answer")
    drop(page, text, "<b>strange</b>.json")
    page.wait_for_selector("#profile-note.bad")
    note = page.inner_text("#profile-note")
    assert words in note
    assert "<b>" not in page.inner_html("#profile-note")
    assert "clonometer predict --save-profile" in note
    assert page.inner_text("#answer") == before
    assert page.messages == []


@pytest.mark.parametrize(
    "address",
    [
        "#memory=1e9GiB&threads=-1&pages=odd&make=__proto__&in=constructor&rewritten=NaN&copied=1e9&areas=0&files=x",
        "#has=1.2.3&name=x",
        "#has=" + ".".join(["zzzzzzzzzz"] * 23),
        "#%E0%A4%A&&&=",
        "#in=python&by=999&memory=99999999MiB",
    ],
)
def test_a_damaged_address_shows_what_it_can(visit, address):
    page = visit(address)
    assert "takes" in page.inner_text("#answer")
    assert "NaN" not in page.inner_text("body")
    assert page.messages == []
