"""Plain English: which sentences are too long, which words are to avoid, and what is no sentence."""

from __future__ import annotations

import re

import pytest

from tools import prose

LONGEST = " ".join(["word"] * 25)


@pytest.fixture
def faults(tmp_path):
    def of(text: str, name: str = "page.md") -> list[str]:
        path = tmp_path / name
        path.write_text(text)
        return [fault.removeprefix(str(path)) for fault in prose.faults(path)]

    return of


def test_a_sentence_of_26_words_is_too_long_wherever_its_lines_end(faults):
    assert faults(f"{LONGEST}.") == []
    (fault,) = faults("Short.\n" + f"{LONGEST} more.".replace(" ", "\n"))
    assert fault.startswith(": a sentence of 26 words: word word")


@pytest.mark.parametrize(
    "text",
    [
        f"```sh\n{LONGEST} more\n```",
        f"Text:\n\n    {LONGEST} more",
        f"| {LONGEST} | more |\n|---|---|",
        f"# {LONGEST} more",
        f"<!-- {LONGEST} more -->",
        f"{LONGEST} (aside (in aside), more).",
        f"- {LONGEST}\n- more\n\nand more",
        f"{LONGEST}: more; more. *More.* More",
    ],
)
def test_what_is_no_sentence_or_ends_it_is_not_counted(faults, text):
    assert faults(text) == []


def test_a_word_to_avoid_is_named_with_its_line_and_what_to_write_instead(faults):
    assert faults("Fork is slow.\nThey are not told\napart.\n") == [
        ":2: 'told apart': write cannot tell a difference between"
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("module.py", f'call(\n    "{LONGEST} "\n    f"more {{x}}"\n)'),
        ("module.c", f'call(\n    "{LONGEST} "\n    "more");'),
        ("plan.toml", f'\ntitle = "{LONGEST} more"'),
        ("page.html.j2", f"\n<p>{LONGEST} <b>more</b>"),
    ],
)
def test_the_texts_of_a_source_are_read_however_they_are_put_together(faults, name, text):
    (fault,) = faults(text, name)
    assert re.match(r"(:2)?: a sentence of 2[67] words: word word", fault)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("module.py", f'def f():\n    """{LONGEST} more."""\n    # {LONGEST} more'),
        ("module.py", f'NAMES = "{LONGEST} more".split()'),
        ("module.py", f'x = ["{LONGEST}", "more"]'),
        ("module.c", f'/* "{LONGEST} more" */ call("{LONGEST}\\nmore"); // "{LONGEST} more"'),
        ("page.html.j2", f"<p>{LONGEST}<p>more {{# {LONGEST} more #}}"),
    ],
)
def test_what_only_developers_read_in_a_source_is_not_judged(faults, name, text):
    assert faults(text, name) == []


def test_in_the_golden_file_each_line_is_text_but_those_of_figures(faults):
    lines = ["finding.id", f"    {LONGEST}", f"    ratio: {LONGEST} more"]
    assert faults("\n".join(lines), "golden.txt") == []
    assert len(faults("\n".join([*lines, f"    headline: {LONGEST} more"]), "golden.txt")) == 1
