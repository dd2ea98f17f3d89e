"""``clonometer completion``: the script that completes commands, options and names in a shell."""

from __future__ import annotations

import contextlib
import os
import pwd
from pathlib import Path

import rich_click as click

from clonometer.cli.options import examples, force_option
from clonometer.errors import InputError, UsageError
from clonometer.inputs import InputKind, read_text

SHELLS = ("bash", "zsh", "fish")

#: Its place in the list of commands.
ORDER = 240

_COMPLETION = InputKind("a script of completions", 1 << 20)
_EXAMPLES = examples(
    "source <(clonometer completion bash)",
    "clonometer completion --install",
    "clonometer completion zsh > /usr/local/share/zsh/site-functions/_clonometer",
)
#: Where each shell looks for a user's scripts, by the variable of XDG, what that is by default, and the file.
_PLACES = {
    "bash": ("XDG_DATA_HOME", ".local/share", "bash-completion/completions/clonometer"),
    "fish": ("XDG_CONFIG_HOME", ".config", "fish/completions/clonometer.fish"),
}
#: In the environment of a command that is asked for completions, and in each script.
_VARIABLE = "_CLONOMETER_COMPLETE"
# Click's own script for bash hands over the words as bash splits them, which it also does at = and :, and puts a space
# after `--set parent_bytes=`. Ours joins them, and answers with what follows the last of these.
_BASH = r"""%(complete_func)s() {
    local -a words=("${COMP_WORDS[0]}")
    local at word last=${COMP_WORDS[COMP_CWORD]} begun type value
    for ((at = 1; at <= COMP_CWORD; at++)); do
        word=${COMP_WORDS[at]}
        if ((at > 1)) && [[ $word == [=:]* || ${words[-1]} == *[=:] ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    [[ $last == [=:]* ]] && last=
    begun=${words[-1]%%"$last"}
    [[ $begun == -*=* ]] && begun=${begun#*=}
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain)
                COMPREPLY+=("${value#"$begun"}")
                [[ $value == *[=:] ]] && compopt -o nospace
                ;;
        esac
    done < <(
        IFS=$'\n'
        env COMP_WORDS="${words[*]}" COMP_CWORD=$((${#words[@]} - 1)) %(complete_var)s=bash_complete "$1"
    )
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


@click.command(name="completion", epilog=_EXAMPLES)
@click.argument("shell", type=click.Choice(SHELLS), required=False)
@click.option("--install", is_flag=True, help="Write it where the shell looks for it.")
@force_option
def command(shell: str | None, *, install: bool, force: bool) -> None:
    """Print the completion script for a shell; by default for the one in $SHELL.

    It completes commands, options, workloads, axes and their values, plans, pictures, stages, studies and demos. bash
    (with its package bash-completion) and fish read an installed script when TAB is first pressed.
    """
    name = shell or _users_shell()
    if name not in SHELLS:
        what = f"no completion for the shell {name!r}" if name else "$SHELL does not say which shell you use"
        raise UsageError(what, f"name one: {', '.join(SHELLS)}")
    if install:
        _install(name, force=force)
    else:
        click.echo(_script(name))


def _users_shell() -> str:
    """The file name of the user's shell: by $SHELL, or as the system knows the user where that is not set."""
    path = os.environ.get("SHELL", "")
    if not path:
        with contextlib.suppress(KeyError):
            path = pwd.getpwuid(os.getuid()).pw_shell
    return Path(path).name


def _install(shell: str, *, force: bool) -> None:
    if shell not in _PLACES:
        raise UsageError(
            f"{shell} has no folder for a user's completions",
            f"write it into a folder of $fpath: clonometer completion {shell} > FOLDER/_clonometer",
        )
    from clonometer.files import write_text
    from clonometer.runfile import check_output

    variable, default, name = _PLACES[shell]
    path = Path(os.environ.get(variable) or Path.home() / default) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    # One of an older version is ours to replace.
    check_output(path, force or _is_ours(path))
    write_text(path, _script(shell) + "\n")
    click.echo(f"Wrote {path}: new shells complete clonometer, if it is on the PATH.")


def _is_ours(path: Path) -> bool:
    try:
        return _VARIABLE in read_text(path, _COMPLETION)
    except InputError:
        return False


def _script(name: str) -> str:
    from click.shell_completion import get_completion_class

    from clonometer.cli.group import app

    kind = get_completion_class(name)
    assert kind is not None
    # The template only: click's own source() starts bash to see its version, and complains where there is
    # none.
    completion = kind(app, {}, "clonometer", _VARIABLE)
    template = _BASH if name == "bash" else completion.source_template
    return template % completion.source_vars()
