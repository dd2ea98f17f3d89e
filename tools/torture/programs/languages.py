"""The languages: where their interpreters are, what stands beside their programs, and how fragments become one."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.torture.programs import Language, Way, parts

_WITHIN = str(Path(__file__).parent.parent / "within.py")
_VERSIONS = Path(os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))) / "versions"


def _shells() -> tuple[Language, ...]:
    posix, _ = parts("posix")
    bash, ways = parts("bash")
    files = {
        "theirs.sh": 'theirs=loaded\nfrom_theirs() { /bin/true; echo "from $theirs"; }\n',
        "tool.sh": '#!/bin/bash\necho "tool $# $0" "$@" >&2\n/bin/true\nexit 3\n',
    }
    alone = ("argument-arrays", "trace-descriptor", "last-argument", "names", "builtins")
    of_any_shell = [Way(), *(Way((f"-{letter}",)) for letter in "euxvnfa")]
    return (
        Language(
            "bash", {"bash": ("bash",)}, "program.sh", {**posix, **bash}, ways,
            whole={name: bash[name] for name in alone}, files=files, last=("one", "two three"), count=70,
        ),
        Language(
            "dash", {"dash": ("dash",)}, "program.sh", posix, of_any_shell, files=files, count=16
        ),
    )  # fmt: skip


def _make() -> Language:
    fragments, ways = parts("make")

    def joined(texts: Sequence[str]) -> str:
        # A fragment's target has its name; the first target is what make makes.
        names = [name for text in texts for name in fragments if fragments[name] == text]
        return f"all-of-it: {' '.join(names)}\n" + "\n".join(texts)

    files = {"theirs.mk": "theirs := loaded\ntheir-rule: ; @echo theirs\n"}
    return Language(
        "make", {"make": ("make",)}, "makefile", fragments, ways, join=joined, files=files, first=("-f",), count=60
    )


def _perl() -> Language:
    fragments, ways = parts("perl")

    def joined(texts: Sequence[str]) -> str:
        return "\n".join(text if "format STDOUT" in text else f"{{\n{text}\n}}" for text in texts)

    files = {"Theirs.pm": "package Theirs; print qq{theirs\\n}; END { print qq{theirs ends\\n} } 1;\n"}
    whole = {name: fragments[name] for name in ("modules", "endings", "timeouts", "file-limit")}
    return Language(
        "perl", {"perl": ("perl",)}, "program.pl", fragments, ways, whole, joined, files, last=("one", "-two"), count=50
    )


def _python() -> tuple[Language, ...]:
    fragments, ways = parts("python")
    theirs = "import sys\nsys.theirs = 'was imported'\nprint('theirs')\n"
    files = {
        "theirs/sitecustomize.py": theirs,
        "theirs/usercustomize.py": "import sys\nsys.users = 'too'\n",
        "raising/sitecustomize.py": "raise ValueError('theirs')\n",
        "exiting/sitecustomize.py": "raise SystemExit(3)\n",
        "missing/sitecustomize.py": "import no_such_module\n",
        "package/sitecustomize/__init__.py": theirs,
    }
    installed = {f"python-{path.parent.parent.name}": (str(path),) for path in sorted(_VERSIONS.glob("*/bin/python"))}

    def joined(texts: Sequence[str]) -> str:
        return "from __future__ import print_function\n" + "\n".join(texts)

    # Counting has a thread and a process of its own; these list or change all that there are.
    within = (sys.executable, _WITHIN, "HOW")
    counted = {name: text for name, text in fragments.items() if "# of the whole process\n" not in text}
    return (
        Language(
            "python", {"python": ("/usr/bin/python3",), **installed}, "program.py", fragments, ways,
            {name: fragments[name] for name in ("timeouts", "audit")}, joined, files, count=110,
        ),
        Language(
            "python-within", {"block": within, "test": (*within, "--test")}, "program.py", counted, join=joined,
            count=24, within=True,
            # Whoever may not trace is told so.
            wrappers=("masked", "umask", "utf-8", "descriptors", "session", "job", "deaf", "childless", "nice"),
        ),
    )  # fmt: skip


def _node() -> Language:
    fragments, ways = parts("node")
    whole, _ = parts("node_whole")

    def joined(texts: Sequence[str]) -> str:
        steps = "\n".join(f"await (async () => {{\n{text}\n}})();" for text in texts)
        return f"(async () => {{\n{steps}\n}})();\n"

    files = {"theirs.js": "console.log('theirs');\n", "theirs.mjs": "console.log('theirs too');\n"}
    return Language(
        "node",
        {"node": ("node",)},
        "program.js",
        fragments,
        ways,
        whole,
        joined,
        files,
        last=("one", "--two"),
        count=58,
    )


def _ruby() -> Language:
    fragments, ways = parts("ruby")
    alone = ("ractors", "timeouts", "refined", "methods", "error-places", "callers", "file-limit")
    files = {"theirs.rb": "puts 'theirs'\nat_exit { puts 'theirs ends' }\n"}

    def joined(texts: Sequence[str]) -> str:
        return "$stdout.sync = true\n" + "\n".join(texts)

    whole = {name: fragments[name] for name in alone}
    return Language(
        "ruby",
        {"ruby": ("ruby",)},
        "program.rb",
        fragments,
        ways,
        whole,
        joined,
        files,
        last=("one", "--two"),
        count=58,
    )


def _php() -> Language:
    fragments, ways = parts("php")
    files = {"theirs/their.ini": "memory_limit=77M\n", "theirs.php": "<?php echo 'theirs', PHP_EOL;\n"}

    def joined(texts: Sequence[str]) -> str:
        return "<?php\n" + "\n".join(texts)

    whole = {name: f"<?php\n{fragments[name]}" for name in ("extensions", "errors", "limits")}
    return Language(
        "php", {"php": ("php",)}, "program.php", fragments, ways, whole, joined, files, last=("one", "two"), count=44
    )


def _compiled() -> tuple[Language, ...]:
    """One source has all fragments, and is told which of them to run."""
    c, _ = parts("c")
    c_head = c.pop("head")
    bodies = "".join(f"static int f_{name.replace('-', '_')}(void) {{\n{body}}}\n" for name, body in c.items())
    rows = "".join(f'    if (strcmp(name, "{name}") == 0) return f_{name.replace("-", "_")}();\n' for name in c)
    c_source = (
        f"{c_head}{bodies}static int choose(const char *name) {{\n{rows}    return 99;\n}}\n"
        "int main(int count, char **words) {\n    int status = 0;\n"
        "    for (int n = 1; n < count; n++) { status = choose(words[n]); fflush(stdout); }\n    return status;\n}\n"
    )
    go, go_ways = parts("go")
    go_head = go.pop("head")
    cases = "".join(f'case "{name}":\n{body}' for name, body in go.items())
    go_source = f"{go_head}func main() {{ for _, name := range os.Args[1:] {{ switch name {{\n{cases}}} }} }}\n"
    java, java_ways = parts("java")
    cases = "".join(f'case "{name}" -> {{\n{body}}}\n' for name, body in java.items())
    java_source = (
        "import java.util.*; import java.io.*;\n"
        "public class Program { public static void main(String[] words) throws Exception {\n"
        f"for (String name : words) switch (name) {{\n{cases}}} }} }}\n"
    )
    build = "gcc -w -O1 -pthread -o program program.c -lrt && gcc -w -O1 -static -pthread -o static program.c -lrt"
    names = {"c": ("./program",), "c-static": ("./static",)}
    jvm = {"java": ("java", "-XX:TieredStopAtLevel=1", "-cp", ".", "Program")}
    return (
        Language("c", names, "program.c", c, source=c_source, build=build, count=44),
        Language(
            "go", {"go": ("./program",)}, "program.go", go, go_ways, source=go_source,
            build="go build -o program program.go", count=6,
        ),
        Language("java", jvm, "Program.java", java, java_ways, source=java_source, build="javac Program.java", count=4),
    )  # fmt: skip


LANGUAGES = (*_shells(), _make(), _perl(), *_python(), _node(), _ruby(), _php(), *_compiled())
