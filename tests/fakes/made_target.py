"""Made processes: a tree of /proc with one process in it, of any size and in any state."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

GIB_KB = 1 << 20
LINES = (
    "Size", "KernelPageSize", "MMUPageSize", "Rss", "Pss", "Referenced", "Anonymous", "KSM", "AnonHugePages",
    "ShmemPmdMapped", "FilePmdMapped", "Shared_Hugetlb", "Private_Hugetlb", "Swap", "SwapPss", "Locked",
)  # fmt: skip


def entry(
    start: int,
    end: int,
    *,
    permissions: str = "rw-p",
    inode: int = 0,
    name: str = "",
    flags: str = "rd wr mr mw me ac",
    lines: tuple[str, ...] = LINES,
    **kb: int,
) -> str:
    """An entry of smaps: sizes in kB by the names of its lines."""
    values = {"Size": (end - start) // 1024, "KernelPageSize": 4, "MMUPageSize": 4} | kb
    head = f"{start:x}-{end:x} {permissions} 00000000 00:00 {inode}"
    body = "".join(f"{line + ':':<16}{values.get(line, 0):>8} kB\n" for line in lines)
    return f"{head:<72} {name}".rstrip() + f"\n{body}THPeligible:           0\nVmFlags: {flags} \n"


def maps_of(smaps: str) -> str:
    """The lines of maps that belong to a text of smaps."""
    return "".join(f"{line}\n" for line in smaps.splitlines() if "-" in line.split()[0])


class MadeMachine:
    """A machine with processes, as a tree of files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write(
            {
                "proc/meminfo": f"MemTotal: {64 * GIB_KB} kB\nMemAvailable: {32 * GIB_KB} kB\nSwapTotal: 0 kB\n"
                f"CommitLimit: {32 * GIB_KB} kB\nCommitted_AS: {8 * GIB_KB} kB\n",
                "proc/sys/vm/overcommit_memory": "0",
                "proc/sys/kernel/pid_max": "32768",
                "proc/sys/kernel/threads-max": "100000",
                "proc/loadavg": "0.00 0.00 0.00 1/300 4711",
                "proc/self/status": "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n",
            }
        )

    def write(self, files: Mapping[str, str]) -> None:
        for path, content in files.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")

    def process(self, pid: int = 4711, smaps: str | None = None, **status: object) -> MadeMachine:
        """Add a process; ``status`` replaces lines of it, None takes them out."""
        lines: dict[str, object] = {
            "Name": "server", "State": "S (sleeping)", "Tgid": pid, "Pid": pid, "PPid": 1, "TracerPid": 0,
            "Uid": "1000\t1000\t1000\t1000", "FDSize": 64, "NSpid": pid, "VmSize": "100000 kB", "VmRSS": "8000 kB",
            "RssAnon": "4000 kB", "RssFile": "4000 kB", "RssShmem": "0 kB", "VmPTE": "64 kB", "VmSwap": "0 kB",
            "Threads": 1, "CapEff": "0000000000000000",
        } | status  # fmt: skip
        text = "".join(f"{name}:\t{value}\n" for name, value in lines.items() if value is not None)
        folder = f"proc/{pid}"
        self.write(
            {
                f"{folder}/status": text,
                f"{folder}/stat": f"{pid} (a) b) S 1 {pid} {pid} 0 -1 4194560 " + "0 " * 12 + "1234 0 0\n",
                f"{folder}/limits": "Max processes             500                  600                  processes\n",
                f"{folder}/fd/0": "",
            }
        )
        if smaps is not None:
            self.write({f"{folder}/smaps": smaps, f"{folder}/maps": maps_of(smaps)})
        return self
