"""What all tests share: examples that a test makes up are the same in every run, so that no run is red by luck.

``HYPOTHESIS_PROFILE=search pytest`` makes up others, and more of them where a test does not say how many.
"""

from __future__ import annotations

import os

from hypothesis import settings

from tests.dispositions import hear_signals

settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("search", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

hear_signals()
