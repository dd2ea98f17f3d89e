"""What `history` finds: steps of 2, 5 and 10% in daily runs whose noise scatters and wanders, and false alarms a year.

Noise is a standard deviation of what is independent from day to day, and that of an AR(1) with its correlation. The
steps come on day 60 of a series. A false alarm is any step in a year without one. Then years with bursts, bad days and
boots that each have a level: there an alarm is a sure step of 5% that anybody who looks once in 15 days is shown. And
folders of 20 runs of 40 rows: in how many a step is sure where there is none, and how often one of 1.5 times is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bench.harness import Line, say
from clonometer.dataset.history import MAX_REGRESSION, JudgedStep, judged_steps, located_steps, ruled_steps
from clonometer.results.noise.noise import rate_interval
from clonometer.stats.steps import LEAST_VALUES, Step

YEAR = 365
STEP_AT, SOON, LATER = 60, 14, 30
SERIES, YEARS = 300, 600
OTHER_YEARS, LOOK = 40, 15
#: False alarms in a year of one series with the limit of one; of 50 series together with theirs.
MOST_FALSE, MOST_FALSE_DRIFTING = 0.05, 0.6
TOGETHER = 50
#: A folder of few runs.
RUNS, ROWS, FOLDERS, FACTOR = 20, 40, 100, 1.5


@dataclass(frozen=True)
class Noise:
    """Standard deviations of what is independent from day to day and of what wanders, with its correlation."""

    independent: float
    wandering: float = 0.0
    correlation: float = 0.0
    heavy: bool = False

    def draw(self, random: np.random.Generator, days: int, series: int) -> NDArray[np.float64]:
        """Logarithms of medians, shape (days, series)."""
        shape = (days, series)
        alone = random.standard_t(4, size=shape) / 2**0.5 if self.heavy else random.normal(size=shape)
        wander = np.empty(shape)
        wander[0] = random.normal(size=series)
        fresh = random.normal(size=shape) * (1 - self.correlation**2) ** 0.5
        for day in range(1, days):
            wander[day] = self.correlation * wander[day - 1] + fresh[day]
        return self.independent * alone + self.wandering * wander


NOISES = {
    "steady": Noise(0.01),
    "heavy": Noise(0.01, heavy=True),
    "drift_2_days": Noise(0.005, 0.01, 0.5),
    "drift_5_days": Noise(0.01, 0.01, 0.8),
    "drift_20_days": Noise(0.01, 0.02, 0.95),
    "quiet_drift": Noise(0.003, 0.003, 0.9),
}


def run() -> Iterator[Line]:
    for name, noise in NOISES.items():
        random = np.random.default_rng(1)
        years = noise.draw(random, YEAR + LEAST_VALUES, YEARS)
        alarms = sum(map(bool, _each_alone(years)))
        most = MOST_FALSE_DRIFTING if noise.correlation > 0.9 else MOST_FALSE
        yield _share(f"{name}.false_alarms_a_year", alarms, YEARS, most, "of one series")
        starts = range(0, YEARS, TOGETHER)
        groups = [any(sure_steps(years[:, start : start + TOGETHER])) for start in starts]
        yield _share(f"{name}.false_alarms_of_{TOGETHER}", sum(groups), len(groups), None, f"of {TOGETHER} series")
        for size in (0.02, 0.05, 0.1):
            values = noise.draw(random, STEP_AT + LATER, SERIES)
            values[STEP_AT:] += np.log1p(size)
            listed = [_delay(steps) for steps in _each_alone(values)]
            delays = [delay for delay in listed if delay is not None]
            soon = sum(delay <= SOON for delay in delays)
            middle = sorted(listed, key=lambda delay: LATER + 1 if delay is None else delay)[SERIES // 2]
            note = f"{len(delays) / SERIES:.0%} within {LATER}; half seen after {middle or f'over {LATER}'} runs"
            limit = 0.02 if size >= 0.1 and noise.correlation < 0.95 else None
            yield _share(f"{name}.missed_{size:.0%}_in_{SOON}", SERIES - soon, SERIES, limit, note)
    yield from _few_runs()
    for name, values, boots in other_years(np.random.default_rng(1), OTHER_YEARS):
        alarms = years_with_alarms(values, boots)
        yield _share(f"{name}.years_with_alarms", alarms, OTHER_YEARS, None, "an alarm of 5%")


Floats = NDArray[np.float64]


def sure_steps(values: Floats) -> list[list[Step]]:
    """The sure steps of series that are judged together, shape (runs, series)."""
    return _sure(ruled_steps([*values.T])[0])


def _each_alone(values: Floats) -> list[list[Step]]:
    """The sure steps of series that are judged one by one."""
    listed = [*values.T]
    pairs = zip(listed, located_steps(listed), strict=True)
    return _sure([steps for logs, located in pairs for steps in ruled_steps([logs], [located])[0]])


def _sure(listed: list[list[JudgedStep]]) -> list[list[Step]]:
    return [[judged.step for judged in steps if judged.unsure is None] for steps in listed]


def _few_runs() -> Iterator[Line]:
    """Folders of few runs with the scatter of a shared host: nothing changes, or a row does, or all do."""
    for name, noise in NOISES.items():
        random = np.random.default_rng(2)
        loud = replace(noise, independent=5 * noise.independent, wandering=5 * noise.wandering)
        counts = {"false": 0, "one": 0, "all": 0}
        for _ in range(FOLDERS):
            for kind, changed in (("false", 0), ("one", 1), ("all", ROWS)):
                values = loud.draw(random, RUNS, ROWS)
                values[RUNS // 2 :, :changed] += np.log(FACTOR)
                steps = sure_steps(values)
                counts[kind] += any(steps) if not changed else sum(map(bool, steps[:changed]))
        yield _share(f"{name}.folders_of_{RUNS}_runs", counts["false"], FOLDERS, 0.05, "with a sure step that is none")
        for kind, of in (("one", FOLDERS), ("all", FOLDERS * ROWS)):
            yield _share(f"{name}.found_{FACTOR}_in_{kind}", counts[kind], of, None, f"step of {FACTOR} in {kind}")


def other_years(random: np.random.Generator, years: int) -> Iterator[tuple[str, Floats, list[str | None]]]:
    """Years of a noise of 1%, shape (days, years), with what is no lasting slow-down, and the boot of each day."""
    days = YEAR + LEAST_VALUES
    unknown: list[str | None] = [None] * days
    for size in (0.1, 0.3):
        values = random.normal(0, 0.01, (days, years))
        for year in range(years):
            for begin in range(14, days - 53, 60):
                start = begin + random.integers(0, 50)
                values[start : start + 3, year] += size
        yield f"bursts_{size:.0%}", values, unknown
    for share in (0.05, 0.15):
        wild = random.random((days, years)) < share
        yield f"bad_days_{share:.0%}", random.normal(0, 0.01, (days, years)) + 0.2 * wild, unknown
    for length in (30, 7):
        boots = np.arange(days) // length
        levels = random.normal(0, 0.03, (boots[-1] + 1, years))
        yield f"boots_of_{length}_days", random.normal(0, 0.01, (days, years)) + levels[boots], [*map(str, boots)]


def years_with_alarms(values: Floats, boots: list[str | None]) -> int:
    """In how many years a sure step of 5% was shown."""
    alarms = 0
    for year, located in enumerate(located_steps([*values.T])):
        [steps], levels = ruled_steps([values[:, year]], [located])
        looks = (
            judged_steps(values[:now, year], boots[:now], [each for each in steps if each.step.seen <= now], levels)
            for now in range(LEAST_VALUES, len(values) + 1, LOOK)
        )
        alarms += any(
            step.unsure is None and np.expm1(step.step.size) >= MAX_REGRESSION for listed in looks for step in listed
        )
    return alarms


def _delay(steps: list[Step]) -> int | None:
    """After how many runs the true step was seen."""
    seen = [step.seen - STEP_AT for step in steps if step.size > 0 and step.seen > STEP_AT]
    return seen[0] if seen else None


def _share(name: str, count: int, of: int, most: float | None, note: str) -> Line:
    low, high = rate_interval(count, of)
    # A line misses where the whole interval lies above what is promised: what is left is chance.
    value = count / of if most is None else low
    return say(Line(f"simulated_history.{name}", value, low, high, most, "share", f"{count} of {of} {note}"))
