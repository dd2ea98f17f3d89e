"""What the package offers at its root, written into src/clonometer/__init__.py: ``python -m tools.offered FILE``.

That is what the modules of `clonometer.app` name in ``__all__``. A type checker must see it without running anything,
and importing the package must import none of it: so it is written down. A test fails while the file is not current.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import clonometer.app

_WIDTH = 120


def offered() -> dict[str, list[str]]:
    """The names that each module offers, by module."""
    modules = [f"{clonometer.app.__name__}.{module.name}" for module in iter_modules(clonometer.app.__path__)]
    names = {module: list(getattr(import_module(module), "__all__", ())) for module in modules}
    return {module: sorted(each) for module, each in names.items() if each}


def current(text: str) -> str:
    """Write what is offered into the text of the file; all else stays."""
    lives_in = {name: module for module, names in offered().items() for name in names}
    imports = [f"    from {module} import {', '.join(names)}" for module, names in offered().items()]
    assert max(map(len, imports)) <= _WIDTH
    text = _between(text, "    from typing import Any\n\n", "\n__all__", imports)
    listed = [f'    "{name}",' for name in sorted([*lives_in, "__version__"])]
    text = _between(text, "__all__ = [\n", "]", listed)
    entries = [f'    "{name}": "{module}",' for name, module in sorted(lives_in.items())]
    return _between(text, "_LIVES_IN = {\n", "}", entries)


def _between(text: str, begin: str, end: str, lines: Iterable[str]) -> str:
    inside = "".join(f"{line}\n" for line in lines)
    made, count = re.subn(f"({re.escape(begin)}).*?({re.escape(end)})", rf"\g<1>{inside}\g<2>", text, flags=re.DOTALL)
    assert count == 1, begin
    return made


def main() -> int:
    """Write the file that is named."""
    path = Path(sys.argv[1])
    path.write_text(current(path.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
