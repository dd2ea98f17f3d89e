"""What all tests share: examples that a test makes up are the same in every run, so that no run is red by luck.

``HYPOTHESIS_PROFILE=search pytest`` makes up others, and more of them where a test does not say how many.
"""

from __future__ import annotations

import os
import signal

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("search", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# A shell's background job ignores these, and so would all that the tests start and want to interrupt.
for interrupting in (signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(interrupting) is signal.SIG_IGN:
        signal.signal(interrupting, signal.default_int_handler if interrupting is signal.SIGINT else signal.SIG_DFL)
