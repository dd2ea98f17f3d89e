"""From where on a claim's number counts: every threshold of the ledger, each once and with its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Threshold:
    """One threshold.

    ``share`` is how far from "no more, no less" a number must be, as a share: 0.05 is 5%. ``words`` say it in a
    sentence's end, ``meaning`` what a claim must say to get it, ``reason`` why it is as large as that.
    """

    share: float
    words: str
    meaning: str
    reason: str


DIFFERS = Threshold(
    0.05,
    "5%",
    "slower, faster, more, or equal",
    "Two builds of one program that differ only in their layout differ by up to 3% here. "
    "Less than 5% is therefore not a property of processes or threads. "
    "Equal is the opposite of different, so no number can be both",
)
QUARTER = Threshold(
    0.25,
    "a quarter",
    "flat, no effect, a part of it, the size that a study gives, scatter",
    "The studies' machines are not this one, and their own ranges span more. A spread is known less well than a centre",
)
TWICE = Threshold(
    1.0,
    "twice",
    "grows, several times, heavy, the biggest part (more than half)",
    "Words like these promise something that is visible without statistics",
)
TENTH = Threshold(
    0.10,
    "one in ten",
    "rarely, hardly any, nearly all (nine in ten)",
    "The least share that about 40 processes can rule out: none in 36 still allows one in ten",
)
#: In the order of the table in docs/studies.md.
THRESHOLDS: tuple[Threshold, ...] = (DIFFERS, QUARTER, TWICE, TENTH)
