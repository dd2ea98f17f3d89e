"""Which programs come from a package: who runs them cannot change how these launch."""

from __future__ import annotations

import re

#: Where package managers put files: of the system (not /usr/local, where people put their own), and of languages.
_PACKAGED = re.compile(
    r"/(?:usr/(?!local/|src/)|bin/|sbin/|lib(?:32|64|x32)?/|gnu/store/|nix/store/|snap/|var/lib/flatpak/)"
    r"|.*/(?:site-packages|dist-packages|node_modules|gems|linuxbrew)/"
    r"|.*/\.(?:asdf|cargo|nvm|pyenv|rbenv|rustup|sdkman|vscode-server)/"
)


def is_packaged(path: str) -> bool:
    """Whether a file is where package managers put theirs.

    Examples
    --------
    >>> is_packaged("/usr/bin/git"), is_packaged("/usr/local/bin/deploy"), is_packaged("/home/me/build.sh")
    (True, False, False)
    """
    return _PACKAGED.match(path) is not None
