"""What is created in Kubernetes for a fleet, as the objects of its API: two jobs, a service and a secret.

The pods keep the Pod Security Standard "restricted": no root, no privileges, no capabilities, nothing of the node. A
worker has whole CPUs and as much as it may use (Guaranteed), so that a static CPU manager gives it CPUs of its own, and
no other worker of Clonometer's is on its node, of whatever namespace.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clonometer._version import __version__
from clonometer.fleet.nodes import QUEUED_S

_PORT = 8786
_KEYS = "/keys"
#: How long pods stay when whoever asked has gone.
_IDLE_S = 900
_DEATH_S = 300
_USER = 1000
_NAME, _PART = "app.kubernetes.io/name", "app.kubernetes.io/component"
_HARDENED = {
    "allowPrivilegeEscalation": False,
    "privileged": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}


@dataclass(frozen=True)
class Pods:
    """How pods are: their image, how long they last at most, and what is added to the spec of a worker's pod."""

    image: str
    lasts_s: float
    more: Mapping[str, Any] = field(default_factory=dict)


def manifests(
    name: str, namespace: str, count: int, pods: Pods, secret: Mapping[str, str] | None
) -> list[dict[str, Any]]:
    """The objects to create, the scheduler's job first, to which the others are to belong.

    Parameters
    ----------
    name
        What all their names begin with.
    namespace
        Where they are.
    count
        How many workers.
    pods
        How they are.
    secret
        The keys, by the names of their files; None for a text in their place.
    """
    labels = {
        _NAME: "clonometer",
        "app.kubernetes.io/instance": name,
        "app.kubernetes.io/version": __version__,
        "app.kubernetes.io/managed-by": "clonometer",
    }

    def named(part: str) -> dict[str, Any]:
        full = f"{name}-{part}" if part != "keys" else name
        return {"name": full, "namespace": namespace, "labels": {**labels, _PART: part}}

    def job(part: str, spec: Mapping[str, Any], workers: int, retries: int) -> dict[str, Any]:
        # A proxy that is put beside would use CPU, and would never end.
        template = {"labels": {**labels, _PART: part, "sidecar.istio.io/inject": "false"}}
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": named(part),
            "spec": {
                "parallelism": workers,
                "completions": workers,
                "backoffLimit": retries,
                "activeDeadlineSeconds": math.ceil(pods.lasts_s + QUEUED_S),
                "ttlSecondsAfterFinished": 60,
                "template": {"metadata": template, "spec": spec},
            },
        }

    keys = secret or dict.fromkeys(("ca.pem", "cert.pem", "key.pem"), "made for each run")
    return [
        job("scheduler", _scheduler(name, pods.image), 1, 0),
        {"apiVersion": "v1", "kind": "Secret", "metadata": named("keys"), "type": "Opaque", "stringData": dict(keys)},
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": named("scheduler"),
            "spec": {
                "selector": {"app.kubernetes.io/instance": name, _PART: "scheduler"},
                "ports": [{"name": "tls", "port": _PORT, "protocol": "TCP"}],
            },
        },
        job("worker", merged(_worker(name, pods.image), pods.more), count, count + 3),
    ]


def owned_by(owner: Mapping[str, Any], objects: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The objects as belonging to another: they are deleted with it."""
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
    }
    return [{**each, "metadata": {**each["metadata"], "ownerReferences": [reference]}} for each in objects]


def secret_of(security: Any) -> dict[str, str]:
    """The keys of Dask's temporary security, by the names of their files."""
    return {
        "ca.pem": security.tls_ca_file,
        "cert.pem": security.tls_worker_cert,
        "key.pem": security.tls_worker_key,
    }


def merged(base: Any, more: Any) -> Any:
    """Lay one tree over another: keys of mappings are merged, and items of lists that bear the same name.

    Examples
    --------
    >>> merged({"a": {"b": 1}, "c": [{"name": "x", "d": 1}]}, {"a": {"e": 2}, "c": [{"name": "x", "d": 2}]})
    {'a': {'b': 1, 'e': 2}, 'c': [{'name': 'x', 'd': 2}]}
    """
    if isinstance(base, Mapping) and isinstance(more, Mapping):
        return {**base, **{key: merged(base[key], value) if key in base else value for key, value in more.items()}}
    if _are_named(base) and _are_named(more):
        new = {each["name"]: each for each in more}
        old = [merged(each, new.pop(each["name"], {})) for each in base]
        return [*old, *new.values()]
    return more


def _are_named(items: Any) -> bool:
    return isinstance(items, list) and all(isinstance(each, Mapping) and "name" in each for each in items)


def is_tolerated(taint: Mapping[str, Any], tolerations: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a pod with these tolerations may be placed on a node with this taint."""
    return taint.get("effect") == "PreferNoSchedule" or any(
        each.get("key") in (None, taint.get("key"))
        and each.get("effect") in (None, "", taint.get("effect"))
        and (each.get("operator") == "Exists" or each.get("value", "") == taint.get("value", ""))
        for each in tolerations
    )


def _pod(name: str, container: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 10,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "fsGroup": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                **container,
                "securityContext": _HARDENED,
                "env": [{"name": "HOME", "value": "/tmp"}, *container.get("env", ())],
                "volumeMounts": [
                    {"name": "keys", "mountPath": _KEYS, "readOnly": True},
                    {"name": "tmp", "mountPath": "/tmp"},
                ],
            }
        ],
        "volumes": [
            {"name": "keys", "secret": {"secretName": name, "defaultMode": 0o440}},
            {"name": "tmp", "emptyDir": {"sizeLimit": "2Gi"}},
        ],
    }


def _tls() -> list[str]:
    files = {"ca-file": "ca.pem", "cert": "cert.pem", "key": "key.pem"}
    return [word for option, file in files.items() for word in (f"--tls-{option}", f"{_KEYS}/{file}")]


def _scheduler(name: str, image: str) -> dict[str, Any]:
    words = ["--protocol", "tls", "--port", str(_PORT), "--no-dashboard", "--idle-timeout", f"{_IDLE_S}s"]
    return _pod(
        name,
        {
            "name": "scheduler",
            "image": image,
            "command": ["python3", "-m", "distributed.cli.dask_scheduler", *words, *_tls()],
            "ports": [{"name": "tls", "containerPort": _PORT, "protocol": "TCP"}],
            "readinessProbe": {"tcpSocket": {"port": _PORT}, "periodSeconds": 2},
            "resources": {"requests": {"cpu": "250m", "memory": "512Mi"}, "limits": {"memory": "1Gi"}},
        },
    )


def _worker(name: str, image: str) -> dict[str, Any]:
    words = [
        "--nworkers", "1", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0",
        "--local-directory", "/tmp", "--death-timeout", f"{_DEATH_S}",
    ]  # fmt: skip
    whole = {"cpu": "2", "memory": "2Gi"}
    spec = _pod(
        name,
        {
            "name": "worker",
            "image": image,
            "command": [
                "python3",
                "-m",
                "distributed.cli.dask_worker",
                f"tls://{name}-scheduler:{_PORT}",
                *words,
                *_tls(),
            ],
            # The node is what is measured: a pod has another name each time.
            "env": [{"name": "CLONOMETER_NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
            "resources": {"requests": whole, "limits": whole},
        },
    )

    def beside(part: str) -> dict[str, Any]:
        return {"topologyKey": "kubernetes.io/hostname", "namespaceSelector": {},
                "labelSelector": {"matchLabels": {_NAME: "clonometer", _PART: part}}}  # fmt: skip

    spec["affinity"] = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [beside("worker")],
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 100, "podAffinityTerm": beside("scheduler")}
            ],
        }
    }
    return spec
