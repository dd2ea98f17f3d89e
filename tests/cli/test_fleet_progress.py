from __future__ import annotations

import io

from rich.console import Console
from rich.live import Live

from clonometer.cli.fleet_progress import HostTable, Lines, watching
from clonometer.fleet.dispatch import HostAccount

MARKED = "lost: [red]its worker has disappeared[/red], and nobody knows where it is or when it will be back again"


def test_a_terminal_shows_a_row_a_host_those_that_measure_first() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80, height=12, color_system=None)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        table = HostTable(live, 3)
        for number in range(12):
            table.changed(HostAccount(f"web{number}"), "is there")
        whole = {1: "complete", 2: "complete", 3: "complete"}
        table.changed(HostAccount("web1", state="done", rounds=whole), "round 3 is in")
        table.changed(HostAccount("web5", state="gone", reason=MARKED), MARKED)
        table.changed(HostAccount("web3", state="measures", rounds={1: "complete"}), "measures round 2")
        drawn = Console(file=io.StringIO(), width=80)
        drawn.print(live.renderable)
    assert isinstance(drawn.file, io.StringIO)
    assert isinstance(console.file, io.StringIO)
    lines = [line.rstrip() for line in drawn.file.getvalue().splitlines()]
    assert lines[0].split() == ["host", "rounds", "now"]
    assert lines[1] == "web3   1 of 3  measures round 2"
    assert lines[2].startswith("web5   0 of 3  lost: [red]its worker has disappeared[/red]")
    assert lines[2].endswith("…")
    assert lines[-1] == "1 of 12 hosts are done, 4 rounds are in; 5 more hosts are not shown"
    assert max(map(len, lines)) <= 80
    # What went wrong stays when the table has gone.
    assert f"web5: {MARKED}" in console.file.getvalue()


def test_elsewhere_each_event_is_a_line() -> None:
    with watching(3) as watcher:
        assert isinstance(watcher, Lines)
