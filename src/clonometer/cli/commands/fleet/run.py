"""``clonometer fleet run``: measure many machines into a folder of run files."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from clonometer.cli.completing import complete_plans
from clonometer.cli.console import print_json
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import (
    FILE,
    budget_option,
    drawn_seed_option,
    examples,
    json_option,
    number_option,
    only_option,
    time_option,
)
from clonometer.errors import EXIT_FAILED_CELLS, EXIT_INTERRUPTED, UsageError

if TYPE_CHECKING:
    from clonometer.fleet.types import FleetRun

DEFAULT_PLAN = "default"

#: Its place in the list of commands.
ORDER = 10

_EXAMPLES = examples(
    "clonometer fleet run --plan quick --hosts hosts.txt --out fleet/",
    "clonometer fleet run --scheduler tls://head:8786 --tls-ca ca.pem \\\n"
    "      --tls-cert me.pem --tls-key me.key --out s3://bench/fleet",
    "clonometer fleet run --local 1 --plan quick --out trial/",
)


@click.command(name="run", epilog=_EXAMPLES)
@click.option(
    "--plan",
    metavar="NAME|FILE",
    default=DEFAULT_PLAN,
    shell_complete=complete_plans,
    help="Name or TOML file; else: default.",
)
@only_option
@click.option(
    "-o",
    "--out",
    metavar="FOLDER",
    required=True,
    help="Folder or URL of fsspec.",
)
@click.option("--hosts", metavar="FILE", type=FILE, help="A file of machines to reach by ssh.")
@click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler: its workers measure.")
@click.option("--slurm", metavar="NAME[:N]", help="All or N nodes of a partition.")
@number_option("--local", "local", "Dask workers here, one at a time.", most=256)
@number_option("--rounds", "rounds", "Rounds of each machine.", 3, most=1000)
@budget_option("How long to measure each machine.")
@number_option("--at-once", "at_once", "Machines at a time.", 32, most=4096)
@number_option("--retries", "retries", "Retries of a round.", 2, least=0, most=100)
@time_option("--gone", "gone_s", "Wait for a lost machine.", default="2m")
@time_option("--patience", "patience_s", "Wait for ssh to answer.", default="1m")
@time_option("--wait", "busy_s", "Wait for another fleet.", default="10m")
@time_option(
    "--late",
    "late_s",
    "End longer rounds (docs/fleet.md).",
)
@click.option("--ssh-config", metavar="FILE", type=FILE, help="Configuration file for ssh -F.")
@click.option(
    "--drivers", "drivers", metavar="ARCH=FOLDER", multiple=True,
    help="Drivers for other machines.",
)  # fmt: skip
@click.option("--tls-ca", metavar="FILE", type=FILE, help="The CA certificate of the scheduler.")
@click.option("--tls-cert", metavar="FILE", type=FILE, help="The certificate to present to it.")
@click.option("--tls-key", metavar="FILE", type=FILE, help="The private key of that certificate.")
@click.option("--trust-network", is_flag=True, help="Reach it elsewhere without TLS.")
@click.option("--no-bring", is_flag=True, help="Refuse workers with another version.")
@drawn_seed_option("Fixes the order; the same seed resumes.")
@json_option
def command(
    *,
    plan: str,
    globs: tuple[str, ...],
    out: str,
    rounds: int,
    budget_s: float | None,
    at_once: int,
    retries: int,
    busy_s: float,
    late_s: float | None,
    seed: int,
    drivers: tuple[str, ...],
    no_bring: bool,
    as_json: bool,
    **reached: Any,
) -> int:
    """Measure many machines, and collect their run files in a folder.

    Machines measure independently, in rounds. In each round every machine measures every cell, in a new random
    order. Whatever fails is retried. Rerun with the same --seed to resume.

    With --hosts nothing is installed: the probe is copied over ssh, started there, and removed.
    """
    from clonometer.app.fleet_run import Machines, run_fleet
    from clonometer.cli.fleet_progress import watching
    from clonometer.cli.progress import make_progress
    from clonometer.fleet.types import INTERRUPTED

    # The other options say how machines are reached, each by the name that it has there.
    machines = Machines(drivers=dict(map(_drivers_for, drivers)), bring=not no_bring, **reached)
    again = ["clonometer", *sys.argv[1:], *(() if "--seed" in sys.argv else ("--seed", str(seed)))]
    with watching(rounds) as watcher:
        answer = run_fleet(
            machines,
            plan=plan,
            only=globs,
            out=out,
            rounds=rounds,
            budget_s=budget_s,
            at_once=at_once,
            retries=retries,
            busy_s=busy_s,
            late_s=late_s,
            seed=seed,
            command=again,
            progress=make_progress(),
            watcher=watcher,
        )
    if as_json:
        from clonometer.records import to_json

        print_json(to_json(answer))
    _say(answer, again, err=as_json)
    if answer.reason == INTERRUPTED:
        return EXIT_INTERRUPTED
    return 0 if answer.status == "complete" else EXIT_FAILED_CELLS


def _drivers_for(text: str) -> tuple[str, str]:
    arch, separator, folder = text.partition("=")
    if not (arch and separator and Path(folder).is_dir()):
        raise UsageError(f"--drivers {text}: a name of uname -m and a folder", "--drivers aarch64=build/arm64")
    return arch, str(Path(folder).absolute())


def _say(answer: FleetRun, again: list[str], *, err: bool) -> None:
    """Say what came in, what did not and why, and the next command."""
    from clonometer.views.terminal.text import clean

    count = sum(len(host.rounds) for host in answer.hosts)
    whole = sum(host.state == "measured" for host in answer.hosts)
    click.echo(f"{whole} of {len(answer.hosts)} hosts are measured: {count} run files in {answer.folder}.", err=err)
    if not answer.hosts:
        click.echo(f"  {answer.reason}", err=err)
    for host in answer.hosts:
        if host.same_as is not None:
            same = f"{host.host}: the same boot id as {host.same_as}. One machine has two names, or one id is wrong"
            click.echo(f"  {clean(same)}.", err=err)
        if host.state != "measured":
            why = f": {host.reason}" if host.reason else ""
            click.echo(f"  {clean(f'{host.host}: {len(host.rounds)} of {answer.rounds} rounds{why}')}", err=err)
    if answer.duplicates:
        click.echo(f"  {answer.duplicates} answers came twice; the later ones were dropped.", err=err)
    if answer.status != "complete":
        click.echo(f"To resume: {shlex.join(again)}", err=err)


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.fleet.types import FleetRun

    return [
        JsonSchema(
            "fleet-run",
            "A run of a fleet: how each host fared. The folder holds the same object as fleet-ID.json.",
            {"fleet_run": FleetRun},
            title="clonometer fleet run --json",
        ),
    ]
