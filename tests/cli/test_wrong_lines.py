"""Command lines that people get wrong: each ends with a status of its own, says with what, and gives the next step."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from tests.cli.conftest import CommandLine

from clonometer.cli.ending import run_to_the_end

FROZEN = Path(__file__).parents[1] / "data" / "schema1.parquet"
Captured = pytest.CaptureFixture[str]

#: The command line, its status, and what its two lines must say.
WRONG = (
    # Names that do not exist, with the nearest.
    ("rnu", 2, ["unknown command 'rnu'", "did you mean 'run'"]),
    ("quick", 2, ["unknown command 'quick'", "clonometer run --plan quick"]),
    ("fork", 2, ["unknown command 'fork'", "clonometer run fork"]),
    ("run.parquet", 2, ["unknown command", "clonometer show run.parquet"]),
    ("sh", 2, ["unknown command 'sh'", "clonometer census -- sh"]),
    ("run frok", 2, ["unknown workload 'frok'", "did you mean 'launch.fork'"]),
    ("run quick", 2, ["quick is a plan, not a workload", "clonometer run --plan quick"]),
    ("explain quick", 2, ["quick is a plan, not a mechanism", "clonometer run --plan quick"]),
    ("ab quick --b pages=clean", 2, ["quick is a plan, not a workload", "clonometer run --plan quick"]),
    ("run --plan defualt", 2, ["unknown plan 'defualt'", "did you mean 'default'"]),
    ("noise --plan defualt", 2, ["unknown plan 'defualt'", "did you mean 'default'"]),
    ("run fork --set parent_byte=1", 2, ["'parent_byte'", "did you mean 'parent_bytes'"]),
    ("run fork --set pages=cleen", 2, ["unknown value of pages", "did you mean 'clean'"]),
    ("run fork --only nothing", 2, ["unknown cell 'nothing'", "available: launch.fork"]),
    ("show run.parquet --only nothing", 2, ["unknown cell 'nothing'", "launch.fork"]),
    ("explain fork --tier x", 2, ["unknown tier 'x'", "stamps"]),
    ("export run.parquet --format xml", 2, ["unknown export format 'xml'", "csv"]),
    ("plot run.parquet --kind pie -o x.png", 2, ["unknown picture 'pie'", "overview"]),
    ("list parent_byte", 2, ["unknown name 'parent_byte'", "did you mean 'parent_bytes'"]),
    # Options of other tools, and mistyped ones.
    ("run fork --runs 10", 2, ["no option --runs", "--budget 30s"]),
    ("run fork -n 10", 2, ["no option -n", "--target-width"]),
    ("run fork --export-json x", 2, ["no option --export-json", "--json > FILE"]),
    ("run fork --jsn", 2, ["unknown option '--jsn'", "did you mean '--json'"]),
    ("list --all", 2, ["no option --all", "--wide shows everything"]),
    ("noise --budget 3s", 2, ["no option --budget", "--rounds"]),
    ("doctor --selftest", 2, ["unknown option", "did you mean '--self-test'"]),
    # Values.
    ("run fork --budget 0", 2, ["'0': a time must be greater than 0", "--budget 30s"]),
    ("run fork --budget 5x", 2, ["'5x' is not a time", "10, 500ms, 10s or 2m"]),
    ("run fork --set parent_bytes", 2, ["is not a setting", "parent_bytes=0,64MiB"]),
    ("run fork --set parent_bytes=x", 2, ["takes a size such as 4096, 64KiB or 2MiB"]),
    ("compare run.parquet other.parquet --noise abc", 2, ["--noise abc is not a share", "--noise 1%"]),
    ("explain fork --vs", 2, ["'--vs' requires an argument", "for example: clonometer explain launch.fork"]),
    # Arguments that are missing, with an example.
    ("show", 2, ["missing argument 'RUN'", "for example: clonometer show clonometer-run.parquet"]),
    ("check run.parquet", 2, ["missing option '--baseline'", "for example: clonometer check run.parquet --baseline"]),
    ("export run.parquet", 2, ["missing option '--format'", "--format csv"]),
    ("explain", 2, ["missing argument 'MECHANISM'", "clonometer explain launch.fork"]),
    ("compare run.parquet", 2, ["compare needs two runs", "clonometer compare before.parquet after.parquet"]),
    ("ab fork", 2, ["the two sides do not differ", "--b linkage="]),
    ("census --all --pid 1", 2, ["and only one of them"]),
    ("census --all --until-all-end", 2, ["a service does not end", "Ctrl-C"]),
    ("census --openmetrics x.prom -- true", 2, ["counts by service", "--service UNIT or --all"]),
    ("census", 2, ["a census needs a command, --pid, --service or --all", "clonometer census -- COMMAND"]),
    # Files.
    ("show runn.parquet", 2, ["cannot read runn.parquet", "did you mean run.parquet"]),
    ("show notes.txt", 2, ["notes.txt is not a Parquet file", "clonometer run"]),
    ("recover run.parquet", 2, ["is a run file, not the .raw file"]),
    ("report run.parquet -o x.pdf", 2, ["x.pdf is a page", "x.html"]),
    ("plot run.parquet -o x.jpg", 2, ["x.jpg must end in", "x.svg"]),
    ("run fork --out /nonexistent/x.parquet", 2, ["/nonexistent does not exist", "mkdir -p /nonexistent"]),
    # What is there stays there.
    ("run fork --out run.parquet", 2, ["run.parquet exists", "name another file"]),
    ("export run.parquet --format csv -o run.parquet --force", 2, ["run.parquet is an input of this command"]),
    ("report run.parquet -o run.parquet --force", 2, ["run.parquet is an input of this command"]),
    # What was asked for by name and gave nothing.
    ("run launch.absent", 4, ["needs Linux 9.9", "no file was written"]),
)


@pytest.fixture
def inside(clonometer: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The current process stands where ``clonometer`` would run, with a few files."""
    for name, value in clonometer.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(clonometer.folder)
    return clonometer


def files() -> dict[str, bytes]:
    kept = (path for path in Path().iterdir() if path.is_file() and path.name != "starts.log")
    return {path.name: path.read_bytes() for path in kept}


def test_a_wrong_command_line_says_what_was_wrong_and_the_next_step(inside: CommandLine, capsys: Captured) -> None:
    for name in ("run.parquet", "other.parquet"):
        shutil.copyfile(FROZEN, name)
    Path("notes.txt").write_text("notes")
    before = files()
    for line, status, expected in WRONG:
        ended = run_to_the_end(shlex.split(line))
        captured = capsys.readouterr()
        assert ended == status, (line, captured.err)
        assert not captured.out, line
        for words in expected:
            assert words in captured.err, (line, captured.err)
        advice = captured.err.partition("\n  ")[2]
        assert advice.startswith("available: ") or "--force" not in advice, line
        assert files() == before, line
