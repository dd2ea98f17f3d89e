"""Which host measures what next: pure bookkeeping, with a clock that is handed in.

A host measures one shard at a time, and is at most one round ahead of the others. What fails is tried again, on the
same host, since it is the host that is measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from clonometer.fleet.shards import turn

#: How an answer is judged; ``again``: measured in part, and the rest was lost.
ARRIVED, PARTIAL, AGAIN, BUSY, FAILED, LOST, REFUSED = (
    "arrived", "partial", "again", "busy", "failed", "lost", "refused",
)  # fmt: skip


@dataclass(frozen=True)
class RetryPolicy:
    """How long and how often is waited.

    Attributes
    ----------
    at_once
        So many hosts measure at a time.
    attempts
        So often each shard is tried.
    shard_s
        After so long a shard is asked to end with what it has: its host is a straggler.
    grace_s
        After so much longer nobody waits for its answer any more.
    gone_s
        So long a lost host is waited for.
    busy_s
        So long a host is waited for that another fleet measures on.
    rest_s
        So long a host rests before it is tried again.
    poll_s
        So often a busy host is asked: each time somebody else's measuring is disturbed.
    """

    at_once: int = 32
    attempts: int = 3
    shard_s: float = 600.0
    grace_s: float = 60.0
    gone_s: float = 120.0
    busy_s: float = 600.0
    rest_s: float = 2.0
    poll_s: float = 15.0


@dataclass
class HostAccount:
    """How a host is getting on.

    ``state``: ``ready``, ``measures``, ``gone``, ``busy``, ``done`` or ``given up``. ``rounds`` has for each round that
    has arrived whether it is ``complete`` or ``partial``. ``machine`` is what it says that it is, empty where it says
    nothing: hosts that say the same never measure at the same time.
    """

    name: str
    machine: str = ""
    state: str = "ready"
    reason: str | None = None
    rounds: dict[int, str] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=dict)
    retries: int = 0
    round: int | None = None
    since_s: float = 0.0
    rest_until_s: float = 0.0
    busy_since_s: float | None = None
    asked_to_end: bool = False


class Dispatch:
    """The shards of a fleet, and who has which: each host has ``rounds`` of them, in an order that ``seed`` fixes."""

    def __init__(self, rounds: int, seed: int, policy: RetryPolicy) -> None:
        self.rounds = rounds
        self.hosts: dict[str, HostAccount] = {}
        self._seed = seed
        self._policy = policy

    def on_connect(self, host: str, now_s: float, machine: str = "") -> None:
        """Learn that a host is there, for the first time or again, and which machine it says that it is."""
        account = self.hosts.setdefault(host, HostAccount(host))
        account.machine = machine
        if account.state == "gone":
            account.state, account.rest_until_s = "ready", now_s

    def has_already(self, host: str, round_: int, status: str) -> None:
        """Learn that a round had arrived before, so that nobody measures it twice."""
        account = self.hosts[host]
        account.rounds[round_] = status
        if len(account.rounds) == self.rounds:
            account.state = "done"

    def on_lost(self, host: str, reason: str, now_s: float) -> None:
        """Learn that a host cannot be reached; what it measured is lost."""
        account = self.hosts.setdefault(host, HostAccount(host))
        if account.state in ("done", "given up", "gone"):
            return
        if account.state == "measures" and self._failed_often(account):
            self._give_up(account, f"lost {self._policy.attempts} times: {reason}")
            return
        account.retries += account.state == "measures"
        account.state, account.reason, account.since_s, account.round = "gone", reason, now_s, None

    def refuse(self, host: str, reason: str) -> None:
        """Give a host up that cannot measure at all."""
        self._give_up(self.hosts.setdefault(host, HostAccount(host)), reason)

    def starts(self, now_s: float) -> Iterator[tuple[str, int, int]]:
        """Host, round and attempt of what is to be started now; each is taken to be started."""
        measuring = [account.machine for account in self.hosts.values() if account.state == "measures"]
        present = [account for account in self.hosts.values() if account.state in ("ready", "measures", "busy")]
        slowest = min((self._next_round(account) for account in present), default=self.rounds)
        waiting = [
            account
            for account in present
            if account.state in ("ready", "busy")
            and account.rest_until_s <= now_s
            and self._next_round(account) <= slowest + 1
        ]
        waiting.sort(key=lambda account: (self._next_round(account), self._turn(account)))
        for account in waiting:
            if len(measuring) >= self._policy.at_once:
                break
            if account.machine and account.machine in measuring:
                continue
            measuring.append(account.machine)
            round_ = self._next_round(account)
            account.state, account.round, account.since_s, account.asked_to_end = "measures", round_, now_s, False
            account.attempts[round_] = account.attempts.get(round_, 0) + 1
            yield account.name, round_, account.attempts[round_]

    def ended(self, host: str, round_: int, outcome: str, reason: str | None, now_s: float) -> None:
        """Learn how a shard ended."""
        account = self.hosts[host]
        is_current = account.state == "measures" and account.round == round_
        if outcome in (ARRIVED, PARTIAL):
            # Also what comes after all is there.
            account.rounds.setdefault(round_, "complete" if outcome == ARRIVED else "partial")
        if not is_current:
            return
        account.reason = reason
        if outcome in (ARRIVED, PARTIAL):
            account.state, account.round, account.busy_since_s = "ready", None, None
            if len(account.rounds) == self.rounds:
                account.state = "done"
        elif outcome == BUSY:
            self._wait_for_others(account, round_, now_s)
        elif outcome == REFUSED or self._failed_often(account):
            self._give_up(account, reason or outcome)
        else:
            account.retries += 1
            account.state, account.round, account.rest_until_s = "ready", None, now_s + self._policy.rest_s

    def same_as(self, host: str) -> str | None:
        """The first other host that says it is the same machine; None for the first itself."""
        machine = self.hosts[host].machine
        first = next(account.name for account in self.hosts.values() if account.machine == machine)
        return None if first == host or not machine else first

    def is_last_attempt(self, host: str) -> bool:
        """Whether what the host measures now will not be tried again."""
        return self._failed_often(self.hosts[host])

    def overdue(self, now_s: float) -> list[HostAccount]:
        """Hosts that take too long: to be asked to end, or given up where that did not help."""
        return [
            account for account in self.hosts.values() if account.state == "measures" and now_s >= self._over_s(account)
        ]

    def give_up_the_absent(self, now_s: float) -> None:
        """Give up the hosts that have been gone for too long."""
        for account in self.hosts.values():
            if account.state == "gone" and now_s >= account.since_s + self._policy.gone_s:
                self._give_up(account, f"lost: {account.reason}")

    def next_moment_s(self, now_s: float) -> float | None:
        """When something is due, should nothing happen before; None where nothing is."""
        policy = self._policy
        moments = []
        for account in self.hosts.values():
            if account.state == "measures":
                moments.append(self._over_s(account))
            elif account.state == "gone":
                moments.append(account.since_s + policy.gone_s)
            elif account.state in ("ready", "busy") and account.rest_until_s > now_s:
                moments.append(account.rest_until_s)
        return min(moments, default=None)

    @property
    def is_over(self) -> bool:
        """Whether every host that ever came is done or given up."""
        return all(account.state in ("done", "given up") for account in self.hosts.values())

    def _next_round(self, account: HostAccount) -> int:
        return next((n for n in range(1, self.rounds + 1) if n not in account.rounds), self.rounds)

    def _turn(self, account: HostAccount) -> str:
        return turn(self._seed, self._next_round(account), account.name)

    def _over_s(self, account: HostAccount) -> float:
        """When what a host measures takes too long."""
        grace_s = self._policy.grace_s if account.asked_to_end else 0.0
        return account.since_s + self._policy.shard_s + grace_s

    def _failed_often(self, account: HostAccount) -> bool:
        return account.round is not None and account.attempts[account.round] >= self._policy.attempts

    def _wait_for_others(self, account: HostAccount, round_: int, now_s: float) -> None:
        """Wait until the other fleet has ended; that is no failure of the host's."""
        account.attempts[round_] -= 1
        account.busy_since_s = now_s if account.busy_since_s is None else account.busy_since_s
        if now_s - account.busy_since_s >= self._policy.busy_s:
            self._give_up(account, account.reason or BUSY)
        else:
            account.state, account.round = "busy", None
            account.rest_until_s = now_s + min(self._policy.poll_s, self._policy.busy_s)

    @staticmethod
    def _give_up(account: HostAccount, reason: str) -> None:
        account.state, account.reason, account.round = "given up", reason, None
