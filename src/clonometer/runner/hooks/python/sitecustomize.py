"""Notes which lines of a Python program make tasks, for `clonometer census`, which has put this folder on PYTHONPATH.

Any Python may start with this, Python 2 too: what it does not understand it leaves alone. The program's own module of
this name is imported after it, as if this one were not there. `clonometer.runner.hooks.within` imports it by its whole
name, and only uses its function.
"""

import os
import sys

#: What audit events tell of a task that is about to be made; whether it is a thread.
_EVENTS = {
    "subprocess.Popen": False,
    "os.fork": False,
    "os.forkpty": False,
    "os.posix_spawn": False,
    "os.system": False,
    "_posixsubprocess.fork_exec": False,
    "_thread.start_new_thread": True,
    "_thread.start_joinable_thread": True,
}
_MOST_FRAMES = 16
_MOST_BYTES = 4000
_MOST_FILE_BYTES = 64 * 1024 * 1024


def make_hook(write, listeners=None):
    """Make a hook for audit events; ``write`` gets a line of bytes for each task that is about to be made.

    With ``listeners``, a list, nothing is noted while it is empty, and nothing of the process is wrapped.
    """
    import time
    from _thread import get_native_id

    library = os.path.dirname(os.__file__) + os.sep
    packages = (library + "site-packages" + os.sep, library + "dist-packages" + os.sep)

    def describe(frame):
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        of_library = code.co_filename.startswith("<frozen") or (
            code.co_filename.startswith(library) and not code.co_filename.startswith(packages)
        )
        words = (frame.f_globals.get("__name__", ""), name, code.co_filename, str(frame.f_lineno or 0))
        return ("L" if of_library else "P") + "\x1f".join(str(word) for word in words)

    def note(event):
        now_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        frame = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename == note.__code__.co_filename:
            frame = frame.f_back
        words = ["python", str(now_ns), str(get_native_id()), "thread" if _EVENTS[event] else "process", event]
        while frame is not None and len(words) < _MOST_FRAMES + 5:
            words.append(describe(frame))
            frame = frame.f_back
        text = "\t".join(word.replace("\t", " ").replace("\n", " ") for word in words)
        write(text.encode("utf-8", "surrogateescape")[:_MOST_BYTES])

    def hook(event, arguments):
        try:
            if event in _EVENTS:
                if listeners is None or listeners:
                    note(event)
            elif listeners is None and event == "import" and arguments[0] == "_posixsubprocess":
                _wrap_fork_exec(hook)
        except Exception:
            return  # Nothing may become of it: the census has gone, or cannot be seen from here.

    return hook


def _wrap_threads(hook):
    """Before 3.13 not every Python has an audit event for threads."""
    import _thread

    start = _thread.start_new_thread

    def start_new_thread(*arguments, **named):
        hook("_thread.start_new_thread", ())
        return start(*arguments, **named)

    _thread.start_new_thread = start_new_thread
    if "threading" in sys.modules:
        sys.modules["threading"]._start_new_thread = start_new_thread


_wrapped = []


def _wrap_fork_exec(hook):
    """Note what multiprocessing executes: it calls the function of subprocess's module, which has no audit event."""
    if _wrapped:
        return  # This import is ours, or part of it.
    _wrapped.append(True)
    module = __import__("_posixsubprocess")  # Whoever imports it is given this.
    made = module.fork_exec

    def fork_exec(*arguments):
        # subprocess has an event, which was noted.
        if sys._getframe(1).f_globals.get("__name__") != "subprocess":
            hook("_posixsubprocess.fork_exec", ())
        return made(*arguments)

    module.fork_exec = fork_exec


def _write_to(path):
    flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW

    def write(line):
        # It is opened each time: a program that closes all its descriptors must not find ours in the place of its own.
        fd = os.open(path, flags)
        try:
            if os.fstat(fd).st_size < _MOST_FILE_BYTES:
                os.write(fd, line + b"\n")
        finally:
            os.close(fd)

    return write


def _begin(path):
    hook = make_hook(_write_to(path))
    sys.addaudithook(hook)
    if sys.version_info < (3, 13):
        _wrap_threads(hook)


def _step_aside():
    """Import the module of this name that the program would have had."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != folder]
    ours = sys.modules.pop("sitecustomize")
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", ours)


if __name__ == "sitecustomize":
    if os.environ.get("CLONOMETER_CALLS") and hasattr(sys, "addaudithook"):
        try:
            _begin(os.environ["CLONOMETER_CALLS"])
        except Exception:
            pass  # An older Python, or one that has been told to refuse hooks.
    _step_aside()
