"""``clonometer run``: measure, keep, answer."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.answers import print_answer, read_results
from clonometer.cli.examples import examples
from clonometer.cli.outputs import keep_previous, write_text
from clonometer.cli.shares import SHARE
from clonometer.errors import UsageError

if TYPE_CHECKING:
    from clonometer.plan.types import Catalogue, Plan
    from clonometer.runner.run import RunOutcome

DEFAULT_PLAN = "default"
# A budget that the user named is kept; a plan's own one may be exceeded so far for enough processes.
PLAN_STRETCH = 1.5
DEFAULT_OUT = "clonometer-run.parquet"

_EXAMPLES = examples(
    "clonometer run",
    "clonometer run launch.fork --set parent_bytes=0,1GiB",
    "clonometer run 'launch.*' --set placement=pinned,free --budget 30",
    "clonometer run --plan my-plan.toml --only 'launch.fork*' --out mine.parquet",
    "clonometer run --json --force | jq '.findings[].sentence'",
)


@dataclass(frozen=True)
class _Wish:
    """What the command line asked for."""

    workloads: tuple[str, ...]
    settings: tuple[str, ...]
    plan: str | None
    globs: tuple[str, ...]
    budget_s: float | None
    target_width: float | None
    seed: int

    def command(self) -> list[str]:
        """The command line that repeats the run: the same cells in the same order."""
        words = ["clonometer", "run", *self.workloads]
        for option, values in (("--set", self.settings), ("--only", self.globs)):
            words += [word for value in values for word in (option, value)]
        if self.plan is not None:
            words += ["--plan", self.plan]
        if self.budget_s is not None:
            words += ["--budget", f"{self.budget_s:g}"]
        if self.target_width is not None:
            words += ["--target-width", f"{self.target_width:g}"]
        return [*words, "--seed", str(self.seed)]


@click.command(name="run", epilog=_EXAMPLES)
@click.argument("workloads", metavar="[WORKLOAD]...", nargs=-1)
@click.option(
    "--set",
    "settings",
    metavar="AXIS=V1,V2",
    multiple=True,
    help="Measure under these values of an axis; repeatable.",
)
@click.option("--plan", metavar="NAME|FILE", help="A plan by name, or a TOML file; without workloads 'default'.")
@click.option("--only", "globs", metavar="GLOB", multiple=True, help="Only cells that match; repeatable.")
@click.option(
    "--budget",
    "budget_s",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="How long to measure, at most.",
)
@click.option(
    "--target-width",
    metavar="SHARE",
    type=SHARE,
    help="Stop where every interval is as narrow: half its width; by default 2% of the median.",
)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default=Path(DEFAULT_OUT),
    show_default=True,
    help="The run file.",
)
@click.option("--report", metavar="FILE", type=click.Path(path_type=Path), help="Also write the HTML report.")
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0),
    help="Fixes the order of measuring; by default drawn and kept in the file.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as one JSON object.")
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option(
    "--keep-previous",
    is_flag=True,
    help="Rename an existing run file to NAME.previous.parquet first, and replace the report.",
)
@click.option("--wide", is_flag=True, help="Show every row and column, however wide.")
@click.option(
    "--driver-timeout",
    "timeout_s",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="Give up a driver after this long; by default many times what its cell should take.",
)
@click.pass_context
def command(
    ctx: click.Context,
    *,
    workloads: tuple[str, ...],
    settings: tuple[str, ...],
    plan: str | None,
    globs: tuple[str, ...],
    budget_s: float | None,
    target_width: float | None,
    out: Path,
    report: Path | None,
    seed: int | None,
    as_json: bool,
    force: bool,
    keep_previous: bool,
    wide: bool,
    timeout_s: float | None,
) -> None:
    """Measure workloads, or a plan, and print the answer.

    Every cell is measured by fresh processes in random order. Results go to one Parquet file, readable as it
    is.
    """
    wish = _Wish(workloads, settings, plan, globs, budget_s, target_width, _draw_seed() if seed is None else seed)
    if workloads and plan is not None:
        raise UsageError("workloads and --plan cannot be combined", "--only picks cells of a plan")
    outputs = _Outputs(out, report, force=force, keep=keep_previous)
    outputs.check()
    outcome = _measure(wish, outputs, timeout_s)
    if outcome.path is None:
        click.echo("clonometer: interrupted before anything was measured; no file was written", err=True)
        ctx.exit(outcome.exit_status)
    results = read_results(outcome.path)
    print_answer(results, as_json=as_json, wide=wide)
    if report is not None:
        from clonometer.views.html import render_report

        write_text(report, render_report(results))
    # With --json standard output holds one JSON object and nothing else.
    for line in _closing_lines(outcome, outputs, wish):
        click.echo(line, err=as_json)
    ctx.exit(outcome.exit_status)


class _Outputs:
    """The files of a run, and what becomes of those of the run before."""

    def __init__(self, out: Path, report: Path | None, *, force: bool, keep: bool) -> None:
        self.out = out
        self.report = report
        self.force = force
        self.previous: Path | None = None
        self.previous_raw: Path | None = None
        self._keep = keep

    def check(self) -> None:
        """Refuse now what could not be written later."""
        from clonometer.runfile import check_output, raw_path

        replace = self.force or self._keep
        check_output(self.out, replace)
        check_output(raw_path(self.out), True)
        if self.report is not None:
            check_output(self.report, replace)
            if self.report.absolute() == self.out.absolute():
                raise UsageError("--out and --report name the same file")

    def make_way(self) -> None:
        """Rename what the run before left."""
        from clonometer.runfile import raw_path

        if self._keep:
            self.previous = keep_previous(self.out)
            self.previous_raw = keep_previous(raw_path(self.out))

    def put_back(self) -> None:
        """Give the former run its name again: nothing has taken its place."""
        if self.previous is not None and not self.out.exists():
            self.previous.replace(self.out)
            self.previous = None


def _draw_seed() -> int:
    import secrets

    return secrets.randbelow(2**31)


def _measure(wish: _Wish, outputs: _Outputs, timeout_s: float | None) -> RunOutcome:
    from clonometer.cli.progress import make_progress
    from clonometer.plan.catalogue import read_catalogue
    from clonometer.results.stopping import TargetScheduler, timed_quantities
    from clonometer.runner.drivers import find_drivers
    from clonometer.runner.run import run

    drivers = find_drivers()
    for name, reason in drivers.broken.items():
        click.echo(f"clonometer: driver {name} is left out: {reason}", err=True)
    catalogue = read_catalogue(drivers.descriptions)
    plan = _make_plan(wish, catalogue)
    outputs.make_way()
    try:
        outcome = run(
            plan,
            catalogue,
            drivers,
            out=outputs.out,
            seed=wish.seed,
            scheduler=TargetScheduler(
                wish.seed,
                plan.budget_seconds,
                timed_quantities(catalogue),
                target_width=plan.target_width,
                stretch=PLAN_STRETCH if wish.budget_s is None else 1.0,
            ),
            progress=make_progress(),
            command=wish.command(),
            force=outputs.force,
            driver_timeout_s=timeout_s,
        )
    except BaseException:
        outputs.put_back()
        raise
    if outcome.path is None:
        outputs.put_back()
    return outcome


def _make_plan(wish: _Wish, catalogue: Catalogue) -> Plan:
    from dataclasses import replace

    from clonometer.plan.adhoc import apply_only, apply_settings, plan_from_arguments
    from clonometer.plan.planfile import load_plan

    if wish.workloads:
        plan = plan_from_arguments(wish.workloads, wish.settings, catalogue, budget_seconds=wish.budget_s)
    else:
        plan = apply_settings(load_plan(wish.plan or DEFAULT_PLAN, catalogue), wish.settings, catalogue)
    if wish.budget_s is not None:
        plan = replace(plan, budget_seconds=wish.budget_s)
    if wish.target_width is not None:
        plan = replace(plan, target_width=wish.target_width)
    return apply_only(plan, wish.globs)


def _closing_lines(outcome: RunOutcome, outputs: _Outputs, wish: _Wish) -> list[str]:
    lines = [""]
    if outcome.status != "complete":
        lines.append(f"This run is {outcome.status}: {outcome.reason}.")
    troubled = [end for end in outcome.cells if end.status == "failed"]
    lines += [f"  failed: {end.cell}: {end.reason}" for end in troubled[:5]]
    if len(troubled) > 5:
        lines.append(f"  and {len(troubled) - 5} more: clonometer show {shlex.quote(str(outcome.path))} --json")
    files = [str(outcome.path), *([str(outputs.report)] if outputs.report is not None else [])]
    lines.append(f"Wrote {' and '.join(files)}.")
    if outcome.status == "partial":
        again = f"{shlex.join(wish.command())} --out {shlex.quote(_other_name(outputs.out))}"
        lines.append(f"To measure all of it: {again}")
    if outputs.previous is not None:
        lines += [
            f"The run before is kept as {outputs.previous}. To compare the two:",
            f"  clonometer compare {shlex.quote(str(outputs.previous))} {shlex.quote(str(outputs.out))}",
        ]
    if outputs.previous_raw is not None:
        lines.append(f"An unfinished run is kept: clonometer recover {shlex.quote(str(outputs.previous_raw))}")
    return lines


def _other_name(out: Path) -> str:
    return str(out.with_name(f"{out.stem}-2{out.suffix}"))
