"""``fleet run``: measure many machines into a folder of run files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from clonometer.app.measuring import find_catalogue
from clonometer.app.seeds import draw_seed
from clonometer.errors import UsageError
from clonometer.fleet.controller import Controller, FleetJob, Watcher
from clonometer.fleet.dispatch import Dispatch, HostAccount, RetryPolicy
from clonometer.fleet.hosts import Hosts
from clonometer.fleet.nodes import QUEUED_S
from clonometer.fleet.store import open_store
from clonometer.fleet.types import FleetRun
from clonometer.plan.adhoc import apply_only
from clonometer.plan.planfile import load_plan, plan_workloads
from clonometer.plan.types import Plan
from clonometer.runner.interfaces import SILENT, Progress
from clonometer.runner.interrupts import interruption
from clonometer.runner.languages.toolchains import find_languages, wanted_languages

__all__ = ["Machines", "run_fleet"]

DEFAULT_PLAN = "default"
# A round may take so many times its share of the budget, and so much beside, before it is late.
_LATE = 3.0
_BESIDE_S = 120.0


@dataclass(frozen=True)
class Machines:
    """Which machines are measured, and how they are reached.

    One of ``hosts``, ``scheduler``, ``slurm`` and ``local`` is given.

    ``hosts`` is a file of machines to reach by ssh, one per line, with the configuration ``ssh_config``. ``drivers``
    maps names of instruction sets (``uname -m``) to folders of drivers. ``patience_s`` says how long to wait for one
    answer.

    ``scheduler`` is the address of a Dask scheduler, whose workers are the machines: with TLS by ``tls_ca``,
    ``tls_cert`` and ``tls_key``, or without it if the network is trusted. ``slurm`` is a
    partition of Slurm, in which a job is submitted for each node (``NAME:N``: N jobs); the first may wait for an hour.
    ``local`` asks for that many workers of this machine. ``gone_s`` says how long to wait for a lost worker. With
    ``bring``, workers with another version are sent this one; otherwise they are refused.
    """

    hosts: Path | None = None
    scheduler: str | None = None
    slurm: str | None = None
    local: int | None = None
    ssh_config: Path | None = None
    drivers: Mapping[str, str] = field(default_factory=dict)
    patience_s: float = 60.0
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    trust_network: bool = False
    bring: bool = True
    gone_s: float = 120.0

    def check(self) -> None:
        """Refuse none or several of the three ways, and options that belong to another way.

        Raises
        ------
        UsageError
            If there is something to refuse.
        """
        ways = (self.scheduler, self.hosts, self.slurm, self.local)
        if sum(way is not None for way in ways) != 1:
            raise UsageError(
                "name the machines with one of --hosts, --scheduler, --slurm and --local",
                "--hosts FILE needs the least preparation",
            )
        if self.scheduler is None and (any((self.tls_ca, self.tls_cert, self.tls_key)) or self.trust_network):
            raise UsageError("--tls-ca, --tls-cert, --tls-key and --trust-network go with --scheduler")
        if self.hosts is None and (self.ssh_config is not None or self.drivers):
            raise UsageError("--ssh-config and --drivers go with --hosts")

    def reach(self, shard_s: float, lasts_s: float) -> Hosts:
        """Prepare to reach the hosts, for so long; none is contacted yet."""
        if self.hosts is not None:
            from clonometer.fleet.ssh_hosts import SshHosts, read_hosts

            config = None if self.ssh_config is None else str(self.ssh_config.absolute())
            return SshHosts(read_hosts(self.hosts), config, shard_s, dict(self.drivers), self.patience_s)
        # Dask is an extra, and is not there for every installation.
        from clonometer.fleet.dask_access import Access
        from clonometer.fleet.dask_hosts import DaskHosts

        ca, cert, key = (None if file is None else str(file) for file in (self.tls_ca, self.tls_cert, self.tls_key))
        waits_s = self.gone_s if self.slurm is None else QUEUED_S
        access = Access(
            self.scheduler, self.local or 0, ca, cert, key, self.trust_network, waits_s,
            slurm=self.slurm, lasts_s=lasts_s,
        )  # fmt: skip
        access.check()
        return DaskHosts(access, bring=self.bring)


class Silent:
    """Watches a fleet and shows nothing."""

    def changed(self, account: HostAccount, event: str) -> None:
        """Learn what became of a host."""

    def log(self, text: str) -> None:
        """Learn what is worth a line of its own."""


def run_fleet(
    machines: Machines,
    *,
    plan: str = DEFAULT_PLAN,
    only: Sequence[str] = (),
    out: str,
    rounds: int = 3,
    budget_s: float | None = None,
    at_once: int = 32,
    retries: int = 2,
    busy_s: float = 600.0,
    late_s: float | None = None,
    seed: int | None = None,
    command: Sequence[str] = ("clonometer", "fleet", "run"),
    progress: Progress = SILENT,
    watcher: Watcher | None = None,
) -> FleetRun:
    """Measure many machines, and collect their run files in a folder.

    Each machine runs one measurement at a time. In each round every machine measures every cell, in a new random order.
    Failed measurements are repeated. The same seed resumes a run. Call it from the main thread, like `clonometer.run`.

    Parameters
    ----------
    machines
        Which, and how they are reached.
    plan
        By name, or a TOML file.
    only
        Globs of cells: the others are left out.
    out
        Where run files go: a folder, or a URL that fsspec can write to.
    rounds
        How often each machine is measured; the budget is divided among the rounds.
    budget_s
        How long to measure each machine, in seconds; by default as the plan says.
    at_once
        How many machines measure at the same time.
    retries
        How often a failed round is retried.
    busy_s
        How long to wait for a machine that another fleet is measuring.
    late_s
        After this time a round ends with what it has; by default three times its budget, plus 2 minutes.
    seed
        Fixes the order; by default it is drawn.
    command
        What the run files name as the command that made them.
    progress
        Learns which drivers are left out.
    watcher
        Receives the progress of each host.

    Raises
    ------
    UsageError
        If something of that name does not exist, or the machines cannot be meant.
    InputError, OutputError
        If the file of hosts cannot be read, or the folder cannot be written.
    """
    machines.check()
    order_seed = draw_seed(seed)
    whole = _plan(plan, only, budget_s, progress, over_ssh=machines.hosts is not None)
    shard_s = late_s or _longest_s(whole, rounds)
    policy = RetryPolicy(at_once, retries + 1, shard_s, gone_s=machines.gone_s, busy_s=busy_s)
    reached = machines.reach(shard_s, shard_s * rounds)
    watcher = watcher or Silent()
    store = open_store(out, watcher.log)
    job = FleetJob(whole, rounds, order_seed, command, out)
    with interruption() as wish:
        return Controller(job, Dispatch(rounds, order_seed, policy), reached, store, watcher).run(wish)


def _longest_s(plan: Plan, rounds: int) -> float:
    """How long a round may take."""
    return _LATE * plan.budget_seconds / rounds + _BESIDE_S


def _plan(name: str, globs: Sequence[str], budget_s: float | None, progress: Progress, *, over_ssh: bool) -> Plan:
    """Expand the plan by what this machine's drivers describe: the hosts get the same drivers.

    Drivers of languages are built on each host, but for those that are reached by ssh, where nothing is built.
    """
    names = plan_workloads(name)
    languages = wanted_languages(names, find_languages())
    if languages and over_ssh:
        listed = ", ".join(language.runtime.title for language in languages)
        progress.say(f"clonometer: over ssh no drivers are built, so these are not measured: {listed}")
    _, catalogue = find_catalogue(progress, () if over_ssh else names)
    plan = load_plan(name, catalogue)
    if budget_s is not None:
        plan = replace(plan, budget_seconds=budget_s)
    return apply_only(plan, globs)
