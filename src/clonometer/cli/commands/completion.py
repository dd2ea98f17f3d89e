"""``clonometer completion``: the script that completes commands, options and names in a shell."""

from __future__ import annotations

import os
from pathlib import Path

import rich_click as click

from clonometer.cli.options import examples
from clonometer.errors import UsageError

SHELLS = ("bash", "zsh", "fish")

#: Its place in the list of commands.
ORDER = 240

_EXAMPLES = examples(
    "source <(clonometer completion bash)",
    "clonometer completion fish > ~/.config/fish/completions/clonometer.fish",
)
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
def command(shell: str | None) -> None:
    """Print the completion script for a shell; by default for the one in $SHELL.

    It completes commands, options, workloads, axes and their values, plans, pictures, stages, studies and demos.
    """
    from click.shell_completion import get_completion_class

    from clonometer.cli.group import app

    name = shell or Path(os.environ.get("SHELL", "")).name
    kind = get_completion_class(name) if name in SHELLS else None
    if kind is None:
        raise UsageError(f"no completion for the shell {name!r}", f"there is one for {', '.join(SHELLS)}")
    # The template only: click's own source() starts bash to see its version, and complains where there is
    # none.
    completion = kind(app, {}, "clonometer", "_CLONOMETER_COMPLETE")
    template = _BASH if name == "bash" else completion.source_template
    click.echo(template % completion.source_vars())
