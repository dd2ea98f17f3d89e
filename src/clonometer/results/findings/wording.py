"""The words of findings: stages, mechanisms, conditions, and several ratios in one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clonometer.families import axis as axis_of
from clonometer.families import measured_in
from clonometer.results.change import Change
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.results.types import Estimate
from clonometer.verdicts import Direction, Word
from clonometer.words import axis_words, quantity_name, until

#: Of a sentence, numbers in brackets left out: what a reader keeps in mind.
MOST_WORDS = 25
_ASIDE = re.compile(r" \([^()]*\)")


def measured(stage: str | None, quantity: str) -> str:
    """Say what was timed: a stage, or a quantity that is none.

    Examples
    --------
    >>> measured("reaped", "reaped_ns"), measured(None, "teardown_ns")
    ('until the task is reaped', 'in teardown')
    """
    return until(stage) if stage is not None else measured_in(quantity) or f"in {quantity_name(quantity)}"


def condition(changes: Mapping[str, int | str], temperature: str | None, placement: object = None) -> str:
    """Say a condition: the temperature, the placement asked for, then every axis that is off its default.

    Parameters
    ----------
    changes
        Axes off their default.
    temperature
        ``cold``, ``warm`` or None.
    placement
        The default placement, for when ``changes`` has none; None where the workload has no such axis.

    Examples
    --------
    >>> condition({"parent_bytes": 1 << 30}, "warm", "pinned")
    'warm, pinned, 1 GiB in the parent'
    """
    words = [temperature] if temperature else []
    others = dict(changes)
    where = others.pop("placement", placement)
    if where is not None:
        words.append(str(where))
    for axis, value in others.items():
        # A number alone does not say of what it is.
        phrase = axis_of(axis).where if isinstance(value, int) else ""
        words.append((phrase or "{}").format(axis_words(axis, value)))
    return ", ".join(words)


def listed(words: Sequence[str]) -> str:
    """Join words as in a sentence.

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _listed_in_sentences(start: str, next_start: str, items: Sequence[str]) -> str:
    """List items after ``start``; those for which its sentence has no room go into a next one."""
    texts: list[str] = []
    taken: list[str] = []
    for item in items:
        if taken and n_words(f"{start} {listed([*taken, item])}") > MOST_WORDS:
            texts.append(f"{start} {listed(taken)}")
            start, taken = next_start, []
        taken.append(item)
    return ". ".join([*texts, f"{start} {listed(taken)}"])


def n_words(text: str) -> int:
    """Count the words of a sentence, numbers in brackets left out.

    Examples
    --------
    >>> n_words("fork takes 3.56 (3.52 to 3.59) times as long")
    6
    """
    return len(_ASIDE.sub("", text).split())


def short_median(row: Estimate) -> str:
    """Write a row's median, with as many digits as its interval supports."""
    written = row.figures()
    return "" if written is None else written.short


def median_with_ends(row: Estimate) -> str:
    """Write a row's median with the ends of its interval, where it has one."""
    written = row.figures()
    return "" if written is None else written.text


def _measured(comparison: Change[RunEstimate]) -> str:
    return measured(comparison.other.stage, comparison.other.quantity)


def several_ratios(
    a: str,
    b: str,
    comparisons: Sequence[Change[RunEstimate]],
    *,
    plural: bool = False,
    at: Callable[[Change[RunEstimate]], str] = _measured,
) -> list[str]:
    """Say in sentences how two things compare at several stages, always with a ratio above 1.

    Comparisons are grouped by who takes longer, and keep their order within a group; ``at`` says which one it is: by
    default the stage until which it was measured. What is not sure is a sentence of its own.
    """
    clauses = []
    for first, second, verdict in ((a, b, Direction.MORE), (b, a, Direction.LESS)):
        with_verdict = [comparison for comparison in comparisons if comparison.direction == verdict]
        ratios = [
            f"{comparison.upward.text} "
            f"{f'times as long as {second} ' if comparison is with_verdict[0] else ''}{at(comparison)}"
            for comparison in with_verdict
        ]
        if ratios:
            clauses.append(_listed_in_sentences(f"{first} {'take' if plural else 'takes'}", "The ratio is", ratios))
    texts = ["; ".join(clauses)] if clauses else []
    unsure = [comparison for comparison in comparisons if comparison.direction == Direction.UNKNOWN]
    return [*texts, *not_sure(a, b, unsure, at=at)]


def verdict(a: str, b: str, comparison: Change[RunEstimate], *, plural: bool = False) -> str:
    """Say how two things compare, always with a ratio above 1."""
    if comparison.direction == Direction.UNKNOWN:
        return in_doubt(f"between {a} and {b}", comparison)
    longer, shorter = (a, b) if comparison.direction == Direction.MORE else (b, a)
    return f"{longer} {'take' if plural else 'takes'} {comparison.upward.text} times as long as {shorter}"


def in_doubt(where: str, comparison: Change[Any]) -> str:
    """Say of a difference that it is likely or open, and from which size on it would be sure.

    Examples
    --------
    >>> in_doubt("between fork and vfork", Change(base="b", other="a", value=1.05, low=0.93, high=1.2, told_from=1.3))
    'a difference between fork and vfork is open (1.1, 0.9 to 1.2, sure from 1.30 on)'
    """
    return f"a difference {where} is {comparison.word} ({comparison.aside})"


def not_sure(
    a: str, b: str, comparisons: Sequence[Change[RunEstimate]], *, at: Callable[[Change[RunEstimate]], str] = _measured
) -> list[str]:
    """Say where a difference of two things is likely, and where it is open; nothing of none."""
    texts = []
    for word in (Word.LIKELY, Word.OPEN):
        places = [f"{at(each)} ({each.aside})" for each in comparisons if each.word == word]
        start = f"a difference between {a} and {b} is {word}"
        texts += [_listed_in_sentences(start, f"It is {word}", places)] if places else []
    return texts


def sentence(text: str) -> str:
    """Make a sentence: a capital, but of no id, and a full stop.

    Examples
    --------
    >>> sentence("warm: fork is slower"), sentence("switch.pipe takes 4 µs")
    ('Warm: fork is slower.', 'switch.pipe takes 4 µs.')
    """
    first_word = text.partition(" ")[0].rstrip(":,")
    return f"{text if '.' in first_word else text[0].upper() + text[1:]}."


def sentences(*texts: str) -> str:
    """Make sentences of those texts that are not empty.

    Examples
    --------
    >>> sentences("fork is slower", "", "threads share memory")
    'Fork is slower. Threads share memory.'
    """
    return " ".join(sentence(text) for text in texts if text)


def headed(head: str, texts: Sequence[str]) -> str:
    """Make sentences under one heading, which the first of them bears.

    Examples
    --------
    >>> headed("warm", ["fork is slower", "threads share memory"])
    'Warm: fork is slower. Threads share memory.'
    """
    first, *others = texts
    return sentences(f"{head}: {first}" if head else first, *others)
