"""Documents that somebody has tampered with: seeded, so that what failed once fails again."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

HOSTILE: tuple[Any, ...] = (
    None, True, 0, -1, 1, 3, 0.5, -0.0, 1e-320, 1e300, 2**63, -(2**63), 10**400, "", "x", "²", "-1", "\ud800",
    "a" * 999, [], {}, [[]], {"": None}, [1, 2, 3], ["x"],
)  # fmt: skip


def mutated(document: Any, seed: int, count: int) -> Iterator[Any]:
    """Give ``count`` documents with one to three places changed, taken out, or put in place of others."""
    chance = random.Random(seed)
    for _ in range(count):
        changed = copy.deepcopy(document)
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            _change(changed, chance)
        yield changed


def mutated_bytes(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """Give ``count`` answers with some bytes changed, taken out or doubled, or cut short."""
    chance = random.Random(seed)
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 1, 2, 8))):
            at = chance.randrange(len(changed))
            length = chance.choice((1, 4, 8, 64))
            how = chance.randrange(4)
            if how == 0:
                changed[at] ^= 1 << chance.randrange(8)
            elif how == 1:
                del changed[at : at + length]
            elif how == 2:
                changed[at:at] = changed[at : at + length]
            else:
                changed[at : at + length] = chance.randbytes(length)
        yield bytes(changed)


def _change(document: Any, chance: random.Random) -> None:
    inside = document
    while True:
        keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
        if not keys:
            return
        key = chance.choice(keys)
        deeper = inside[key]
        if not isinstance(deeper, dict | list) or not deeper or chance.random() < 0.1:
            break
        inside = deeper
    how = chance.random()
    if how < 0.1:
        del inside[key]
    elif how < 0.2:
        inside[chance.choice(keys)] = inside[key]
    elif how < 0.3 and isinstance(inside, dict):
        inside[str(chance.choice(HOSTILE))[:9]] = inside.pop(key)
    elif how < 0.4 and isinstance(inside[key], int | float):
        inside[key] = -inside[key]
    else:
        inside[key] = copy.deepcopy(chance.choice(HOSTILE))
