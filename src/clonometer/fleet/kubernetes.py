"""Dask workers as pods of Kubernetes, one per node, under a scheduler that is a pod too, by kubectl.

kubectl has whatever people have set up to reach their clusters: contexts, tokens, programs that log in. It also
forwards a port of this machine to the scheduler, which speaks TLS alone with keys that are made for the run. All that
is created belongs to the scheduler's job: when that is deleted, or has ended by itself, the rest goes with it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import queue
import re
import shutil
import subprocess  # noqa: TID251 (asks a cluster: nothing is measured)
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clonometer.errors import InputError, UnavailableError, UsageError
from clonometer.fleet.nodes import MOST_NODES, name_and_count
from clonometer.fleet.pods import Pods, is_tolerated, manifests, owned_by, secret_of
from clonometer.inputs import InputKind, parse_json, read_text

_LONGEST_S = 60.0
_POD = InputKind("a part of a pod", 256 << 10)
_LOOK_EVERY_S = 2.0
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_FORWARDED = re.compile(r"Forwarding from 127\.0\.0\.1:([0-9]+)")
# Lines of kubectl's log, before its answer.
_LOGGED = re.compile(r"[EWIF][0-9]{4} [0-9:.]+ ")
#: What a pod waits for that time does not mend.
_HOPELESS = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError",
             "CreateContainerError", "RunContainerError", "CrashLoopBackOff")  # fmt: skip
_FORBIDDEN = "orbidden"
#: The next step, by what kubectl says.
_HINTS = (
    ("PodSecurity", "the namespace allows no such pods: docs/fleet.md names what they ask for"),
    (_FORBIDDEN, "docs/fleet.md lists what the account must be allowed (kubectl auth can-i --list)"),
    *(
        (sign, "log in as kubectl is set up to: kubectl get pods must work")
        for sign in ("nauthorized", "Password", "EOF")
    ),
    ("namespaces", "kubectl get namespaces shows which there are"),
    ("refused", "KUBECONFIG or ~/.kube/config names the cluster: kubectl get pods must work"),
    ("configuration", "KUBECONFIG or ~/.kube/config names the cluster: kubectl get pods must work"),
    ("no such host", "KUBECONFIG or ~/.kube/config names the cluster: kubectl get pods must work"),
)


def namespace_of(text: str) -> tuple[str, int]:
    """A namespace and how many nodes are wanted, 0 for all, from ``NAME`` or ``NAME:N``.

    Raises
    ------
    UsageError
        If it is neither.

    Examples
    --------
    >>> namespace_of("bench"), namespace_of("bench:3")
    (('bench', 0), ('bench', 3))
    """
    return name_and_count(text, "namespace", "--kubernetes", _NAMESPACE.fullmatch)


def check_kubernetes(image: str | None) -> None:
    """Refuse to begin where kubectl, the keys' package or an image is missing.

    Raises
    ------
    UsageError
        With what is missing.
    """
    try:
        import cryptography  # noqa: F401
    except ImportError as error:
        raise UsageError(f"no keys can be made: {error}", "pip install 'clonometer[kubernetes]'") from None
    if shutil.which("kubectl") is None:
        raise UsageError("there is no kubectl here", "install it, and see that kubectl get pods works")
    if not image:
        raise UsageError("--kubernetes needs --image", "an image of Containerfile, or one with Python 3.11 and Dask")


def read_pod(path: Path) -> Mapping[str, Any]:
    """Read what is to be added to the workers' pods, from YAML or JSON.

    Raises
    ------
    InputError
        If it cannot be read, or is no mapping.
    """
    yaml: Any = importlib.import_module("yaml")  # It comes with Dask, and has no types.
    text = read_text(path, _POD)
    try:
        # Anchors stand for what they name: a text of 1 KiB may be gigabytes once it is written out again.
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)):
            raise InputError(f"{path} has an alias (*name)", "write it out")
        given = yaml.safe_load(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise InputError(f"cannot read {path}: {error}") from error
    if not isinstance(given, dict) or not all(isinstance(key, str) for key in given):
        raise InputError(f"{path} is no part of a pod", "write what stands under spec: of a pod, such as nodeSelector")
    return given


def _parsed(answer: str) -> Any:
    try:
        return parse_json(answer)
    except InputError as error:
        raise UnavailableError(f"what kubectl answers cannot be read: {error.message}") from error


@dataclass
class KubernetesCluster:
    """A scheduler and workers that are pods, from `reach` until `close`.

    ``namespace`` is NAME or NAME:N, ``pods`` says how they are. What goes wrong with them is said once each.
    """

    namespace: str
    pods: Pods
    _name: str = ""
    _forward: subprocess.Popen[str] | None = None
    _reasons: set[str] = field(default_factory=set)
    _security: Any = None
    _port: int = 0
    _looked_s: float = 0.0

    @property
    def _space(self) -> str:
        return namespace_of(self.namespace)[0]

    def security(self) -> Any:
        """The keys of both sides, made for this run."""
        import distributed

        if self._security is None:
            secure: Any = distributed.Security
            self._security = secure.temporary()
        return self._security

    def reach(self, ended: threading.Event, say: Callable[[str], None], patience_s: float) -> str:
        """Create the pods unless they are there, wait for the scheduler, and forward a port; gives its address here.

        Raises
        ------
        UnavailableError
            If the cluster refuses them, the scheduler cannot start, or does not within ``patience_s``.
        """
        if not self._name:
            self._create()
        until_s, pause_s = time.monotonic() + patience_s, 0.25
        while not (pod := self._scheduler()):
            self.look(say)
            pause_s = min(2 * pause_s, _LOOK_EVERY_S)
            if ended.wait(pause_s) or time.monotonic() > until_s:
                why = f": {'; '.join(sorted(self._reasons))}" if self._reasons else ""
                raise UnavailableError(f"the scheduler's pod did not start in {patience_s:.0f} s{why}")
        if self._forward is None or self._forward.poll() is not None:
            self._forward_port(pod)
        return f"tls://127.0.0.1:{self._port}"

    def look(self, say: Callable[[str], None]) -> None:
        """Say what keeps pods from starting, at most every two seconds, and each reason once.

        Raises
        ------
        UnavailableError
            If no pod of a kind can ever start, such as for an image that cannot be pulled.
        """
        if time.monotonic() - self._looked_s < _LOOK_EVERY_S:
            return
        self._looked_s = time.monotonic()
        pods = self._items("pods", "-l", f"app.kubernetes.io/instance={self._name}")
        for part in ("scheduler", "worker"):
            mine = [pod for pod in pods if part in pod["metadata"]["labels"].values()]
            troubles = [trouble_of(pod) for pod in mine]
            if not mine:
                troubles = [(reason, False) for reason in self._refusals(f"{self._name}-{part}")]
            for reason in dict.fromkeys(reason for reason, _ in troubles if reason):
                if reason not in self._reasons:
                    self._reasons.add(reason)
                    say(f"a pod of the {part} does not start: {reason}")
            if mine and all(is_hopeless for _, is_hopeless in troubles):
                raise UnavailableError(f"no pod of the {part} can start: {troubles[0][0]}")

    def close(self) -> None:
        """Delete all that was created."""
        if self._forward is not None:
            self._forward.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._forward.wait(_LOOK_EVERY_S)
        if self._name:
            name, self._name = self._name, ""
            words = ["delete", f"job/{name}-scheduler", "--ignore-not-found", "--wait=false", "--cascade=background"]
            try:
                self._ask(words)
            except UnavailableError as error:
                again = f"kubectl -n {self._space} delete job {name}-scheduler"
                raise UnavailableError(f"pods may be left behind: {error.message}", again) from error

    def _create(self) -> None:
        name = f"clonometer-{os.urandom(4).hex()}"
        namespace, count = namespace_of(self.namespace)
        secret = secret_of(self.security())
        first, *others = manifests(name, namespace, count or self._nodes(), self.pods, secret)
        self._name = name
        try:
            created = _parsed(self._ask(["create", "-o", "json", "-f", "-"], first))
            self._ask(["create", "-f", "-"], {"apiVersion": "v1", "kind": "List", "items": owned_by(created, others)})
        except UnavailableError:
            # Of several the first may be there.
            with contextlib.suppress(UnavailableError):
                self.close()
            self._name = ""
            raise

    def _nodes(self) -> int:
        """How many nodes can take a worker: ready, not cordoned, without a taint that keeps it away."""
        try:
            nodes = self._items("nodes", namespaced=False)
        except UnavailableError as error:
            if _FORBIDDEN not in error.message:
                raise
            why = f"the nodes cannot be counted: {error.message}"
            raise UnavailableError(why, "say how many: --kubernetes NAMESPACE:N") from error
        count = sum(is_usable(node, self.pods.more) for node in nodes)
        if not count:
            raise UnavailableError("no node can take a worker", "kubectl get nodes shows their states and taints")
        return min(count, MOST_NODES)

    def _scheduler(self) -> str:
        """The name of the scheduler's pod, if it is ready."""
        labels = f"app.kubernetes.io/instance={self._name},app.kubernetes.io/component=scheduler"
        for pod in self._items("pods", "-l", labels):
            conditions = pod.get("status", {}).get("conditions") or ()
            if any(each["type"] == "Ready" and each["status"] == "True" for each in conditions):
                return str(pod["metadata"]["name"])
        return ""

    def _refusals(self, job: str) -> list[str]:
        """Why a job has no pods, by its events: a quota, a policy. Empty where events may not be read."""
        with contextlib.suppress(UnavailableError):
            events = self._items("events", "--field-selector", f"involvedObject.name={job},type=Warning")
            return [str(event.get("message"))[:300] for event in events[-1:]]
        return []

    def _forward_port(self, pod: str) -> None:
        words = ["port-forward", f"pod/{pod}", ":8786", "--address=127.0.0.1"]
        self._forward = subprocess.Popen(
            ["kubectl", "-n", self._space, *words],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
            # Ctrl-C is for this process, which lets the rounds under way end: they come by this way.
            process_group=0,
        )  # fmt: skip
        lines: queue.Queue[str] = queue.Queue()
        output = self._forward.stdout
        assert output is not None

        def read() -> None:
            for line in output:
                lines.put(line)

        threading.Thread(target=read, daemon=True).start()
        text, until_s = "", time.monotonic() + _LONGEST_S
        while time.monotonic() < until_s and (self._forward.poll() is None or not lines.empty()):
            with contextlib.suppress(queue.Empty):
                text += lines.get(timeout=0.2)
            if match := _FORWARDED.search(text):
                self._port = int(match[1])
                return
        self._forward.terminate()
        raise _refused(["port-forward"], text)

    def _items(self, *words: str, namespaced: bool = True) -> list[dict[str, Any]]:
        items = _parsed(self._ask(["get", *words, "-o", "json"], namespaced=namespaced))["items"]
        return list(items)

    def _ask(self, words: Sequence[str], given: Any = None, *, namespaced: bool = True) -> str:
        """Run kubectl, which ends soon or is taken for silent; gives what it answers."""
        where = ["-n", self._space] if namespaced else []
        # Empty where nothing is given: whoever would be asked for a password is not here.
        text = "" if given is None else json.dumps(given)
        command = ["kubectl", f"--request-timeout={_LONGEST_S:.0f}s", *where, *words]
        try:
            ended = subprocess.run(
                command, input=text, capture_output=True, text=True, timeout=2 * _LONGEST_S, check=False,
                process_group=0,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UnavailableError(f"kubectl does not answer: {error}") from error
        if ended.returncode != 0:
            raise _refused(words, ended.stderr)
        return ended.stdout


def _refused(words: Sequence[str], text: str) -> UnavailableError:
    """Make an error of what kubectl writes: its last lines, and the next step."""
    lines = [line for line in text.splitlines() if not _LOGGED.match(line)]
    text = " ".join(" ".join(lines).split())[:240] or "it says nothing"
    hint = next((step for sign, step in _HINTS if sign in text), None)
    return UnavailableError(f"kubectl {words[0]}: {text}", hint)


def trouble_of(pod: Mapping[str, Any]) -> tuple[str, bool]:
    """Why a pod does not run, empty where nothing is wrong, and whether no time mends it."""
    status = pod.get("status", {})
    for container in status.get("containerStatuses") or ():
        state = container.get("state", {})
        waiting, terminated = state.get("waiting") or {}, state.get("terminated") or {}
        if waiting.get("reason") in _HOPELESS:
            return _joined(waiting), True
        if terminated.get("exitCode"):
            return _joined({"reason": f"it ended with {terminated['exitCode']}", **terminated}), False
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return _joined(condition), False
    return "", False


def _joined(state: Mapping[str, Any]) -> str:
    return ": ".join(str(state[key])[:300] for key in ("reason", "message") if state.get(key))


def is_usable(node: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    """Whether a node takes a pod: ready, not cordoned, chosen by its labels, tolerated with its taints."""
    spec, labels = node.get("spec", {}), node.get("metadata", {}).get("labels") or {}
    ready = {each["type"]: each["status"] for each in node.get("status", {}).get("conditions") or ()}.get("Ready")
    wanted = pod.get("nodeSelector") or {}
    return (
        ready == "True"
        and not spec.get("unschedulable")
        and all(labels.get(key) == value for key, value in wanted.items())
        and all(is_tolerated(taint, pod.get("tolerations") or ()) for taint in spec.get("taints") or ())
    )


def printed(namespace: str, pods: Pods) -> Iterator[dict[str, Any]]:
    """What `KubernetesCluster` would create, without its keys; the cluster is not asked."""
    name, count = namespace_of(namespace)
    yield from manifests("clonometer-trial", name, count or 1, pods, None)
