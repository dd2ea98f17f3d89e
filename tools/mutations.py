"""Break the package in one place after the other, and see that the tests nearest to each notice.

A test that nothing can fail is worth nothing. Each entry is a file, what stands there once, what to put in its place,
and the tests that must then fail. Files are put back whatever happens. ``make mutations`` runs all; arguments choose
those whose file or text contains one of them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PACKAGE = Path("src/clonometer")
MUTATIONS = (
    ("results/rows/ratio.py", "^ (seed & 0xFFFFFFFF)", "", "results/test_rows.py results/test_findings.py"),
    ("views/axes.py", '{"type": "log"} if self.is_log', '{"type": "linear"} if self.is_log', "views"),
    ("runner/measure.py", "if ending.exit_status != 0:", "if (ending.exit_status or 0) > 0:", "runner/test_measure.py"),
    (
        "results/findings/comparing.py",
        "Direction.of(interval.value - scale.unchanged)",
        "Direction.of(scale.unchanged - interval.value)",
        "results/test_findings.py",
    ),
    ("stats/quantiles.py", 'side="right")', 'side="right") + 1', "stats/test_quantiles.py"),
    (
        "stats/multiplicity.py",
        "ordered <= error_rate * places / size",
        "ordered <= error_rate",
        "stats/test_multiplicity.py",
    ),
    ("views/exports/openmetrics.py", "_NS = 1e9", "_NS = 1e6", "views/exports/test_exports.py"),
    (
        "verdicts.py",
        "Gate.FAIL: EXIT_REGRESSION",
        "Gate.FAIL: 0",
        "cli/test_check.py",
    ),
    ("runner/process.py", "os.killpg(child.pid, signal.SIGKILL)", "child.kill()", "runner/test_process.py"),
    ("results/schedule/scheduler.py", "self._random.shuffle(targets)", "pass", "results/test_scheduler.py"),
    (
        "protocol/block.py",
        'if fields.count("crc32") != checksum:',
        "if checksum < 0:",
        "protocol/test_answer.py",
    ),
    ("results/rows/groups.py", "(column > reaped)", "(column > reaped + 10**12)", "results/test_warnings.py"),
    ("results/findings/contests.py", "row is not None and row.rankable]", "row is not None]", "results"),
    ("units.py", '("MiB", 1 << 20)', '("MiB", 1 << 10)', "test_units.py"),
    (
        "runner/interrupts.py",
        "        restore_handlers(former)\n        os.close(read_fd)",
        "        os.close(read_fd)",
        "runner",
    ),
    ("runner/process.py", "began_s + timeout_s", "began_s + 1e9", "runner/test_process.py"),
    ("results/types.py", "LEAST_EFFECT = 0.02", "LEAST_EFFECT = 0.0", "results/test_findings.py"),
    (
        "stats/quantiles.py",
        "return high - (high - low) * (1 - weight) if weight >= 0.5 else low + (high - low) * weight",
        "return low",
        "stats/test_quantiles.py",
    ),
    ("stats/rank_sum.py", "+ n * (n + 1)", "+ n * (n - 1)", "stats/test_rank_sum.py"),
    ("runfile/writer.py", "                _read_back(new.temporary)\n", "", "runfile/test_writer.py"),
    ("model/fitting.py", "_knots(observations)[: None if caches_are_hot else 1]", "_knots(observations)", "model"),
    ("model/predictor.py", "model.scatter, scale.spread, unseen)", "scale.spread, unseen)", "model"),
    ("model/terms.py", "features.anon_pages + features.swapped_pages", "features.anon_pages", "model prediction"),
    ("model/turns.py", "turns[name, state] += 1", "pass", "model"),
    ("prediction/judge.py", "if machine.is_rough or not is_old(machine.calibration):", "if True:", "prediction"),
    ("fleet/unpickling.py", "if kind is None:", "if False:", "fleet"),
    (
        "fleet/store.py",
        "if self.status_of(name) is not None:\n            return False\n        temporary",
        "temporary",
        "dataset fleet",
    ),
)


def noticed(file: Path, old: str, new: str, tests: str) -> str:
    """Give the first test that fails, or nothing."""
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(old, new), encoding="utf-8")
    try:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-qx",
            "-o",
            "timeout=60",
            "-m",
            "not real",
            *(f"tests/{name}" for name in tests.split()),
        ]
        ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    finally:
        file.write_text(text, encoding="utf-8")
    if ended.returncode not in (0, 1):
        raise SystemExit(ended.stdout + ended.stderr)
    return next((line.split()[1] for line in ended.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))), "")


def main() -> int:
    """Print a line a mutation; 1 if one was not noticed."""
    stale = [name for name, old, _, _ in MUTATIONS if (PACKAGE / name).read_text(encoding="utf-8").count(old) != 1]
    if stale:
        raise SystemExit(f"what is to be broken does not stand there once: {', '.join(stale)}")
    unnoticed = 0
    for name, old, new, tests in MUTATIONS:
        if sys.argv[1:] and not any(word in name + old for word in sys.argv[1:]):
            continue
        test = noticed(PACKAGE / name, old, new, tests)
        unnoticed += not test
        change = f"{old.strip()!r} -> {new.strip()!r}"
        print(f"{'noticed' if test else 'NOT NOTICED'}: {name}: {change}: {test or tests}", flush=True)
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
