"""A fleet on Kubernetes: what is created keeps its schemas, and a cluster that one program plays really measures."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.kubectl import KUBECTL
from tests.plans import write_small_plan

import clonometer
from clonometer.app.fleet_run import Machines, fleet_manifests
from clonometer.cli.ending import run_to_the_end
from clonometer.errors import InputError, UnavailableError, UsageError
from clonometer.fleet.kubernetes import KubernetesCluster, is_usable, namespace_of, read_pod, trouble_of
from clonometer.fleet.pods import Pods, is_tolerated, manifests, owned_by

POD = """
nodeSelector: {pool: quiet}
tolerations: [{key: dedicated, operator: Exists}]
containers:
- name: worker
  resources: {requests: {cpu: 4}, limits: {cpu: 4}}
"""


def made(more: Any = None, count: int = 3) -> dict[tuple[str, str], Any]:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "c-1-scheduler", "uid": "u"}}
    first, *others = manifests("c-1", "bench", count, Pods("me/it:1", 60.5, more or {}), {"key.pem": "k"})
    return {(each["kind"], each["metadata"]["name"]): each for each in (first, *owned_by(owner, others))}


@pytest.mark.parametrize("more", [None, "file"])
def test_what_is_created_keeps_the_schemas_of_kubernetes(more: str | None, tmp_path: Path) -> None:
    validate = pytest.importorskip("kubernetes_validate").validate
    (tmp_path / "pod.yaml").write_text(POD)
    objects = made(read_pod(tmp_path / "pod.yaml") if more else None)
    assert len(objects) == 4
    for each in objects.values():
        # Strict: a key that is mistyped is refused, too.
        validate(each, "1.29", strict=True)


def test_a_worker_has_a_node_whole_cpus_and_no_privileges(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD)
    for more, cpu in ((None, "2"), (read_pod(tmp_path / "pod.yaml"), 4)):
        job = made(more)["Job", "c-1-worker"]
        assert job["spec"]["parallelism"] == job["spec"]["completions"] == 3
        assert job["spec"]["activeDeadlineSeconds"] == 3661
        spec = job["spec"]["template"]["spec"]
        (container,) = spec["containers"]
        assert container["resources"]["requests"] == container["resources"]["limits"]
        assert container["resources"]["limits"] == {"cpu": cpu, "memory": "2Gi"}
        assert container["image"] == "me/it:1"
        (apart,) = spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        labels = job["spec"]["template"]["metadata"]["labels"]
        assert apart["labelSelector"]["matchLabels"].items() <= labels.items()
        # Workers of every fleet, in whatever namespace.
        assert (apart["topologyKey"], apart["namespaceSelector"]) == ("kubernetes.io/hostname", {})
        assert "app.kubernetes.io/instance" not in apart["labelSelector"]["matchLabels"]
    assert (spec["nodeSelector"], len(spec["tolerations"])) == ({"pool": "quiet"}, 1)


def test_pods_keep_the_standard_that_is_called_restricted() -> None:
    for name in ("c-1-scheduler", "c-1-worker"):
        spec = made()["Job", name]["spec"]["template"]["spec"]
        (container,) = spec["containers"]
        assert spec["securityContext"]["runAsNonRoot"]
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert not container["securityContext"]["allowPrivilegeEscalation"]
        assert not {"hostPath", "hostNetwork", "hostPID"} & {key for each in (spec, *spec["volumes"]) for key in each}
        assert not spec["automountServiceAccountToken"]
        assert "--tls-key" in container["command"]


def test_the_rest_belongs_to_the_schedulers_job_and_is_reached_by_its_labels() -> None:
    objects = made()
    first = objects.pop(("Job", "c-1-scheduler"))
    assert all(each["metadata"]["ownerReferences"][0]["uid"] == "u" for each in objects.values())
    selector = objects["Service", "c-1-scheduler"]["spec"]["selector"]
    assert selector.items() <= first["spec"]["template"]["metadata"]["labels"].items()
    assert first["spec"]["ttlSecondsAfterFinished"] == 60
    # Who has gone leaves a scheduler that ends by itself.
    assert "--idle-timeout" in first["spec"]["template"]["spec"]["containers"][0]["command"]


def test_the_manifests_are_printed_without_keys_and_without_a_cluster(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    words = ["--kubernetes", "bench:5", "--image", "me/it:1", "--out", "f", "--plan", "quick", "--manifests"]
    assert run_to_the_end(["fleet", "run", *words]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [each["kind"] for each in printed["items"]] == ["Job", "Secret", "Service", "Job"]
    assert printed["items"][3]["spec"]["parallelism"] == 5
    assert set(printed["items"][1]["stringData"].values()) == {"made for each run"}
    with pytest.raises(UsageError):
        fleet_manifests(Machines(local=1))


@pytest.mark.parametrize("text", ["", ":", "Bench", "bench:", "bench:0", "bench:²", "bench:9999", "-a", "a b"])
def test_refuses_what_is_no_namespace(text: str) -> None:
    with pytest.raises(UsageError):
        namespace_of(text)


@pytest.mark.parametrize("text", ["- a", "a", "a: [", "1: 2"])
def test_refuses_what_is_no_part_of_a_pod(text: str, tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(text)
    with pytest.raises(InputError):
        read_pod(tmp_path / "pod.yaml")


def test_counts_nodes_that_take_the_pod() -> None:
    def node(ready: str = "True", labels: Any = None, **spec: Any) -> dict[str, Any]:
        conditions = [{"type": "Ready", "status": ready}]
        return {"metadata": {"labels": labels or {}}, "spec": spec, "status": {"conditions": conditions}}

    taint = {"key": "dedicated", "value": "bench", "effect": "NoSchedule"}
    assert is_usable(node(), {})
    assert not is_usable(node("Unknown"), {})
    assert not is_usable(node(unschedulable=True), {})
    assert not is_usable(node(), {"nodeSelector": {"pool": "quiet"}})
    assert is_usable(node(labels={"pool": "quiet"}), {"nodeSelector": {"pool": "quiet"}})
    assert not is_usable(node(taints=[taint]), {})
    assert is_usable(node(taints=[{**taint, "effect": "PreferNoSchedule"}]), {})
    assert is_tolerated(taint, [{"key": "dedicated", "operator": "Exists"}])
    assert is_tolerated(taint, [{"key": "dedicated", "value": "bench", "effect": "NoSchedule"}])
    assert not is_tolerated(taint, [{"key": "dedicated", "value": "other"}])
    assert not is_tolerated(taint, [{"key": "dedicated", "operator": "Exists", "effect": "NoExecute"}])


def test_tells_what_time_mends_from_what_it_does_not() -> None:
    def waiting(reason: str) -> dict[str, Any]:
        return {"status": {"containerStatuses": [{"state": {"waiting": {"reason": reason, "message": "m"}}}]}}

    assert trouble_of(waiting("ImagePullBackOff")) == ("ImagePullBackOff: m", True)
    assert trouble_of(waiting("ContainerCreating")) == ("", False)
    unplaced = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}
    assert trouble_of({"status": {"conditions": [unplaced]}}) == ("Unschedulable: 0/3 nodes", False)
    ended = {"status": {"containerStatuses": [{"state": {"terminated": {"exitCode": 2, "reason": "Error"}}}]}}
    assert trouble_of(ended) == ("Error", False)
    assert trouble_of({}) == ("", False)


def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **refused: str) -> Path:
    """Put a kubectl first that starts here what pods would run; gives its folder."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/kubectl").write_text(KUBECTL.format(python=sys.executable))
    (tmp_path / "bin/kubectl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("KUBE_FOLDER", str(tmp_path / "kube"))
    monkeypatch.setenv("CLONOMETER_HOST_LOCK", str(tmp_path / "host.lock"))
    for verb, text in refused.items():
        monkeypatch.setenv(f"KUBE_{verb.upper()}", text)
    return tmp_path / "kube"


def calls(kube: Path, verb: str) -> list[list[str]]:
    written = [json.loads(line) for line in (kube / "calls").read_text().splitlines()]
    return [words for words in written if verb in words]


@pytest.mark.real
def test_pods_measure_until_ctrl_c_and_nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kube = kubectl(tmp_path, monkeypatch)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    write_small_plan(tmp_path / "plan.toml", processes=5000, samples=100, budget_s=60)
    options = ["--plan", "plan.toml", "--rounds", "1", "--image", "me/it:1", "--out", "fleet", "--json"]
    command = [sys.executable, "-m", "clonometer.cli.start", "fleet", "run", "--kubernetes", "bench", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=tmp_path, text=True, process_group=0, **pipes) as run:
        assert run.stderr is not None
        lines = iter(run.stderr.readline, "")
        assert any("measures round 1" in line for line in lines)
        # It has begun when there is something to keep.
        while not any(path.stat().st_size > 150_000 for path in (tmp_path / "tmp").rglob("*.raw")):
            time.sleep(0.05)
        # As a terminal does: to all that was started there.
        os.killpg(run.pid, signal.SIGINT)
        out, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    (host,) = json.loads(out)["hosts"]
    # The node's name, for which a pod has no other way: the next pod there goes on where this one ended.
    assert (host["host"], host["rounds"]) == ("node-1", {"1": "partial"}), err
    (file,) = (tmp_path / "fleet").glob("*.parquet")
    assert "node-1" in file.name
    assert clonometer.load(file).document.host["host.name_hash"] == hashlib.sha256(b"node-1").hexdigest()[:8]
    assert [words[-1] for words in calls(kube, "delete")] == ["--cascade=background"]
    assert not list(kube.glob("pid-*"))
    assert [each["kind"] for each in json.loads((kube / "objects").read_text())] == ["Job", "Secret", "Service", "Job"]


@pytest.mark.parametrize(
    ("refused", "message", "hint"),
    [
        ({"create": "error: You must be logged in (Unauthorized)"}, "kubectl create: error: You", "log in"),
        ({"create": 'Error from server (Forbidden): "me" cannot create jobs'}, '"me" cannot', "must be allowed"),
        ({"get": "E1127 21:13:45.8 a.go] x\nThe connection was refused"}, "kubectl get: The", "names the"),
        ({"get": "Error from server (Forbidden): nodes is forbidden"}, "the nodes cannot be counted", "NAMESPACE:N"),
        ({"waiting": "ImagePullBackOff"}, "no pod of the scheduler can start: ImagePullBackOff", ""),
    ],
)  # fmt: skip
def test_says_what_the_cluster_refuses_and_leaves_nothing(
    refused: dict[str, str], message: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kube = kubectl(tmp_path, monkeypatch, **refused)
    keys = types.SimpleNamespace(tls_ca_file="c", tls_worker_cert="c", tls_worker_key="k")
    cluster = KubernetesCluster("bench" if "get" in refused else "bench:1", Pods("me/it:1", 60.0), _security=keys)
    with pytest.raises(UnavailableError) as raised:
        cluster.reach(threading.Event(), lambda _: None, 60.0)
    assert message in raised.value.message
    assert hint in (raised.value.hint or "")
    cluster.close()
    # Whatever was refused, the first of two may be there.
    assert len(calls(kube, "delete")) == bool(calls(kube, "create"))
