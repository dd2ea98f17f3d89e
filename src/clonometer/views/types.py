"""What pictures are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: A part of a Vega-Lite specification.
Spec = dict[str, Any]
#: A row of its data.
Datum = Mapping[str, Any]
