"""``clonometer explain``: where every microsecond of a launch went."""

from __future__ import annotations

import rich_click as click

from clonometer.cli.completing import complete_settings, complete_workloads, names_of
from clonometer.cli.console import print_drawn
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import FILE, examples, json_option, number_option, out_option

#: Its place in the list of commands.
ORDER = 140

_EXAMPLES = examples(
    "clonometer explain launch.fork",
    "clonometer explain fork --vs pthread                  why the ratio",
    "clonometer explain launch.fork --set parent_bytes=1GiB --timeline",
    "clonometer explain java.command --vs launch.posix_spawn   what Java adds",
    "clonometer explain launch.posix_spawn --html why.html --trace why.json",
    "clonometer explain work.factor --set output=shared_stream",
)


@click.command(name="explain", epilog=_EXAMPLES)
@click.argument("mechanism", metavar="MECHANISM", shell_complete=complete_workloads)
@click.option(
    "--set",
    "settings",
    metavar="AXIS=VALUE",
    multiple=True,
    shell_complete=complete_settings,
    help="Measure under this condition; repeatable.",
)
@click.option(
    "--vs", "other", metavar="OTHER", shell_complete=complete_workloads, help="Compare with another mechanism."
)
@number_option(
    "--processes", "processes", "How many processes launch tasks. Default: 6; work.factor: 12 of each kind.", most=1000
)
@click.option(
    "--tier",
    metavar="NAME",
    shell_complete=names_of("tracepoints", "own", "stamps", "proc"),
    help="Most detailed tier: tracepoints, own, stamps (work.factor: proc). Default: what is allowed.",
)
@click.option(
    "--ablation", is_flag=True, help="With work.factor: also remove what the workers share, one thing at a time."
)
@click.option("--timeline", is_flag=True, help="Also print single launches, event by event.")
@click.option("--calls", is_flag=True, help="Also print each system call.")
@click.option("--arguments", is_flag=True, help="Also print their arguments, read by ptrace.")
@click.option(
    "--counters",
    metavar="SET",
    shell_complete=names_of("hardware", "software", "none"),
    default="hardware",
    show_default=True,
    help="What to count in each part: hardware (cycles, misses), software (faults, switches) or none.",
)
@json_option
@out_option("Also write that JSON object to a file.")
@click.option("--html", metavar="FILE", type=FILE, help="Write an interactive HTML page.")
@click.option("--markdown", metavar="FILE", type=FILE, help="Also write Markdown.")
@click.option("--trace", metavar="FILE", type=FILE, help="Write trace events, which Perfetto opens.")
@click.option("--picture", metavar="FILE", type=FILE, help="Draw the timeline and the budget: .svg or .png.")
@click.option("--folded", metavar="FILE", type=FILE, help="Write folded kernel stacks, for flame graphs.")
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
    **files: object,
) -> None:
    """Show where every microsecond of a launch goes, or why threads and processes differ once they are working.

    While the mechanism launches tasks, the kernel reports events: system calls, switches, wake-ups, page faults, exec
    and exit. They divide each launch into parts that add up exactly to its duration. Untraced launches in between
    show what tracing costs. Unexplained time is shown too.

    MECHANISM work.factor runs workers alternately as threads and as processes, and explains the gap between them.
    """
    from clonometer.app.explain import explain, is_of_work, refuse_for_work
    from clonometer.cli.explain_outputs import Outputs
    from clonometer.cli.progress import make_progress
    from clonometer.views.documents.explain import explanation_document
    from clonometer.views.terminal.document import render_document

    outputs = Outputs(**files)  # type: ignore[arg-type] # click has checked them
    if is_of_work(mechanism):
        refuse_for_work({"--timeline": timeline, "--calls": calls})
    outputs.check()
    explanation = explain(
        mechanism,
        vs=other,
        settings=settings,
        processes=processes,
        tier=tier,
        counters=counters,
        arguments=arguments,
        stacks=outputs.folded is not None,
        ablation=ablation,
        progress=make_progress(),
    )
    shown = {"timeline": timeline, "calls": calls or arguments}
    outputs.answer(explanation, lambda: print_drawn(render_document, explanation_document, explanation, **shown))


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.tracing.types import Versus
    from clonometer.tracing.work.types import WorkExplanation

    return [
        JsonSchema(
            "explain",
            "Where the time of one mechanism's launches goes (launch); with --vs also the other mechanism, and the "
            "parts that explain the ratio (versus). Of work.factor: why threads and processes take different times "
            "for the same work (work). Times are in nanoseconds, shares are fractions of 1.",
            {"launch": Versus, "work": WorkExplanation},
            title="clonometer explain --json",
            has_nulls=False,
        ),
    ]
