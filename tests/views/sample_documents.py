"""A record and a document of each answer, and one in which everything is said by strangers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import chdir
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from tests.advice.synthetic import sample_advice
from tests.dataset.made import make_run, write_fleet
from tests.fakes.census_lines import ended, forked, taken
from tests.fakes.fork_machine import fork_machine
from tests.fakes.memory_run import write_run
from tests.launch_paths.samples import checked_book
from tests.model.synthetic import calibration
from tests.results.ab.test_commands import compared as compared_commands
from tests.results.ab.test_commands import starter
from tests.results.ab.test_judgement import judged, scattered
from tests.results.start_methods.samples import start_methods
from tests.tracing.test_census import COSTS
from tests.tracing.test_launches import some_tasks
from tests.tracing.test_work import with_ablation
from tests.views.sample_answers import (
    layouts,
    missed,
    noise,
    of_layouts,
    peers_answer,
    peers_few,
    peers_rows,
    workers_of,
    workers_of_many,
)
from tests.views.sample_results import sample_results, with_switches
from tests.views.sample_tails import with_tails
from tests.views.test_check import checked
from tests.views.test_comparison import compared
from tests.views.test_creation_tree import census_of
from tests.views.test_creation_tree import lived as task_lived
from tests.views.test_explain import counted as explained_with_counters
from tests.views.test_explain import versus

from clonometer.dataset.history import find_history
from clonometer.dataset.history_types import History
from clonometer.dataset.load import load
from clonometer.dataset.show import show_fleet
from clonometer.dataset.types import FleetShown
from clonometer.families import known_delays
from clonometer.launch_paths.drivers import FAILED, MISSING, READY, LanguageDriver, LanguageDrivers
from clonometer.launch_paths.reading import load_book
from clonometer.model.features import Features
from clonometer.model.types import UNSCALED, CostRange
from clonometer.model.validated import ValidatedFork, Validation
from clonometer.model.validation import summarize_validation
from clonometer.prediction.answer import Predicted
from clonometer.prediction.fork_page import make_fork_page
from clonometer.prediction.judge import Machine, Question, judge
from clonometer.prediction.profile import Profile
from clonometer.records import to_json
from clonometer.results.audit.types import AuditItem, CpuidCost, DriverState, MachineAudit, UnavailableWorkload
from clonometer.results.capacity import Capacity, ServerCapacity, judge_step
from clonometer.results.latency_limit import LatencyLimit
from clonometer.results.noise.types import Layouts
from clonometer.results.self_test_types import MoveCheck, SelfTest, WallCheck
from clonometer.results.types import CellOutcome, Finding, NextCommand, Results
from clonometer.results.workers.types import WorkersOfRun
from clonometer.runner.peers import PROGRAMS
from clonometer.tracing.census.savings import savings
from clonometer.tracing.census.tally import Census
from clonometer.tracing.census.to_json import census_to_json
from clonometer.tracing.launch_limits import LaunchLimits, judge_launches
from clonometer.views.document import (
    BulletList,
    Commands,
    CommentedTables,
    Document,
    DocumentBlock,
    FactGroup,
    FactTables,
    Fold,
    Heading,
    JudgedStatement,
    Link,
    NamedText,
    NamedTexts,
    Note,
    Paragraph,
    Statement,
    Statements,
    Subheading,
    TableBlock,
)
from clonometer.views.documents.ab import ab_document
from clonometer.views.documents.ab_commands import commands_document
from clonometer.views.documents.advise import advice_document
from clonometer.views.documents.budget import budget_document
from clonometer.views.documents.calibration import calibration_document
from clonometer.views.documents.capacity import capacity_document
from clonometer.views.documents.census import census_document
from clonometer.views.documents.check import check_document
from clonometer.views.documents.comparison import comparison_document
from clonometer.views.documents.doctor import doctor_document
from clonometer.views.documents.explain import explain_document
from clonometer.views.documents.fleet import fleet_document
from clonometer.views.documents.fork_page import fork_page_document
from clonometer.views.documents.history import history_document
from clonometer.views.documents.languages import languages_document
from clonometer.views.documents.noise import noise_document
from clonometer.views.documents.paths import checked_document, paths_document, whole_document
from clonometer.views.documents.peers import peers_document
from clonometer.views.documents.predict import JsonObject, predicted_document, ranking_document
from clonometer.views.documents.run import run_document
from clonometer.views.documents.self_test import self_test_document
from clonometer.views.documents.start_method import start_method_document
from clonometer.views.documents.validation import validation_document
from clonometer.views.documents.work import work_document
from clonometer.views.documents.workers import workers_document
from clonometer.views.table import Column, Table

#: What would run as a script, be a link or an image, or end a table's cell, if it were not escaped; and what no file
#: of text can hold.
STRANGE = "<script>alert(1)</script> [x](javascript:alert) `a` | <img src=x onerror=alert(1)> \x1b[31m \udcff & **b**"


def strange() -> Document:
    table = Table([Column("", [STRANGE], least=12), Column("<b>head</b>", [STRANGE])], STRANGE, STRANGE)
    named = NamedText(STRANGE, STRANGE, STRANGE, STRANGE, further=[STRANGE], link=Link(STRANGE, STRANGE))
    entries = NamedTexts([named], 20)
    blocks: list[DocumentBlock] = [
        Paragraph(STRANGE, "bad"),
        BulletList([STRANGE]),
        Note(STRANGE),
        Commands([STRANGE]),
        TableBlock(table),
    ]
    statement = Statement(STRANGE, [STRANGE], STRANGE, [STRANGE], Link(STRANGE, STRANGE))
    blocks += [
        Subheading(STRANGE, STRANGE),
        Statements([statement], is_warning=True),
        FactTables([FactGroup(title, [(STRANGE, STRANGE, STRANGE)]) for title in ("", STRANGE)]),
    ]
    blocks.append(JudgedStatement(STRANGE, STRANGE, STRANGE, "bad", *[STRANGE] * 5, [STRANGE]))
    commented = CommentedTables([table], [[[STRANGE]]], [STRANGE])
    return Document(
        STRANGE, STRANGE, f"lead: {STRANGE}", [[Heading(STRANGE), *blocks], [entries, commented, Fold(STRANGE, blocks)]]
    )


def judged_process() -> Predicted:
    """What a fork would cost a process whose name is HTML."""
    whole = Features(anon_areas=1, anon_pages=100_000, anon_tables=200, threads=9)
    profile = Profile("<b>it</b>", "smaps", None, 400 << 20, whole, None, None, 1, 1, [])
    made = replace(calibration(), made_at=0, quick=True)
    return judge(profile, Machine(made, is_rough=True, scales=UNSCALED), Question())


def predicted() -> JsonObject:
    """What ``predict --json`` prints of it."""
    document = to_json(judged_process())
    part = {"rss_bytes": 1 << 20, "areas": 3, "first_ns": 1e5, "unwritten_ns": 1e4, "share": 0.2}
    labels = ("[heap]", "/usr/lib/libwith_a_long_name.so.6", "<i>mapping</i>")
    return {**document, "contributors": [{**part, "label": label} for label in labels]}


def ranked() -> JsonObject:
    seen = [{**predicted(), "process": f"process {number}", "pid": number} for number in range(1, 6)]
    return {"seen": 120, "unread": 3, "model": "rough", "processes": seen}


def audited() -> MachineAudit:
    value, effect = "the value that was read, in a few words", "it moves times by up to 12% from one run to the next"
    items = [
        AuditItem("cpu.thing", title, value, judged, effect, command, known=known)
        for title, judged, known, command in (
            ("Frequency governor", "warn", True, "sudo cpupower frequency-set --governor performance"),
            ("Hypervisor", "note", True, None),
            ("Swap", "fine", True, None),
            ("Stolen time", "fine", False, None),
        )
    ]
    return MachineAudit(
        host="AMD EPYC 9R14, Linux 6.12",
        items=items,
        noise=None,
        noise_reason="too short",
        cpuid=CpuidCost(),
        clock={"clock": "TSC", "clock_hz": 2.5e9, "cost_ns": 12.5, "reason": None},
        drivers=[DriverState("probe-x", "static", None), DriverState("cxx", None, "x")],
        lacks=[UnavailableWorkload("bpf", "CAP_BPF is missing")],
    )


def self_tested() -> SelfTest:
    delay = next(iter(known_delays()))
    move = MoveCheck("launch.fork", "pinned", delay, 20_000, "reaped", 18_000.0, 22_000.0, 20_100.0, True)
    unseen = replace(move, moved_ns=None, passed=None, reason="launches scatter by more than the delay")
    walls = (WallCheck("launch.fork", "pinned", 30, 0.0012, True),)
    return SelfTest(False, 3, (move, unseen), walls, ())


def counted() -> Census:
    return taken(*[forked(creator_program=f"/bin/<b>{n}</b>") for n in range(1, 20)] * 6, ended())


def of_census(census: Census) -> Document:
    return census_document(census, "make", savings(census, COSTS), ["redis (1 GiB): fork() would block."], wide=True)


def _census_as_json(census: Census) -> JsonObject:
    return census_to_json(census, ("make",), None, savings(census, COSTS))


def over_time() -> Census:
    """Tasks of strange names, a tree of some levels, folded ones."""
    tasks = [
        task_lived(10, 1, 0, 60, program="/bin/sh"),
        task_lived(11, 10, 1, None, creator_program=f"/bin/{STRANGE}", execs=0, cost_ns=10**7),
    ]
    tasks += [task_lived(12 + n, 11, 2 + n / 10, program="/bin/cc1plus-of-a-very-long-name-indeed") for n in range(30)]
    tasks += [task_lived(60 + n, 10, 10 + n / 10, program="/bin/true", cost_ns=10) for n in range(300)]
    return census_of(*tasks)


def validated() -> Validation:
    forks = [
        ValidatedFork(state, CostRange(80, 100, 120), (100.0, 125.0), 125.0, "pages") for state in ("first", "later")
    ]
    return summarize_validation(forks)


def lived() -> History:
    """A history with a step, of runs of two weeks."""
    random = np.random.default_rng(1)
    with TemporaryDirectory() as name, chdir(name):
        for day in range(14):
            factor = float(np.exp(0.005 * random.normal())) * (1.2 if day >= 9 else 1.0)
            write_run(Path("runs", f"{day}.parquet"), make_run(day=day, seed=day, factor=factor))
        return find_history(load(Path("runs")))


def many() -> FleetShown:
    """A fleet with an odd host."""
    with TemporaryDirectory() as name, chdir(name):
        fleet = load(write_fleet(Path("runs"), hosts=8, runs=2, odd=2.0))
        return show_fleet(fleet, "class", with_hosts=True)


def languages() -> LanguageDrivers:
    """A language that is ready, one whose toolchain failed, and one that is not here."""
    message = "main.go:1:2: error: expected 'package'\nexit status 1"
    return LanguageDrivers(
        (
            LanguageDriver("python", "CPython", READY, "3.11.7", "/usr/bin/python3"),
            LanguageDriver("go", "Go", FAILED, "1.19", "/usr/bin/go", message),
            LanguageDriver(
                "java", "OpenJDK", MISSING, reason="OpenJDK is not here: Debian's default-jdk-headless has it"
            ),
        )
    )


def searched() -> Capacity:
    """A server between two rates, one that keeps the limit at no rate, and one that cannot be measured."""
    limit = LatencyLimit("p99", 5e6)
    steps = [judge_step(limit, rate, [1e5] * 95 + [late] * 5, 0, 480.0) for rate, late in ((500, 1e6), (550, 9e6))]
    broken = judge_step(limit, 8, [], 8, None)
    return Capacity(
        limit,
        [
            ServerCapacity("serve.fork", ("parent_bytes=256MiB",), steps),
            ServerCapacity("serve.inline", (), (broken,)),
            ServerCapacity("serve.event", ("transport=tcp",), (), "TCP on loopback does not work here"),
        ],
    )


def measured() -> Results:
    """The report of a run that says something in every part of it, with explanations."""
    results = sample_results()
    finding = Finding("doubt", "the machine was busy", {"cells": []})
    command = NextCommand(("explain", "launch.fork"), "Shows where the time goes")
    first = replace(
        results.first,
        answer=(Finding("answer", "A thread launches fastest here.", {"cells": []}),),
        reasons=results.findings[:2],
        advice=results.findings[2:3],
        doubts=(finding,),
        next=command,
    )
    return replace(
        with_tails(with_switches(results)),
        first=first,
        status="partial",
        status_reason="the budget was used up",
        cell_outcomes=[CellOutcome("launch.clone", "failed", "exit status 127")],
    )


@dataclass(frozen=True)
class Sample:
    """An answer: its record, which ``--json`` prints, and the document that shows it."""

    make: Callable[[], Any]
    show: Callable[..., Document]
    to_json: Callable[[Any], Mapping[str, Any] | None] = lambda record: None if record is None else _as_printed(record)

    @cached_property
    def record(self) -> Any:
        return self.make()

    @cached_property
    def document(self) -> Document:
        """The whole of it."""
        return self.show(self.record, wide=True) if self.has_more else self.show(self.record)

    @cached_property
    def short(self) -> Document:
        """What the terminal shows without ``--wide``."""
        return self.show(self.record) if self.has_more else self.document

    @property
    def has_more(self) -> bool:
        """Whether ``--wide`` adds something."""
        return "wide" in signature(self.show).parameters

    @property
    def json(self) -> Mapping[str, Any] | None:
        return self.to_json(self.record)


def _as_printed(record: Any) -> Mapping[str, Any]:
    return record if isinstance(record, Mapping) else to_json(record)


_EXPLANATIONS = cache(lambda: [explained_with_counters(), versus(), with_ablation()])
#: Of each command, and of each form that its answer has.
SAMPLES: dict[str, Sample] = {
    "strange": Sample(lambda: None, lambda _: strange()),
    "run": Sample(measured, lambda results: run_document(results, _EXPLANATIONS())),
    "noise": Sample(noise, noise_document),
    "noise_layouts": Sample(
        lambda: of_layouts(layouts((0.65, 0.31, 0.82), (0.1, 0.0, 0.41), (None, None, None))), noise_document
    ),
    "noise_unknown": Sample(lambda: of_layouts(Layouts("the kernel refuses", None), in_a_row=None), noise_document),
    "noise_without_draws": Sample(lambda: of_layouts(layouts((0.1, 0.0, 0.41), draws=False)), noise_document),
    "page": Sample(lambda: to_json(make_fork_page(fork_machine(), load_book())), fork_page_document),
    "predict": Sample(predicted, predicted_document),
    "ranking": Sample(ranked, ranking_document),
    "doctor": Sample(audited, lambda audit: doctor_document(audit, to_json(judged_process()))),
    "self_test": Sample(self_tested, self_test_document),
    "census": Sample(counted, of_census, _census_as_json),
    "census_over_time": Sample(over_time, lambda census: census_document(census, "make", wide=True), _census_as_json),
    "budget": Sample(
        lambda: judge_launches(some_tasks(), ("make",), LaunchLimits({"max": 9, "fork": 1})), budget_document
    ),
    "validation": Sample(validated, validation_document),
    "calibration": Sample(missed, calibration_document),
    "paths": Sample(lambda: load_book().only(["php"]), paths_document),
    "drivers": Sample(languages, languages_document),
    "paths_of_all": Sample(lambda: load_book().only(["php", "qt6"]), whole_document),
    "paths_checked": Sample(checked_book, checked_document),
    "start_method": Sample(start_methods, start_method_document),
    "capacity": Sample(searched, capacity_document),
    "peers": Sample(lambda: peers_answer(peers_rows(), PROGRAMS), peers_document),
    "peers_few": Sample(peers_few, peers_document),
    "workers_of_many_cells": Sample(workers_of_many, workers_document),
    "workers": Sample(
        lambda: WorkersOfRun("run.parquet", (workers_of("work.factor[workers=8]", 8),)), workers_document
    ),
    "explain": Sample(explained_with_counters, explain_document),
    "explain_versus": Sample(versus, explain_document),
    "explain_work": Sample(with_ablation, work_document),
    "compare": Sample(compared, comparison_document),
    "check": Sample(lambda: checked(again=True), check_document),
    "ab": Sample(lambda: judged(scattered(0.3)), ab_document),
    "ab_commands": Sample(lambda: compared_commands(starter(1.4)), commands_document),
    "history": Sample(lived, history_document),
    "fleet": Sample(many, fleet_document),
    "advise": Sample(sample_advice, advice_document),
}
#: Makes the document of each answer: once, whoever asks.
DOCUMENTS: dict[str, Callable[[], Document]] = {
    name: partial(getattr, sample, "document") for name, sample in SAMPLES.items()
}
