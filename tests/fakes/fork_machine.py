"""A machine with every model that the page about forks draws, and processes drawn at random for it."""

from __future__ import annotations

import random
from dataclasses import replace

from clonometer.model import calibration as names
from clonometer.model.calibration import CostModel
from clonometer.model.features import Features
from clonometer.model.types import CostRange, Scale, Scales
from clonometer.prediction.fork_shape import ForkShape
from clonometer.prediction.judge import Machine
from clonometer.prediction.mappings import MappingGroup
from clonometer.prediction.profile import Profile
from tests.model.synthetic import calibration

SCALES = Scales(Scale(1.2, 0.05), Scale(0.9, 0.1), Scale(1.4, 0.07))


def fork_machine() -> Machine:
    """A machine of which each figure differs from each other, so that none can be taken for another."""
    chance = random.Random(1)
    made = calibration()
    models = {name: _drawn(each, chance) for name, each in made.models.items()}
    models |= {
        names.POSIX_SPAWN: CostModel(
            ("base", "written areas", "open files"), (1.0, 1e4, 1e4, 1e4), (), (210_000.0, 40.0, 30.0),
            ((200_000.0, 41.0, 29.0), (220_000.0, 39.0, 33.0)), 0.1, 0.2, (),
        ),
        names.PTHREAD: CostModel(("base",), (1.0, 1.0), (), (41_000.0,), ((40_000.0,), (43_000.0,)), 0.0, 0.25, ()),
        names.FORK_STARTS: CostModel(("base",), (1.0, 1.0), (), (35_000.0,), (), 0.0, 0.4, ()),
        names.PTHREAD_STARTS: CostModel(("base",), (1.0, 1.0), (), (12_000.0,), (), 0.0, 0.4, ()),
    }  # fmt: skip
    writes = {name: CostRange(ns / 2, ns, ns * 2) for name, ns in (("parent_small", 1100.0), ("parent_huge_all", 9e5))}
    facts = {
        "cpu.model": "Invented CPU @ 3 GHz",
        "cpu.online": "2",
        "kernel.release": "6.18.1-x",
        "virt.hypervisor": "KVM",
    }
    return Machine(replace(made, models=models, first_writes=writes, machine=facts), is_rough=False, scales=SCALES)


def _drawn(each: CostModel, chance: random.Random) -> CostModel:
    """With errors of the fit, and draws that differ."""
    draws = [[ns * chance.uniform(0.8, 1.25) for ns in each.each_ns] for _ in range(20)]
    shifted = [ns * chance.uniform(0.7, 1.4) for ns in each.each_ns]
    return replace(each, each_ns=shifted, draws_ns=draws, misfit=chance.uniform(0, 0.2), scatter=chance.uniform(0, 0.3))


def random_shape(chance: random.Random) -> ForkShape:
    """Anything that the controls can set, and more."""
    return ForkShape(
        memory_bytes=chance.choice([0, 4096, round(2 ** chance.uniform(12, 36)), 1 << chance.randrange(12, 37)]),
        pages=chance.choice(["given", "small", "huge"]),
        threads=chance.choice([1, 2, chance.randint(1, 2000)]),
        areas=chance.choice([1, chance.randint(1, 65_536)]),
        open_files=chance.choice([3, chance.randint(0, 65_536)]),
        placement=chance.choice(["given", "contiguous", "scattered"]),
        rewritten=chance.choice([0.0, 1.0, chance.random()]),
        copied=chance.choice([0.0, 1.0, chance.random()]),
    )


def random_profile(chance: random.Random) -> Profile:
    """A process of any kind; of every third only counters were read."""
    features = random_features(chance)
    most = replace(features, open_files=features.open_files + 100, anon_areas=features.anon_areas * 2)
    least = replace(features, anon_areas=0, open_files=0, placed_pages=0, scattered_pages=0)
    is_counted = chance.random() < 0.33
    group = MappingGroup("[heap]", "heap", 1, 1 << 30, 1 << 30, chance.randint(0, 2000), features)
    return Profile(
        process=chance.choice([None, "redis-server"]),
        how="counters" if is_counted else "smaps",
        why=None,
        rss_bytes=features.anon_pages * 4096,
        features=features,
        least=least if is_counted else None,
        most=most if is_counted else None,
        promised_bytes=None,
        largest_promised_bytes=None,
        groups=[group],
    )


def random_features(chance: random.Random) -> Features:
    """Counts of a process, which do not contradict each other."""

    def some(most: int) -> int:
        return round(float(most) ** chance.random()) if chance.random() < 0.6 else 0

    pages = some(10_000_000) + 1
    placed = min(pages, some(100_000))
    return Features(
        anon_areas=some(60_000),
        anon_pages=pages,
        anon_tables=min(pages, some(50_000)),
        placed_pages=placed,
        scattered_pages=round(placed * chance.random()),
        empty_areas=some(5000),
        file_areas=some(3000),
        shared_areas=some(300),
        dontfork_areas=some(3000),
        wipeonfork_areas=some(100),
        huge_pages=some(20_000),
        hugetlb_pages=some(100),
        hugetlb_page_bytes=2 << 20,
        swapped_pages=some(10_000),
        uffd_areas=some(50),
        open_files=some(30_000),
        threads=some(3000) + 1,
    )
