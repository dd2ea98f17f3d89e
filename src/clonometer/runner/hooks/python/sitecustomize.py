"""Notes which lines of a Python program make tasks, for `clonometer census`, which has put this folder on PYTHONPATH.

Any Python may start with this, Python 2 too: what it does not understand it leaves alone. The program's own module of
this name is imported after it, as if this one were not there. `clonometer.runner.hooks.within` imports it by its whole
name, and only uses its function.
"""

import os
import sys


def begin(library, *listeners):
    """Have the library of hooks note each task that is about to be made: for the census, or in a list of queues.

    It is no module of the program's, and stands in no list of them.
    """
    import _imp

    spec = type("Spec", (), {"name": "clonometer_calls", "origin": library})
    calls = _imp.create_dynamic(spec)
    _imp.exec_dynamic(calls)
    # Before 3.13 not every Python has an audit event for threads.
    wraps_threads = not listeners and sys.version_info < (3, 13)
    calls.begin(os.path.dirname(os.__file__) + os.sep, wraps_threads, *listeners)
    if wraps_threads and "threading" in sys.modules:
        sys.modules["threading"]._start_new_thread = __import__("_thread").start_new_thread


def can_be_told():
    """Whether this Python has the audit hooks, and the structures, that the library knows."""
    implementation = getattr(sys, "implementation", None)
    return (
        getattr(implementation, "name", "") == "cpython"
        and hasattr(sys, "addaudithook")
        and "t" not in getattr(sys, "abiflags", "")
    )


def _step_aside():
    """Import the module of this name that the program would have had."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != folder]
    del sys.modules["sitecustomize"]
    # Where the program would have had none, site passes over this error, and nothing of this name is kept.
    __import__("sitecustomize")


if __name__ == "sitecustomize":
    if os.environ.get("CLONOMETER_CALLS") and os.environ.get("CLONOMETER_LIBRARY") and can_be_told():
        try:
            begin(os.environ["CLONOMETER_LIBRARY"])
        except Exception:
            pass  # A library that cannot be loaded, or a Python that has been told to refuse hooks.
    _step_aside()
