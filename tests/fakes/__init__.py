"""Stand-ins for measured things: a driver that answers at once, with chosen samples and chosen faults."""

from __future__ import annotations

from pathlib import Path

FAKE_DRIVER = Path(__file__).with_name("fake_driver.py")
INVENTED_DRIVER = Path(__file__).with_name("invented_driver.py")
HASTY = Path(__file__).parent / "hasty.py"
