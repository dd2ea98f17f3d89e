"""What is done on a host of a fleet: look what it has, bring what it lacks, keep quiet, let the agent measure.

This text itself travels to Dask's workers (`clonometer.fleet.dask_hosts`), where Clonometer need not be installed and
Python may be another one: it uses the standard library alone, and nothing of the package. Texts and bytes go in and
come out.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import json
import os
import platform
import shutil
import signal
import socket
import subprocess  # noqa: TID251 (starts the agent, where the runner may not be installed)
import sys
import tempfile
import threading
import time
import types
import zipfile
from pathlib import Path
from typing import Any

LOCK_VARIABLE = "CLONOMETER_HOST_LOCK"
HOST_VARIABLE = "CLONOMETER_HOST"
# The node that a pod is on: the pod's own name is another one each time.
NODE_VARIABLE = "CLONOMETER_NODE"
"""Names a host that only pretends to be one, such as a network namespace: it counts as a machine of its own."""

DEFAULT_LOCK = "/tmp/clonometer-host.lock"
OLDEST_PYTHON = (3, 11)
NEEDED = ("numpy", "pyarrow")
# Their versions and hashes (`make lock`).
_LOCK = "clonometer/fleet/needed.txt"
_LOOK_TIMEOUT_S = 60
_INSTALL_TIMEOUT_S = 600
_ATTEMPTS = 10
MOST_ANSWER_BYTES = 256 << 20
"""An agent that answers more is ended: whoever asked keeps answers in memory."""
_PIECE_BYTES = 1 << 20
_MOST_COMPLAINT_BYTES = 4096
# From the wish to stop until the agent is killed: as long as it needs to write what it has, and to leave its host.
_LAST_S = 45.0
_BEAT_MS = 20_000.0
_LONGEST_REST_S = 86_400.0
_BEAT, _RESTS = "clonometer-beat", "_clonometer_rests"


def look(folder: str = "") -> str:
    """Say what this host is and has, as JSON.

    ``folder`` has the package that was brought; empty: what is installed.
    """
    began_s = time.time()
    machine = socket.gethostname()
    with contextlib.suppress(OSError):
        # Containers of one machine share it, whatever they call themselves.
        machine = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    pretended = os.environ.get(HOST_VARIABLE, "")
    known = {
        "name": pretended or os.environ.get(NODE_VARIABLE) or socket.gethostname(),
        "machine": pretended or machine,
        "arch": platform.machine(),
        "python": list(sys.version_info[:2]),
        "began": began_s,
    }
    return json.dumps(known | _installed(folder) | {"ended": time.time()})


def _installed(folder: str) -> dict[str, object]:
    """Version and drivers of the package that the agent would have, or why it cannot start."""
    command = [sys.executable, "-P", "-m", "clonometer.fleet.agent", "--look"]
    if sys.version_info[:2] < OLDEST_PYTHON:
        return {"version": None, "drivers": None, "why": "its Python is older than 3.11"}
    try:
        ended = subprocess.run(
            command, check=False, capture_output=True, env=_environment(folder), timeout=_LOOK_TIMEOUT_S, text=True
        )
        installed = json.loads(ended.stdout) if ended.returncode == 0 else None  # noqa: TID251 (it travels alone)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return {"version": None, "drivers": None, "why": str(error)}
    if isinstance(installed, dict):
        return installed | {"why": None}
    lines = ended.stderr.strip().splitlines()
    return {"version": None, "drivers": None, "why": lines[-1] if lines else f"status {ended.returncode}"}


def _environment(folder: str) -> dict[str, str]:
    # One thread is enough, and what is measured should not meet idle ones.
    paths = [path for path in (folder, folder and f"{folder}/needed", os.environ.get("PYTHONPATH")) if path]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths)}
    if folder:
        environment["CLONOMETER_BIN"] = f"{folder}/clonometer/_bin"
    return environment


def bring(archive: bytes, sha256: str, folder: str) -> str:
    """Unpack the package into a new folder, and fetch what it needs where that is missing.

    Nothing is unpacked that has other hex digits of SHA-256, and pip takes nothing but what the package's lock names.
    Gives JSON: ``folder``, the one that was made, or None and ``why``.
    """
    if hashlib.sha256(archive).hexdigest() != sha256:
        return json.dumps({"folder": None, "why": f"what arrived is not what was sent: {len(archive):,} bytes"})
    package = tempfile.mkdtemp(prefix="clonometer-", dir=folder or None)
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as packed:
            for name in packed.namelist():
                written = packed.extract(name, package)
                if "/_bin/" in name:
                    Path(written).chmod(0o755)
        missing = [name for name in NEEDED if not _has(name)]
        if missing:
            _install(f"{package}/{_LOCK}", f"{package}/needed")
    except (OSError, zipfile.BadZipFile, subprocess.SubprocessError) as error:
        shutil.rmtree(package, ignore_errors=True)
        said_last = str(getattr(error, "stderr", None) or "").strip().splitlines()
        return json.dumps({"folder": None, "why": said_last[-1] if said_last else str(error)})
    return json.dumps({"folder": package, "why": None})


def _has(module: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(module) is not None


def _install(lock: str, target: str) -> None:
    """Fetch the versions that this machine uses: wheels that have one of the hashes in the lock, and nothing else."""
    exact = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", lock]
    command = [sys.executable, "-m", "pip", "install", "-q", "--target", target, *exact]
    subprocess.run(command, check=True, capture_output=True, timeout=_INSTALL_TIMEOUT_S, text=True, env=os.environ)


def offer(resource: str) -> str:
    """Let Dask know that this worker has one of a resource, so that it is given one measuring task at a time."""
    from distributed import get_worker

    worker: Any = get_worker()
    worker.loop.add_callback(lambda: worker.set_resources(**{resource: 1}))
    return json.dumps({})


def remove(folder: str) -> str:
    """Remove what was brought."""
    if Path(folder).name.startswith("clonometer-"):
        shutil.rmtree(folder, ignore_errors=True)
    return json.dumps({})


def measure(request: str, folder: str = "") -> bytes:
    """Let the agent measure a shard while this host is locked, and Dask rests.

    Gives a line of JSON (``status``: ``ok``, ``busy`` or ``failed``, and ``reason``), then the run file, if any.
    """
    asked = json.loads(request)  # noqa: TID251 (it travels alone)
    lock_fd = None
    try:
        if asked["over"] is None:
            lock_fd, holder = lock_host(asked["label"])
            if lock_fd is None:
                return no_answer("busy", holder)
        # It may have come back to life, or woken, since it was met.
        rest()
        return _ask_agent(request, asked["id"], folder, lock_fd)
    except OSError as error:
        return no_answer("failed", f"{error.strerror or error}: {error.filename}" if error.filename else str(error))
    finally:
        if lock_fd is not None:
            unlock_host(lock_fd)


def no_answer(status: str, reason: str) -> bytes:
    """Write an answer without a run file."""
    return json.dumps({"status": status, "reason": reason}).encode() + b"\n"


def _ask_agent(request: str, shard: str, folder: str, lock_fd: int | None) -> bytes:
    command = [sys.executable, "-P", "-m", "clonometer.fleet.agent"]
    pipe = subprocess.PIPE
    # What it says on standard error is why it could not go on; a file never makes it wait for a reader.
    with tempfile.TemporaryFile() as complaints:
        agent = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=complaints, env=_environment(folder), cwd="/",
            start_new_session=True,
            # It holds the lock too: should this worker die, the host is locked for as long as something measures.
            pass_fds=() if lock_fd is None else (lock_fd,),
        )  # fmt: skip
        agents()[shard] = agent
        try:
            if shard in _asked_to_end():
                _end(agent)
            answer = _dialogue(agent, request)
            status = agent.wait()
        finally:
            agents().pop(shard, None)
            if agent.poll() is None:
                agent.kill()
                agent.wait()
            for stream in (agent.stdin, agent.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
        complaints.seek(max(0, complaints.seek(0, os.SEEK_END) - _MOST_COMPLAINT_BYTES))
        complaint = complaints.read().decode("utf-8", "replace").strip().splitlines()
    if answer is None:
        return no_answer("failed", f"its answer has more than {MOST_ANSWER_BYTES >> 20} MiB")
    if status == 0 and answer:
        return answer
    if shard in _asked_to_end():
        return no_answer("lost", "it was asked to stop, and had nothing to return by then")
    return no_answer("failed", complaint[-1] if complaint else _how_it_ended(status))


def _how_it_ended(status: int) -> str:
    if status >= 0:
        return f"the agent ended with status {status}"
    known = {each.value: each.name for each in signal.Signals}
    return f"the agent was killed by {known.get(-status, f'signal {-status}')}"


def _dialogue(agent: subprocess.Popen[bytes], request: str) -> bytes | None:
    """Hand the request to the agent and take its answer; None where that has no bounds, and the agent is killed."""
    assert agent.stdin is not None
    assert agent.stdout is not None
    # A pipe that is closed has nobody left to write to.
    with contextlib.suppress(BrokenPipeError, ValueError):
        agent.stdin.write(request.encode() + b"\n")
        agent.stdin.flush()
    answer = bytearray()
    while piece := agent.stdout.read(_PIECE_BYTES):
        answer += piece
        if len(answer) > MOST_ANSWER_BYTES:
            agent.kill()
            return None
    return bytes(answer)


def _end(agent: subprocess.Popen[bytes]) -> None:
    """Let the agent hear the end of its input, and kill it should it not have ended some time later."""
    with contextlib.suppress(OSError, ValueError):
        if agent.stdin is not None:
            agent.stdin.close()
    # It does nothing to an agent that has ended.
    late = threading.Timer(_LAST_S, agent.kill)
    late.daemon = True
    late.start()


def stop(shard: str) -> str:
    """Ask the agent of a shard to end with what it has; it hears the end of its input."""
    _asked_to_end().add(shard)
    agent = agents().get(shard)
    if agent is not None:
        _end(agent)
    return json.dumps({})


def agents() -> dict[str, subprocess.Popen[bytes]]:
    """The agents that run, by shard; kept outside of this text, which is read anew for each errand."""
    return _process_wide().setdefault("agents", {})  # type: ignore[no-any-return]


def _asked_to_end() -> set[str]:
    return _process_wide().setdefault("asked_to_end", set())  # type: ignore[no-any-return]


def _process_wide() -> dict[str, Any]:
    return sys.modules.setdefault("_clonometer_agents", types.ModuleType("_clonometer_agents")).__dict__


def rest() -> str:
    """Let Dask's workers and nannies in this process do nothing more often than every 20 s, until `wake`.

    A worker samples its own threads 100 times a second and measures its ticks and its memory, all of which is load
    beside what is measured. It must go on saying that it lives, though: a scheduler drops a worker that is silent for
    5 minutes (``worker-ttl``). Whoever is not woken wakes after a day.
    """
    for server in _servers():
        server.loop.add_callback(_hush, server)
    return json.dumps({})


def wake() -> str:
    """End the rest."""
    for server in _servers():
        server.loop.add_callback(_rouse, server)
    return json.dumps({})


def _servers() -> list[Any]:
    modules = (sys.modules.get("distributed.worker"), sys.modules.get("distributed.nanny"))
    kinds = (getattr(module, name, None) for module, name in zip(modules, ("Worker", "Nanny"), strict=True))
    return [server for kind in kinds for server in getattr(kind, "_instances", ())]


def _hush(server: Any) -> None:
    from tornado.ioloop import PeriodicCallback

    _rouse(server)
    callbacks = server.periodic_callbacks
    stirring = [each for each in callbacks.values() if each.is_running() and each.callback_time < _BEAT_MS]
    for each in stirring:
        each.stop()
    if hasattr(server, "heartbeat"):
        callbacks[_BEAT] = PeriodicCallback(server.heartbeat, _BEAT_MS)
        callbacks[_BEAT].start()
    setattr(server, _RESTS, (stirring, server.loop.call_later(_LONGEST_REST_S, _rouse, server)))


def _rouse(server: Any) -> None:
    stirring, alarm = getattr(server, _RESTS, ((), None))
    if alarm is None:
        return
    delattr(server, _RESTS)
    server.loop.remove_timeout(alarm)
    if _BEAT in server.periodic_callbacks:
        server.periodic_callbacks.pop(_BEAT).stop()
    for each in stirring:
        each.start()


def lock_host(label: str) -> tuple[int | None, str]:
    """Lock this host against other fleets, whoever runs them.

    Gives a descriptor that holds the lock for as long as it is open anywhere, or None and who holds it.
    """
    path = Path(os.environ.get(LOCK_VARIABLE, DEFAULT_LOCK))
    for _ in range(_ATTEMPTS):
        try:
            descriptor = _open(path)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 200).decode("utf-8", "replace").strip()
            os.close(descriptor)
            return None, f"another fleet measures on this host{': ' + holder if holder else ''}"
        # Whoever held it last may have removed the name meanwhile.
        if _is_named(descriptor, path):
            _sign(descriptor, f"{label}, process {os.getpid()}, since {time.strftime('%H:%M')}")
            return descriptor, ""
        os.close(descriptor)
    return None, "others keep locking and unlocking this host"


def _open(path: Path) -> int:
    flags = os.O_NOFOLLOW | os.O_CLOEXEC
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | flags, 0o644)
        # Others must be able to open it, whatever the umask.
        os.fchmod(descriptor, 0o644)
        return descriptor
    try:
        return os.open(path, os.O_RDWR | flags)
    except PermissionError:
        # Another user's may be read and locked, but not written.
        return os.open(path, os.O_RDONLY | flags)


def _is_named(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except OSError:
        return False


def _sign(descriptor: int, holder: str) -> None:
    """Say in the file who holds the lock, where it is ours alone: what has a second name is another's file."""
    status = os.fstat(descriptor)
    if status.st_uid == os.geteuid() and status.st_nlink == 1:
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, holder.encode(), 0)


def unlock_host(descriptor: int) -> None:
    """Unlock this host and remove the lock's file, where it is ours to remove."""
    path = Path(os.environ.get(LOCK_VARIABLE, DEFAULT_LOCK))
    with contextlib.suppress(OSError):
        if _is_named(descriptor, path):
            path.unlink()
    os.close(descriptor)
