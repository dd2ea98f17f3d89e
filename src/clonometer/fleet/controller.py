"""A fleet's run: shards go out to hosts, run files come in, and who is late, lost or full is dealt with."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Protocol

from clonometer.errors import OutputError, RunFileError
from clonometer.fleet.dispatch import AGAIN, ARRIVED, BUSY, FAILED, LOST, PARTIAL, REFUSED, Dispatch, HostAccount
from clonometer.fleet.hosts import Answered, HostConnected, HostEvent, HostLost, HostRefused, Hosts, LogEvent
from clonometer.fleet.shards import Shard, fleet_id, part_of
from clonometer.fleet.store import RunStore, check_run
from clonometer.fleet.types import INTERRUPTED, FleetHost, FleetRun
from clonometer.inputs import parse_json
from clonometer.plan.document import document_of
from clonometer.plan.types import Plan
from clonometer.records import to_json
from clonometer.runner.far import cut
from clonometer.runner.interrupts import Interruption

# Longer than any agent takes to write what it has.
_FAREWELL_S = 20.0
# A clock further away is said.
_APART_S = 1.0


class Watcher(Protocol):
    """Watches a fleet's run."""

    def changed(self, account: HostAccount, event: str) -> None:
        """Learn what became of a host, in a few words."""

    def log(self, text: str) -> None:
        """Learn what is worth a line of its own."""


@dataclass(frozen=True)
class FleetJob:
    """What a fleet is to measure: ``plan`` is the whole one, of which each round gets its share."""

    plan: Plan
    rounds: int
    seed: int
    command: Sequence[str]
    folder: str
    id: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", fleet_id(self.plan, self.seed, self.rounds))

    def request(self, host: str, round_: int, attempt: int, clock: Mapping[str, Any]) -> dict[str, Any]:
        """Write what a host is asked: plain data, for JSON."""
        shard = Shard(self.id, host, round_)
        described = {
            "id": self.id, "host": host, "round": round_, "rounds": self.rounds, "attempt": attempt,
            "clock_apart_s": clock.get("apart_s"), "clock_apart_within_s": clock.get("apart_within_s"),
        }  # fmt: skip
        return {
            "id": shard.attempt(attempt),
            "label": f"fleet {self.id}",
            "plan": to_json(document_of(part_of(self.plan, self.rounds))),
            "seed": shard.seed(self.seed),
            "command": list(self.command),
            "fleet": described,
            "over": None,
        }


@dataclass(eq=False)
class Controller:
    """Brings events, the dispatch and the store together.

    ``clock`` gives seconds that only go forward, ``check`` the status of a run file, or it raises `RunFileError`.
    """

    job: FleetJob
    dispatch: Dispatch
    hosts: Hosts
    store: RunStore
    watcher: Watcher
    _: KW_ONLY
    clock: Callable[[], float] = time.monotonic
    check: Callable[[bytes], str] = check_run

    def __post_init__(self) -> None:
        self._clocks: dict[str, Mapping[str, Any]] = {}
        self._duplicates = 0

    def run(self, wish: Interruption) -> FleetRun:
        """Measure until every host is done or given up, or the user wants to stop."""
        try:
            self.hosts.begin()
            while not wish.wanted and not (self.dispatch.is_over and self.hosts.search_is_over()):
                now_s = self.clock()
                self._start_what_is_due(now_s)
                self._see_to_the_late(now_s)
                if self.dispatch.is_over and self.hosts.search_is_over():
                    break
                until_s = self.dispatch.next_moment_s(now_s)
                timeout_s = None if until_s is None else max(0.0, until_s - now_s)
                self._take(self.hosts.next_event(timeout_s, wish.descriptor))
            if wish.wanted:
                self._say_farewell()
        finally:
            self.hosts.end()
        answer = self._summary(interrupted=wish.wanted)
        self.store.write(f"fleet-{self.job.id}.json", json.dumps(to_json(answer), indent=1).encode())
        return answer

    def _start_what_is_due(self, now_s: float) -> None:
        for host, round_, attempt in self.dispatch.starts(now_s):
            request = self.job.request(host, round_, attempt, self._clocks.get(host, {}))
            again = f", attempt {attempt}" if attempt > 1 else ""
            self.watcher.changed(self.dispatch.hosts[host], f"measures round {round_}{again}")
            self.hosts.start(host, request)

    def _see_to_the_late(self, now_s: float) -> None:
        for account in self.dispatch.overdue(now_s):
            if not account.asked_to_end:
                self.watcher.changed(account, "takes too long: asked to stop with what it has")
                self._ask_to_end(account)
            elif account.round is not None:
                self._judge(account.name, account.round, LOST, "it took too long and gave no answer")
        absent = [account for account in self.dispatch.hosts.values() if account.state == "gone"]
        self.dispatch.give_up_the_absent(now_s)
        for account in absent:
            if account.state == "given up":
                self.watcher.changed(account, f"given up: {account.reason}")

    def _ask_to_end(self, account: HostAccount) -> None:
        """Let a host that measures end with what it has."""
        if account.round is not None:
            account.asked_to_end = True
            shard = Shard(self.job.id, account.name, account.round)
            self.hosts.stop(account.name, shard.attempt(account.attempts[account.round]))

    def _take(self, event: HostEvent | None) -> None:
        now_s = self.clock()
        match event:
            case HostConnected():
                self._welcome(event, now_s)
            case HostLost():
                self.dispatch.on_lost(event.host, event.reason, now_s)
                self.watcher.changed(self.dispatch.hosts[event.host], f"lost: {event.reason}")
            case HostRefused():
                self.dispatch.refuse(event.host, event.reason)
                self.watcher.changed(self.dispatch.hosts[event.host], f"given up: {event.reason}")
            case Answered():
                self._receive(event)
            case LogEvent():
                self.watcher.log(event.text)
            case None:
                pass

    def _welcome(self, event: HostConnected, now_s: float) -> None:
        new = event.host not in self.dispatch.hosts
        self.dispatch.on_connect(event.host, now_s, str(event.identity.get("machine", "")))
        self._clocks[event.host] = event.identity
        apart_s, within_s = event.identity.get("apart_s"), event.identity.get("apart_within_s")
        if new and isinstance(apart_s, float) and abs(apart_s) > _APART_S + float(within_s or 0.0):
            self.watcher.log(f"{event.host}: its clock is {abs(apart_s):.0f} s {'ahead' if apart_s > 0 else 'behind'}")
        same_as = self.dispatch.same_as(event.host)
        if new and same_as is not None:
            self.watcher.log(f"{event.host} says it is the same machine as {same_as}: they are measured in turn")
        account = self.dispatch.hosts[event.host]
        if not account.rounds:
            for round_ in range(1, self.job.rounds + 1):
                status = self.store.status_of(Shard(self.job.id, event.host, round_).file_name)
                if status is not None:
                    self.dispatch.has_already(event.host, round_, "complete" if status == "complete" else "partial")
        known = f", {len(account.rounds)} of {self.job.rounds} rounds are in the folder" if account.rounds else ""
        self.watcher.changed(account, f"is present{known}")

    def _receive(self, event: Answered) -> None:
        line, _, content = event.answer.partition(b"\n")
        try:
            header = parse_json(line)
            outcome, reason = self._outcome(event, header, content)
        except RunFileError as error:
            outcome, reason = FAILED, f"what it sent is not a run file: {error.message}"
        except OutputError:
            # That is this machine's disk, and no fault of the host's.
            raise
        except Exception as error:
            # Whatever a host may send: the others go on.
            outcome, reason = FAILED, f"its answer cannot be understood: {error}"
        self._judge(event.host, event.round, outcome, reason)

    def _outcome(self, event: Answered, header: Mapping[str, Any], content: bytes) -> tuple[str, str | None]:
        """Judge an answer, and keep its run file unless the rest of it is to be measured again."""
        reason = header["reason"]
        if header["status"] != "ok":
            known = {"busy": BUSY, "refused": REFUSED, "lost": LOST}
            return known.get(header["status"], FAILED), str(reason)
        if len(content) != header["bytes"]:
            return FAILED, f"of {header['bytes']:,} bytes {len(content):,} came"
        status = self.check(content)
        account = self.dispatch.hosts[event.host]
        if header.get("cut_short") and not account.asked_to_end and not self.dispatch.is_last_attempt(event.host):
            return AGAIN, str(reason)
        if not self.store.put(Shard(self.job.id, event.host, event.round).file_name, content):
            self._duplicates += 1
        return (ARRIVED, None) if status == "complete" else (PARTIAL, reason)

    def _judge(self, host: str, round_: int, outcome: str, reason: str | None) -> None:
        reason = None if reason is None else cut(reason)
        self.dispatch.ended(host, round_, outcome, reason, self.clock())
        account = self.dispatch.hosts[host]
        why = f": {reason}" if reason else ""
        after = {"given up": f"given up{why}", "busy": f"waits{why}"}.get(account.state)
        if outcome in (ARRIVED, PARTIAL):
            after = f"round {round_} is in ({outcome}{why})" if outcome == PARTIAL else f"round {round_} is in"
        self.watcher.changed(account, after or f"round {round_} failed{why}")

    def _say_farewell(self) -> None:
        """Let those who measure end with what they have, and keep it."""
        measuring = [account for account in self.dispatch.hosts.values() if account.state == "measures"]
        for account in measuring:
            self._ask_to_end(account)
        until_s = self.clock() + _FAREWELL_S
        while any(account.state == "measures" for account in measuring):
            left_s = until_s - self.clock()
            if left_s <= 0:
                break
            self._take(self.hosts.next_event(left_s, None))

    def _summary(self, *, interrupted: bool) -> FleetRun:
        hosts = [self._host(account) for _, account in sorted(self.dispatch.hosts.items())]
        measured = [host for host in hosts if host.rounds]
        missing = [host for host in hosts if host.state != "measured"]
        reason = f"{len(missing)} of {len(hosts)} hosts are incomplete" if missing else None
        if not hosts:
            reason = "no host could be asked"
        return FleetRun(
            fleet=self.job.id,
            folder=self.job.folder,
            plan=self.job.plan.name,
            seed=self.job.seed,
            rounds=self.job.rounds,
            status="failed" if not measured else "partial" if missing else "complete",
            reason=INTERRUPTED if interrupted else reason,
            duplicates=self._duplicates,
            hosts=hosts,
        )

    def _host(self, account: HostAccount) -> FleetHost:
        clock = self._clocks.get(account.name, {})
        whole = len(account.rounds) == self.job.rounds and set(account.rounds.values()) == {"complete"}
        state = "measured" if whole else "partial" if account.rounds else "none"
        if state == "none" and account.state not in ("given up", "done", "gone"):
            state = "waiting"
        return FleetHost(
            host=account.name,
            state=state,
            reason=None if whole else account.reason,
            rounds={str(round_): status for round_, status in sorted(account.rounds.items())},
            retries=account.retries,
            clock_apart_s=clock.get("apart_s"),
            clock_apart_within_s=clock.get("apart_within_s"),
            same_as=self.dispatch.same_as(account.name),
        )
