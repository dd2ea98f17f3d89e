"""Putting the answer together: from a profile, the machine's calibration and what is left of the machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clonometer.host.target.headroom import Headroom
from clonometer.host.target.reader import Reading
from clonometer.model.calibration import Calibration
from clonometer.model.features import Features
from clonometer.model.later import RewrittenShare, later_cost
from clonometer.model.predictor import predict, shares
from clonometer.model.store import age_days, is_old
from clonometer.model.stretch import StretchAt
from clonometer.model.types import UNSCALED, CostRange, ForkCost, Prediction, Scale, Scales
from clonometer.prediction.answer import Basis, ForkSpans, MappingPart, Predicted, Waits
from clonometer.prediction.copying import WriteRate, judge_copying, rewritten_share
from clonometer.prediction.profile import Profile
from clonometer.prediction.refusals import judge_headroom
from clonometer.prediction.spans import PredictedTime
from clonometer.prediction.what_ifs import what_ifs

_MOST_PARTS = 50
#: Moments of a shared machine differ by a factor of up to 1.7: nine in ten are taken to lie within 1.5.
_UNSCANNED = Scales.alike(Scale(1.0, 0.25))


@dataclass(frozen=True)
class Machine:
    """The calibration of the machine, or the rough one, and the scales of the moment.

    ``scales`` are by the reference scan; None where that was not made: then every interval is wider. ``stretches`` say
    how busy the CPUs are (`clonometer.model.stretch`); None where that was not measured.
    """

    calibration: Calibration
    is_rough: bool
    scales: Scales | None = None
    stretches: Sequence[StretchAt] | None = None

    @property
    def scales_now(self) -> Scales:
        """The scales to predict with."""
        if self.scales is not None:
            return self.scales
        return UNSCALED if self.is_rough else _UNSCANNED

    @property
    def name(self) -> str:
        """Where the times come from, as `Basis` names it."""
        if self.is_rough:
            return "rough"
        return "quick calibration" if self.calibration.quick else "calibration"

    def predict(self, features: Features) -> Prediction:
        """Predict at the moment's scales."""
        return predict(features, self.calibration, scales=self.scales_now)


@dataclass(frozen=True)
class Question:
    """What is asked beside the cost of a fork."""

    rate: WriteRate | None = None
    child_lives_s: float = 10.0
    forks_every_s: float | None = None


def judge(
    profile: Profile,
    machine: Machine,
    question: Question,
    *,
    reading: Reading | None = None,
    headroom: Headroom | None = None,
) -> Predicted:
    """Answer for a profile; a saved one has no reading of a live process, and no headroom."""
    now = machine.predict(profile.features)
    # What the process may have at least and at most.
    ends = [machine.predict(each) for each in (profile.least, profile.most) if each is not None]
    share = rewritten_share(profile.features, question.rate, question.forks_every_s)
    cow = judge_copying(profile.features, now.cow, question.rate, question.child_lives_s)
    return Predicted(
        pid=None if reading is None else reading.status.pid,
        process=profile.process,
        rss_bytes=profile.rss_bytes,
        fork=_fork(now, ends, share),
        waits=_waits(now, ends, profile.features.threads, machine.stretches),
        rewritten=share,
        exit_ns=PredictedTime.of(now.exit, [each.exit for each in ends]),
        exec_ns=PredictedTime.of(now.exec, [each.exec for each in ends]),
        posix_spawn_ns=None if now.posix_spawn is None else PredictedTime.of(now.posix_spawn),
        vfork_ns=None if now.vfork is None else PredictedTime.of(now.vfork),
        page_tables_bytes=now.page_tables_bytes,
        cow=cow,
        would_fail=None
        if headroom is None
        else judge_headroom(profile, headroom, now.page_tables_bytes, cow.copied_at_worst_bytes),
        contributors=_parts(profile, machine, now),
        terms=now.contributors,
        what_ifs=what_ifs(profile, machine.predict, is_measured=not machine.is_rough),
        features=profile.features,
        basis=Basis(
            how=profile.how,
            why=profile.why,
            lock=None if reading is None else reading.lock,
            model=machine.name,
            age_days=None if machine.is_rough else age_days(machine.calibration),
            scales=machine.scales_now,
            is_scaled=machine.scales is not None,
            beyond=[] if machine.is_rough else list(now.beyond),
            stretches=machine.stretches,
            wrote_to_it=question.rate is not None and question.rate.source != "given",
            notes=[*_machine_notes(machine), *_notes(profile, reading)],
        ),
    )


def _fork(now: Prediction, ends: Sequence[Prediction], share: RewrittenShare) -> ForkSpans:
    def span(cost: Callable[[ForkCost], CostRange]) -> PredictedTime:
        return PredictedTime.of(cost(now.fork), [cost(each.fork) for each in ends])

    return ForkSpans(
        first_ns=span(lambda fork: fork.first),
        later_ns=span(lambda fork: later_cost(fork.first, fork.unwritten, share)),
        unwritten_ns=span(lambda fork: fork.unwritten),
        first_hot_ns=span(lambda fork: fork.first_hot),
        later_hot_ns=span(lambda fork: later_cost(fork.first_hot, fork.unwritten_hot, share)),
        unwritten_hot_ns=span(lambda fork: fork.unwritten_hot),
    )


def _waits(now: Prediction, ends: Sequence[Prediction], threads: int, stretches: Sequence[StretchAt] | None) -> Waits:
    def span(cost: Callable[[Prediction], CostRange]) -> PredictedTime:
        return PredictedTime.of(cost(now), [cost(each) for each in ends])

    if threads <= 1:
        sentence = "Single-threaded: it is blocked for the whole fork() call."
    else:
        others = "the other thread" if threads == 2 else f"any of the other {threads - 1:,} threads"
        sentence = (
            f"The thread that forks is blocked for the whole fork() call. So is {others} that maps memory or touches a "
            "new page."
        )
    call = span(lambda each: each.fork.first)
    return Waits(
        call_ns=call.stretched(stretches),
        call_cpu_ns=call,
        until_exit_ns=span(lambda each: each.fork.first.plus(each.exit)).stretched(stretches),
        until_exec_ns=span(lambda each: each.fork.first.plus(each.exec)).stretched(stretches),
        threads=threads,
        sentence=sentence,
    )


def _parts(profile: Profile, machine: Machine, now: Prediction) -> list[MappingPart]:
    features = [group.features for group in profile.groups]
    divided = shares(features, profile.features, machine.calibration, scale=machine.scales_now.cold)
    whole = now.fork.first.median_ns
    parts = [
        MappingPart(
            group.label,
            group.kind,
            group.areas,
            group.size_bytes,
            group.rss_bytes,
            first_ns,
            unwritten_ns,
            first_ns / whole if whole else 0.0,
        )
        for group, (first_ns, unwritten_ns) in zip(profile.groups, divided, strict=True)
    ]
    return sorted(parts, key=lambda part: -part.first_ns)[:_MOST_PARTS]


def _machine_notes(machine: Machine) -> Sequence[str]:
    if machine.is_rough or not is_old(machine.calibration):
        return []
    return ["The calibration is old: 'clonometer calibrate' measures this machine as it is now."]


def _notes(profile: Profile, reading: Reading | None) -> Sequence[str]:
    notes = []
    if profile.how == "pagemap":
        notes.append("Read this way, areas that children do not inherit (MADV_DONTFORK) look like any others.")
    if profile.features.hugetlb_pages and not profile.features.anon_pages:
        notes.append("Nearly all of its memory is in hugetlbfs pages, which need few page tables.")
    if profile.features.anon_pages and not profile.features.placed_pages:
        notes.append(
            "Whether its pages are contiguous in memory is not known (that needs CAP_SYS_ADMIN), so intervals are "
            "wider."
        )
    if reading is None:
        return notes
    status = reading.status
    if status.state == "T":
        notes.append("It is stopped, and cannot fork until it is continued.")
    if status.tracer_pid:
        notes.append(f"Process {status.tracer_pid} traces it: each fork then takes longer than predicted.")
    if status.inner_pids:
        notes.append(f"It is process {status.inner_pids[-1]} in its PID namespace, whose limits of tasks may be lower.")
    if reading.areas and max(area.end for area in reading.areas if area.is_of_user) <= 1 << 32:
        notes.append("It is a 32-bit program, but with 64-bit page tables, so its forks cost the same.")
    if reading.open_files is None:
        notes.append("Its open files cannot be counted.")
    return notes
