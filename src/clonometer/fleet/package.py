"""The installed package as bytes, to be brought to hosts that lack it, and what tells two of them apart."""

from __future__ import annotations

import hashlib
import io
import zipfile
from importlib.util import find_spec
from pathlib import Path

from clonometer.runner.drivers import MEASURING, bin_folder, executables


def drivers_digest() -> str:
    """Tell builds apart by their drivers and the programs that those start: hex digits of SHA-256."""
    digest = hashlib.sha256()
    for path in executables(bin_folder(), MEASURING):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def packed() -> bytes:
    """Pack the package and its executables as a zip, such as a wheel is."""
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:
        # The package itself is not imported: what it offers lies above.
        spec = find_spec("clonometer")
        for place in map(Path, (spec and spec.submodule_search_locations) or ()):
            for path in sorted(place.rglob("*")):
                inside = path.relative_to(place)
                if path.is_file() and path.suffix != ".pyc" and inside.parts[0] != "_bin":
                    archive.write(path, Path("clonometer", inside))
        for path in executables(bin_folder()):
            archive.write(path, Path("clonometer", "_bin", path.name))
    return kept.getvalue()
