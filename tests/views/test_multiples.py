"""Small multiples: at most five lines a panel, none lost, and titles that say what their lines have in common."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clonometer.views.multiples import MOST_LINES, joined, multiples

words = st.tuples(st.sampled_from("abcdefghijklm"), st.sampled_from(["", "x", "y"]), st.sampled_from(["warm", "cold"]))


@given(st.lists(words, max_size=40))
def test_no_panel_has_more_than_five_lines_and_none_is_lost(names):
    panels = multiples(list(enumerate(names)))
    assert sorted(line for _, members in panels for line, _ in members) == list(range(len(names)))
    titles = [title for title, _ in panels]
    assert len(set(titles)) == len(titles)
    for _, members in panels:
        by_label = {label: names[line] for line, label in members}
        assert len(by_label) <= MOST_LINES
        assert all(by_label[label] == names[line] for line, label in members), "two lines of one name in a panel"


def test_few_lines_share_a_panel_under_their_whole_names():
    [(title, members)] = multiples([(0, ("fork", "", "warm")), (1, ("fork", "THP", "warm"))])
    assert (title, members) == ("", [(0, "fork, warm"), (1, "fork, THP, warm")])


def test_a_kind_of_word_parts_them_rather_than_a_number():
    sides = [(None, (name, after)) for after in ("", "after pthread") for name in ("fork", "vfork", "clone", "pthread")]
    assert [title for title, _ in multiples(sides)] == ["", "after pthread"]
    alone = [(None, (f"flags.{number}",)) for number in range(11)]
    sizes = {title: len(members) for title, members in multiples(alone)}
    assert sizes == {"1 of 3": 4, "2 of 3": 4, "3 of 3": 3}
    assert joined(("", "a", "")) == "a"
