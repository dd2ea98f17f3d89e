"""Lines of programs in many languages: each is named, the program notices nothing, and without hooks none is named."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.integration.census import can_trace, run, watched
from tests.integration.test_census import attached

from clonometer.runner.drivers import bin_folder
from clonometer.runner.hooks import hooks_set

pytestmark = pytest.mark.real


@dataclass(frozen=True)
class Planted:
    """A program: each line that makes a task ends with a comment of the API that is expected to be named there."""

    program: str
    suffix: str
    source: str
    comment: str = "# "
    status: int = 0
    words: tuple[str, ...] = ()

    def expected(self) -> dict[int, str]:
        marked = (line.rpartition(f"  {self.comment}") for line in self.source.splitlines())
        return {number: api for number, (line, _, api) in enumerate(marked, 1) if line}


RUBY = """\
require 'open3'
def plain
  system('exit 3')  # Kernel.system
  p $?.exitstatus
end
def shell
  p `echo of the shell`  # Kernel.`
end
plain
shell
Thread.new { p 5 }.join  # Thread.new
Process.wait(fork { exit!(4) })  # Process.fork
p $?.exitstatus
p Open3.capture2('cat', stdin_data: 'through cat')[0]  # open3.capture2
IO.popen(%w[echo popen]) { |stream| p stream.read }  # IO.popen
Process.wait(spawn({ 'A' => '1' }, 'echo $A', out: :err))  # Kernel.spawn
begin
  spawn('./no/such')  # Kernel.spawn
rescue SystemCallError => error
  puts error.backtrace, error.message
end
p $stdout.fileno, IO.sysopen('/dev/null')
Process.wait(fork { raise 'in a child' })  # Process.fork
system('./no/such', exception: true)  # Kernel.system
"""
PERL = """\
use strict; use warnings; use IPC::Open3;
sub plain {
    system('true', 'plain');  # system
    print $? >> 8, "\\n";
}
plain();
print `echo of the shell; exit 2`;  # readpipe
print $? >> 8, "\\n";
my $child = fork();  # fork
if (!$child) { warn 'in a child'; exit 4 }
waitpid $child, 0;
open(my $pipe, '-|', 'echo', 'piped') or die; print <$pipe>; close $pipe;  # open
$child = open3(my $in, my $out, undef, 'cat');  # IPC::Open3::open3
print $in "through cat\\n"; close $in; print <$out>; waitpid $child, 0;
system { '/bin/echo' } 'echo', 'indirect';  # system
system('./no/such'); print "$!\\n";  # system
eval { local $SIG{ALRM} = sub { die "in time\\n" }; alarm 1; sleep 5; }; print $@;
print scalar(grep { /hooks/ } @INC), "\\n";
warn 'at the end';
exit 7;
"""
BASH = """\
echo "$_ $? $- $LINENO $#"
plain() {
  /bin/true  # fork
  echo $(echo substituted)  # fork
}
plain
ls /bin/true | wc -l  # fork
(exit 3)  # fork
echo $?
/bin/true & wait  # fork
cat <(echo substituted)  # fork
echo "$_"
enable | grep -c clonometer  # fork
compgen -v | grep -vi clonometer | grep -c calls  # fork
set -e
./no/such  # fork
"""
MAKE = """\
X := $(shell echo at the beginning)  # $(shell)
all: first second
\t@echo all '$(X)' '$(MAKE_RESTARTS)' '[$(MAKEFILE_LIST)]' '[$(IFS)]'; env | grep -c ^IFS || :  # recipe
\t@$(MAKE) -s -f $(firstword $(MAKEFILE_LIST)) below  # recipe
\t@./no/such  # recipe
first:
\t@echo first  # recipe
\t@echo $(shell echo second)  # recipe
second: ; @true  # recipe
below: ; @echo $(MAKELEVEL) '[$(MAKEFILE_LIST)]'  # recipe
%: ; @echo a rule for anything makes $@
export
"""
PHP = """\
<?php
function plain() {
    exec('echo of the shell', $lines);  // exec
    print_r($lines);
}
plain();
echo `echo backticks`;  // shell_exec
array_map(fn($word) => system("echo $word"), ['one', 'two']);  // system
$process = proc_open(['true'], [], $pipes);  // proc_open
proc_close($process);
$stream = popen('echo popen', 'r'); echo fgets($stream); pclose($stream);  // popen
print_r(get_loaded_extensions(true));
echo ini_get('zend_extension'), "\\n";
exit(6);
"""
PROGRAMS = {
    "php": Planted("php", ".php", PHP, comment="// ", status=6),
    "ruby": Planted("ruby", ".rb", RUBY, status=1),
    "perl": Planted("perl", ".pl", PERL, status=7),
    "bash": Planted("bash", ".sh", BASH, status=127),
    "make": Planted("make", ".mk", MAKE, words=("-j2", "-f"), status=2),
}


def planted(name: str, tmp_path: Path) -> tuple[Planted, list[str]]:
    program = PROGRAMS[name]
    path = shutil.which(program.program)
    if path is None:
        pytest.skip(f"{program.program} is not installed")
    script = tmp_path / f"planted{program.suffix}"
    script.write_text(program.source)
    return program, [str(Path(path).resolve()), *program.words, str(script)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_line_that_makes_a_task_is_named(seen_by: str, name: str, tmp_path: Path) -> None:
    program, command = planted(name, tmp_path)
    ended = run("--how", seen_by, "--json", "--", *command)
    assert ended.returncode == program.status, ended.stderr
    answer = json.loads(ended.stdout)
    spoken = [site for site in answer["sites"] if site["language"] is not None]
    assert {site["where"]["line"]: site["api"] for site in spoken} == program.expected()
    assert {site["where"]["file"] for site in spoken} == {command[-1]}
    assert {site["language"]["runtime"] for site in spoken} == {name}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_writes_and_ends_as_without_a_census(name: str, tmp_path: Path) -> None:
    program, command = planted(name, tmp_path)
    bare = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert bare.returncode == program.status, bare.stderr
    seen = run("--no-advice", "--out", str(tmp_path / "census.json"), "--", *command)
    assert seen.returncode == bare.returncode
    assert seen.stdout.startswith(bare.stdout)
    assert seen.stderr == bare.stderr


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_hooks_no_line_is_named(name: str, tmp_path: Path) -> None:
    _, command = planted(name, tmp_path)
    answer = json.loads(run("--no-hooks", "--json", "--", *command).stdout)
    assert answer["tasks_created"] > 0
    assert [site["language"] for site in answer["sites"] if site["language"] is not None] == []


#: What a hook could disturb. A program that is not here fails in both ways alike.
UNDISTURBED = {
    "bash, its options": "shopt; set -o; alias; enable | grep clonometer; echo $-; echo $_",
    "bash, traced": "bash -eux -c 'f() { /bin/true; }; f; echo $(echo x)'",
    "bash, its arrays": "f() { local BASH_SOURCE=x FUNCNAME; /bin/true; }; f; unset FUNCNAME BASH_LINENO; /bin/true",
    "bash, a trap": "trap 'echo $LINENO' DEBUG; /bin/true; (exit 2)",
    "bash, no descriptors": "ulimit -n 5; /bin/true; echo done",
    "bash, a coprocess": "coproc cat; echo hi >&${COPROC[1]}; exec {COPROC[1]}>&-; cat <&${COPROC[0]}",
    "bash, restricted": "bash -r -c '/bin/true; cd /; echo $?'; bash --posix -c '/bin/true; echo $?'",
    "make, built-in rules": r"printf 'all: x.o\nx.c: ; echo int x\\;>x.c\n' >m; make -f m; make -rf m; rm x.[co]",
    "make, all anew": r"printf '$(info [$(MAKE_RESTARTS)])\nx: ; @echo $(MAKEFILE_LIST)\n' >m; make -Bf m; make -qf m",
    "make, any rule": r"printf '%%.so: %%.x ; @echo $@\n.DEFAULT: ; @echo default $@\n' >m; make -f m no; make -f m",
    "make, another shell": r"printf '.ONESHELL:\n.SHELLFLAGS=-ec\na:\n\t@x=1\n\techo $$x\n' >m; make -f m",
    "make, its IFS": r"""printf 'IFS=:\nall: ; @echo "$(IFS)"\n' >m; make -f m""",
    "perl, warnings": "perl -W -e 'print `echo W`'; perl -T -e 'print 1'; perl -we 'print __LINE__; system q(./none)'",
    "perl, threads": "perl -Mthreads -e 'threads->create(sub { print `echo in a thread` })->join'",
    "perl, a library": r"perl -MIPC::Cmd=run -e 'print scalar run(command => [qw(echo hi)], buffer => \my $b), $b'",
    "ruby, methods": "ruby -W2 -e 'p `echo x`, method(:system).arity, Object.constants.size, global_variables.size'",
    "ruby, a method of that name": """ruby -e 'def system(x) = p("mine"); system 1; Kernel.system("echo theirs")'""",
    "ruby, a daemon": "ruby --disable=gems -e 'Process.daemon(true, true); puts `echo d`' | cat",
    "ruby, a signal": """ruby -e 'trap(:CHLD) { print "c" }; system("true"); sleep 0.1; system(7)'""",
    "php, its lists": "php -v; php -m; php -n -r 'echo `echo n`;'",
    "bash, a limit of files": "ulimit -f 1; for i in {1..60}; do /bin/true; done; echo done",
    "make, a limit of files": r"ulimit -f 1; (echo all:; yes $'\t@true' | head -60) >m; make -f m; echo $?",
    "perl, a limit of files": "ulimit -f 1; perl -e 'system(q(true)) for 1 .. 60; print qq(done)'",
    "ruby, a limit of files": "ulimit -f 1; ruby -e '60.times { system(%q(true)) }; puts :done'",
    "php, a limit of files": """ulimit -f 1; php -r 'for ($i = 0; $i < 60; $i++) exec("true"); echo "done";'""",
    "bash, a trace of its own": "BASH_XTRACEFD=7 bash -xc '/bin/true; echo $_ $?' 7>trace; cat trace",
    "bash, its words": "echo 'echo ${BASH_ARGC[@]} ${BASH_ARGV[@]} $_' >s; bash s 1 2; bash -c 'declare -p BASH_ARGC'",
    "make, the text of IFS": r"""printf 'all: ; @echo [ $(value IFS) ]\n' >m; make -f m""",
    "perl, its own source": "perl -MO=Deparse -e 'BEGIN { $x = 1 } use strict; print $x'",
    "ruby, a Ractor": "ruby -W0 -e 'p Ractor.new { [system(%q(true)), `echo x`, Thread.new { 5 }.value] }.take'",
    "ruby, what it raises": "ruby -e 'begin; spawn(%q(./no)); rescue => e; puts e.full_message; end; spawn(%q(./no))'",
    "ruby, in blocks": "ruby -e 'p catch(:x) { IO.popen(%q(true)) { throw :x, 4 } }; fork { exit 3 }; Process.wait'",
    "ruby, words by name": "ruby -e 'p system({%q(A) => %q(1)}, %q(echo $A; exit 3), out: :err, exception: false)'",
    "node, its stacks": "node -e 'try { require(`child_process`).spawnSync(7) } catch (e) { console.log(e.stack) }'",
    "node, what stacks are made by": (
        "node -p 'delete Error.stackTraceLimit; require(`child_process`).spawnSync(`true`); Object.keys(Error)'"
    ),
    "node, uncaught": "node -e 'require(`child_process`).execFileSync(7)'",
    "node, its functions": "node -p 'Object.entries(require(`child_process`)).map(String).join()'",
    "node, in a worker": (
        "node -e 'new (require(`worker_threads`).Worker)("
        '`require("child_process").execSync("echo w >&2")`, {eval: true})\''
    ),
    "node, deprecated": "node --pending-deprecation -p '[process.noDeprecation, Object.keys(process).length]'",
    "node, permission": (
        "echo 'console.log(7)' >ok.js;"
        "node --experimental-permission --allow-fs-read=$PWD/ok.js ok.js 2>&1 | sed 's/(node.*//'"
    ),
    "python, its audit hook": "python3 -c 'import sys, os; sys.addaudithook(print); os.system(str(1))'",
    "python, its modules": "python3 -c 'import sys, _thread; print(_thread.start_new_thread, sys.path)'",
    "python, no sitecustomize": f"{sys.executable} -c 'import sitecustomize'",
    "python, a name of bytes": r"""f=$(printf 'a\377'); echo 'import os; os.system("echo x")' >"$f"; python3 "$f" """,
}


@pytest.mark.parametrize("words", UNDISTURBED.values(), ids=UNDISTURBED.keys())
def test_hooks_disturb_nothing(words: str, tmp_path: Path) -> None:
    bare = dict(os.environ)
    with hooks_set(wanted=True, command=["bash", "-c", words]) as hooks:
        sides = [
            subprocess.run(
                ["bash", "-c", words], env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=60
            )
            for variables in (bare, hooks.environment(bare))
        ]
    first, second = [(ended.returncode, ended.stdout, ended.stderr) for ended in sides]
    assert first == second


#: A filter of system calls (seccomp(2)) that kills whoever asks for a socket, as sandboxes of programs have it.
NO_SOCKETS = """\
import ctypes, platform
number = {"x86_64": 41, "aarch64": 198}[platform.machine()]
class Step(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("true", ctypes.c_ubyte), ("false", ctypes.c_ubyte), ("k", ctypes.c_uint)]
class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("steps", ctypes.POINTER(Step))]
steps = (Step * 4)(Step(0x20, 0, 0, 0), Step(0x15, 0, 1, number), Step(6, 0, 0, 0x80000000), Step(6, 0, 0, 0x7FFF0000))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(Program(4, steps))) == 0
"""


def test_a_program_that_forbids_itself_sockets_is_not_killed(tmp_path: Path) -> None:
    script = tmp_path / "sandboxed.py"
    script.write_text(f"{NO_SOCKETS}import os\nos.system('echo shell')\n")
    bare = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    if bare.returncode != 0:
        pytest.skip("a program may not filter its system calls here")
    assert run("--json", "--", sys.executable, str(script)).stderr == bare.stdout == "shell\n"


def test_hostile_names_are_no_frames(tmp_path: Path) -> None:
    """A line of the file of calls that a name forges would lend its frames to a task."""
    name = "a\tb\nbash\t1\t1\tprocess\tfork\tP\x1fmain\x1f/etc/forged\x1f7"
    script = tmp_path / name.replace("/", "_")
    script.write_text("/bin/true\n:\n")
    answer = json.loads(run("--json", "--", "bash", str(script)).stdout)
    (site,) = [site for site in answer["sites"] if site["language"] is not None]
    assert (site["where"]["line"], len(site["language"]["frames"])) == (1, 1)
    assert site["where"]["file"].startswith(f"{tmp_path}/a b bash 1 1 process")


def test_a_library_that_cannot_be_read_harms_nobody(tmp_path: Path) -> None:
    source = "echo $(echo shell)\nperl -e 'print `echo perl`'\necho 'x: ; @echo make' | make -f -\n"
    words = ["--json", "--", "env", f"CLONOMETER_LIBRARY={tmp_path}/none", "bash", "-c", source]
    # A make that make has started says which folder it enters.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    seen = run(*words, env=environment)
    assert (seen.returncode, seen.stderr) == (0, "shell\nperl\nmake\n")


JAVA = """\
class Planted {
    static void plain() throws Exception {
        new ProcessBuilder("true").start().waitFor();  // java.lang.ProcessBuilder.start
    }
    public static void main(String[] words) throws Exception {
        plain();
        Runtime.getRuntime().exec(new String[] {"true"}).waitFor();  // java.lang.Runtime.exec
        Thread started = new Thread(() -> System.out.println("in a thread"));
        started.start();  // java.lang.Thread.start
        started.join();
        System.exit(5);
    }
}
"""


def test_lines_of_java_are_named_where_the_user_asks_for_it(seen_by: str, tmp_path: Path) -> None:
    if shutil.which("java") is None or shutil.which("javac") is None:
        pytest.skip("no JDK is installed")
    program = Planted("java", ".java", JAVA, comment="// ")
    (tmp_path / "Planted.java").write_text(JAVA)
    subprocess.run(["javac", "Planted.java"], cwd=tmp_path, check=True, timeout=120)
    words = ["--no-advice", "--how", seen_by, "--", "java", "-cp", str(tmp_path), "Planted"]
    flag = f"-agentpath:{bin_folder()}/clonometer_calls.so"
    assert f"JAVA_TOOL_OPTIONS={flag}namesthoseofJava" in "".join(run(*words).stdout.split())
    environment = {**os.environ, "JAVA_TOOL_OPTIONS": flag}
    ended = run("--json", *words, env=environment)
    assert ended.returncode == 5
    assert ended.stderr == f"Picked up JAVA_TOOL_OPTIONS: {flag}\nin a thread\n"
    spoken = [site for site in json.loads(ended.stdout)["sites"] if site["language"] is not None]
    ours = {site["where"]["line"]: site for site in spoken if site["where"]["file"] == "Planted.java"}
    # A process comes with a thread that waits for it.
    assert {line: site["api"] for line, site in ours.items()} == program.expected()
    assert {site["language"]["runtime"] for site in spoken} == {"java"}
    seen = run("--no-hooks", "--json", *words, env=environment)
    assert [site["language"] for site in json.loads(seen.stdout)["sites"] if site["language"] is not None] == []


def test_php_keeps_the_settings_that_it_had(tmp_path: Path) -> None:
    if shutil.which("php") is None:
        pytest.skip("php is not installed")
    (tmp_path / "theirs.ini").write_text("precision = 5\n")
    source = "echo ini_get('precision'), ' ', `echo ran`, extension_loaded('posix');"
    for folders in (f":{tmp_path}", str(tmp_path), "", None):
        environment = {name: value for name, value in os.environ.items() if name != "PHP_INI_SCAN_DIR"}
        environment |= {} if folders is None else {"PHP_INI_SCAN_DIR": folders}
        bare = subprocess.run(["php", "-r", source], capture_output=True, text=True, env=environment, check=True)
        seen = run("--json", "--", "php", "-r", source, env=environment)
        assert seen.stderr == bare.stdout
        assert [site["language"]["event"] for site in json.loads(seen.stdout)["sites"]] == ["shell_exec"]


PERF = "import sys; sys.exit(not sys.is_stack_trampoline_active())"


def test_functions_of_a_running_python_are_named_where_it_names_them_for_perf(tmp_path: Path) -> None:
    if not can_trace():
        pytest.skip("a running process is watched by tracepoints")
    present = filter(None, map(shutil.which, ("python3.14", "python3.13", "python3.12")))
    able = (
        path
        for path in present
        if subprocess.run([path, "-X", "perf", "-c", PERF], capture_output=True).returncode == 0
    )
    python = next(able, None)
    if python is None:
        pytest.skip("no Python here can name its functions for perf")
    script = tmp_path / "forks.py"
    script.write_text(
        "import os\ndef forks():\n    if os.fork() == 0: os._exit(0)\n    os.wait()\n"
        "while input():\n    forks()\n    print()\n"
    )
    words = [python, "-u", "-X", "perf", str(script)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        stdin, stdout = running.stdin, running.stdout

        def work() -> None:
            for _ in range(3):
                stdin.write("x\n")
                stdin.flush()
                stdout.readline()

        answer = watched(running.pid, attached, work)
        running.kill()
    Path(f"/tmp/perf-{running.pid}.map").unlink(missing_ok=True)
    places = {(site["where"]["function"], site["where"]["file"], site["where"]["line"]) for site in answer["sites"]}
    assert places == {("forks", str(script), None)}


def test_ruby_keeps_the_options_that_it_had(tmp_path: Path) -> None:
    if shutil.which("ruby") is None:
        pytest.skip("ruby is not installed")
    (tmp_path / "theirs.rb").write_text("$theirs = 'was required'\n")
    environment = {**os.environ, "RUBYOPT": f"-w -r{tmp_path}/theirs.rb"}
    source = "p $theirs, $VERBOSE, $LOADED_FEATURES.grep(/theirs/).size"
    bare = subprocess.run(["ruby", "-e", source], capture_output=True, text=True, env=environment, check=True)
    seen = run("--json", "--", "ruby", "-e", source, env=environment)
    assert "was required" in bare.stdout
    assert seen.stderr == bare.stdout
