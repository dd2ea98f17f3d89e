"""``clonometer explain``: where every microsecond of a launch went."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from clonometer.cli.console import can_write, plain_width, wants_colour
from clonometer.cli.examples import examples
from clonometer.errors import UsageError, unknown

if TYPE_CHECKING:
    from clonometer.explain.types import Explanation, Versus
    from clonometer.plan.types import Catalogue, Target

_TIERS = ("tracepoints", "own", "stamps")
_COUNTERS = ("hardware", "software", "none")
_WORK = "work.factor"
_PROCESSES = 6
_PICTURES = (".png", ".svg")
_SAMPLES = {"samples": 100, "blocks": 2, "warmup": 20}
_COLD_PROCESSES = 30

_EXAMPLES = examples(
    "clonometer explain launch.fork",
    "clonometer explain launch.fork --vs launch.pthread    what makes the ratio",
    "clonometer explain launch.fork --set parent_bytes=1GiB --timeline",
    "clonometer explain launch.posix_spawn --html why.html --trace why.json",
    "clonometer explain work.factor --set output=shared_stream",
)


@dataclass(frozen=True)
class Files:
    """Where the answer goes beside standard output."""

    out: Path | None
    html: Path | None
    trace: Path | None
    picture: Path | None
    folded: Path | None

    def check(self, force: bool) -> None:
        """Refuse now what could not be written later."""
        from clonometer.runfile import check_output

        named = [path for path in (self.out, self.html, self.trace, self.picture, self.folded) if path is not None]
        for path in named:
            check_output(path, force)
        if len({path.absolute() for path in named}) != len(named):
            raise UsageError("two outputs name the same file")
        if self.picture is not None and self.picture.suffix.lower() not in _PICTURES:
            raise UsageError(
                f"--picture {self.picture} is no picture's name", f"a picture ends in {' or '.join(_PICTURES)}"
            )


@click.command(name="explain", epilog=_EXAMPLES)
@click.argument("mechanism", metavar="MECHANISM")
@click.option("--set", "settings", metavar="AXIS=VALUE", multiple=True, help="Under this condition; repeatable.")
@click.option("--vs", "other", metavar="OTHER", help="Set another mechanism beside it, under the same condition.")
@click.option(
    "--processes",
    metavar="N",
    type=click.IntRange(1, 1000),
    help="How many processes launch, traced and untraced in turn; by default 6, of work.factor 12 of each kind.",
)
@click.option(
    "--tier",
    metavar="NAME",
    help="Look no closer than this: tracepoints, own or stamps (of work.factor: tracepoints or proc); by default the "
    "best that this machine allows.",
)
@click.option("--ablation", is_flag=True, help="With work.factor: also take shared things away, one after the other.")
@click.option("--timeline", is_flag=True, help="Also print single launches, event by event.")
@click.option("--calls", is_flag=True, help="Also print each system call.")
@click.option("--arguments", is_flag=True, help="Also print the calls of a launch with their arguments, by ptrace.")
@click.option(
    "--counters",
    metavar="SET",
    default="hardware",
    show_default=True,
    help="Count this in each part of a launch: hardware (cycles, misses), software (faults, switches), none.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path), help="Also write that JSON object to a file.")
@click.option("--html", metavar="FILE", type=click.Path(path_type=Path), help="Write a page: hover an event.")
@click.option(
    "--trace", metavar="FILE", type=click.Path(path_type=Path), help="Write trace events, which Perfetto opens."
)
@click.option(
    "--picture", metavar="FILE", type=click.Path(path_type=Path), help="Draw timeline and budget: .svg or .png."
)
@click.option(
    "--folded", metavar="FILE", type=click.Path(path_type=Path), help="Sample kernel stacks; write them folded."
)
@click.option("--force", is_flag=True, help="Replace existing files.")
def command(
    *,
    mechanism: str,
    settings: tuple[str, ...],
    other: str | None,
    processes: int | None,
    tier: str | None,
    ablation: bool,
    timeline: bool,
    calls: bool,
    arguments: bool,
    counters: str,
    as_json: bool,
    out: Path | None,
    html: Path | None,
    trace: Path | None,
    picture: Path | None,
    folded: Path | None,
    force: bool,
) -> None:
    """Say where every microsecond of a launch went, or why threads and processes at work differ.

    The kernel's own events (system calls, switches, wake-ups, page faults, exec, exit) are noted while the mechanism
    launches, and each launch is cut into parts that sum exactly to its duration. Launches that nobody listens to run
    beside them: what tracing itself costs is shown, and so is the time that no part explains.

    MECHANISM work.factor runs workers as threads and as processes in turn, and takes the gap between them apart.
    """
    files = Files(out, html, trace, picture, folded)
    if mechanism == _WORK:
        from clonometer.cli.explain_work import explain_work_factor

        asked = {"--vs": other, "--timeline": timeline, "--calls": calls, "--folded": folded, "--arguments": arguments}
        files.check(force)
        explain_work_factor(
            settings,
            pairs=processes,
            tier=tier,
            ablation=ablation,
            as_json=as_json,
            refused=[name for name, value in asked.items() if value],
            files=files,
        )
        return
    if ablation:
        raise UsageError("--ablation is about workers", f"clonometer explain {_WORK} --ablation")
    if tier is not None and tier not in _TIERS:
        raise unknown("tier", tier, _TIERS)
    if counters not in _COUNTERS:
        raise unknown("set of counters", counters, _COUNTERS)
    files.check(force)
    names = [mechanism] if other is None else [mechanism, other]
    wish = {
        "tier": tier,
        "stacks": folded is not None,
        "counters": None if counters == "none" else counters,
        "arguments": arguments,
    }
    found = _explain(names, settings, processes or _PROCESSES, wish)
    versus = _versus(found)
    text = json.dumps(_as_json(found, versus), indent=2, allow_nan=False)
    if as_json:
        click.echo(text)
    else:
        _print(found, versus, timeline=timeline, calls=calls or arguments)
    _write(files, found, versus, text)


def _explain(names: list[str], settings: tuple[str, ...], processes: int, wishes: dict[str, Any]) -> list[Explanation]:
    from dataclasses import replace

    from clonometer.cli.measuring import find_catalogue
    from clonometer.explain.anatomy import Wish, admit, explain
    from clonometer.host.symbols import kernel_symbols
    from clonometer.runner.interrupts import interruption
    from clonometer.runner.tracing import Tracer

    drivers, catalogue = find_catalogue()
    targets = _targets(names, settings, catalogue)
    for target in targets:
        admit(target, catalogue)
    symbol = kernel_symbols() if wishes["stacks"] else hex
    found = []
    with interruption() as wish_to_stop:
        for target in targets:
            cold = target.cells[0].temperature == "cold"
            tracer = Tracer(drivers, drivers.calibrate(), interrupt_fd=wish_to_stop.descriptor)
            wish = Wish(max(processes, _COLD_PROCESSES) if cold else processes, symbol=symbol, **wishes)
            found.append(explain(tracer, target, replace(wish, watch=_watcher(target.workload))))
    return found


def _targets(names: list[str], settings: tuple[str, ...], catalogue: Catalogue) -> list[Target]:
    """One target for each mechanism; of two, each takes the settings that it has an axis for."""
    from clonometer.explain.anatomy import launching

    for name in names:
        if name not in catalogue.workloads:
            raise unknown("mechanism", name, [*launching(catalogue), _WORK])
    axes = [{*catalogue.workloads[name].axes, "temperature"} for name in names]
    targets = []
    for name, own in zip(names, axes, strict=True):
        strange = [one for one in settings if one.partition("=")[0].strip() not in own]
        elsewhere = all(any(one.partition("=")[0].strip() in other for other in axes) for one in strange)
        given = [one for one in settings if one not in strange or not elsewhere]
        targets.append(_target(name, given, catalogue))
    return targets


def _target(name: str, settings: list[str], catalogue: Catalogue) -> Target:
    from clonometer.plan.adhoc import plan_from_arguments

    warm = [] if any(one.strip().startswith("temperature") for one in settings) else ["temperature=warm"]
    given = [*settings, *(warm if catalogue.workloads[name].temperatures else [])]
    plan = plan_from_arguments([name], given, catalogue, limits=_SAMPLES)
    if len(plan.targets) != 1 or len(plan.targets[0].cells) != 1:
        raise UsageError("one condition is explained at a time", "give each axis one value; --vs sets two side by side")
    return plan.targets[0]


def _watcher(name: str) -> Callable[[int, int], None]:
    def watch(done: int, of: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r{name}: {done} of {of}" + ("\n" if done == of else ""), nl=False, err=True)

    return watch


def _versus(found: list[Explanation]) -> Versus | None:
    from clonometer.explain.budget import set_beside

    return set_beside(found[0], found[1]) if len(found) > 1 else None


def _as_json(found: list[Explanation], versus: Versus | None) -> dict[str, object]:
    from clonometer.explain.as_json import explanation_to_json, versus_to_json

    return explanation_to_json(found[0]) if versus is None else versus_to_json(versus)


def _print(found: list[Explanation], versus: Versus | None, *, timeline: bool, calls: bool) -> None:
    from clonometer.views.terminal.explain import render_explanation, render_versus

    colour, plain = wants_colour(sys.stdout), not can_write(sys.stdout, "µ×…█–")
    width = plain_width()
    if versus is not None:
        click.echo(render_versus(versus, width=width, colour=colour, ascii_only=plain), nl=False, color=colour)
    if versus is None or timeline or calls:
        for number, one in enumerate(found):
            text = render_explanation(one, width=width, colour=colour, ascii_only=plain, timeline=timeline, calls=calls)
            click.echo(("\n" if number or versus is not None else "") + text, nl=False, color=colour)


def _write(files: Files, found: list[Explanation], versus: Versus | None, text: str) -> None:
    from clonometer.cli.outputs import write_bytes

    written: list[tuple[Path, bytes | str]] = []
    if files.out is not None:
        written.append((files.out, text + "\n"))
    if files.html is not None:
        from clonometer.views.html.explain import render_explain_page

        written.append((files.html, render_explain_page(found, versus)))
    if files.trace is not None:
        from clonometer.views.trace_events import trace_events

        written.append((files.trace, json.dumps(trace_events(found), allow_nan=False) + "\n"))
    if files.picture is not None:
        from clonometer.views.explain_picture import explain_picture

        written.append((files.picture, explain_picture(found, files.picture.suffix.lower().removeprefix("."))))
    if files.folded is not None:
        written.append((files.folded, "".join(_folded(found))))
    for path, content in written:
        write_bytes(path, content if isinstance(content, bytes) else content.encode("utf-8"))
        click.echo(f"wrote {path}", err=True)


def _folded(found: list[Explanation]) -> list[str]:
    """Lines as flame graphs take them; of two mechanisms each stack begins with its own."""
    return [
        f"{one.workload + ';' if len(found) > 1 else ''}{stack} {count}\n"
        for one in found
        for stack, count in one.stacks.items()
    ]
