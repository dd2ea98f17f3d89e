"""A kubectl whose cluster is this machine: it keeps objects in a folder, and starts what their containers would run."""

from __future__ import annotations

#: The program's text, with a place for the Python that it starts.
KUBECTL = '''#!{python}
"""As kubectl, of the commands that a fleet needs; each call is written down."""

import json, os, pathlib, signal, socket, subprocess, sys, threading, time

words = sys.argv[1:]
folder = pathlib.Path(os.environ["KUBE_FOLDER"])
folder.mkdir(exist_ok=True)
with open(folder / "calls", "a") as calls:
    calls.write(json.dumps(words) + "\\n")
verb = next(word for word in words if word in ("create", "get", "delete", "port-forward"))
if refused := os.environ.get("KUBE_" + verb.upper()):
    sys.exit(refused)
objects = json.loads((folder / "objects").read_text()) if (folder / "objects").exists() else []


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def start(job):
    """Start the container of a job as the node would: its command, with its files where the secret lies."""
    (container,) = job["spec"]["template"]["spec"]["containers"]
    part = container["name"]
    environment = dict(os.environ)
    for each in container["env"]:
        environment[each["name"]] = each.get("value", "node-1")
    environment["HOME"] = os.environ["HOME"]
    port = (folder / "port").read_text() if (folder / "port").exists() else str(free_port())
    (folder / "port").write_text(port)
    service = next((each["metadata"]["name"] for each in objects if each["kind"] == "Service"), "none")
    command = [
        word.replace("/keys/", str(folder) + "/keys/").replace(service + ":8786", "127.0.0.1:" + port)
        for word in container["command"]
    ]
    if part == "scheduler":
        command[command.index("--port") + 1] = port
        command += ["--host", "127.0.0.1"]
    command[0] = sys.executable
    with open(folder / ("log-" + part), "w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment)
    (folder / ("pid-" + part)).write_text(str(process.pid))


def pods():
    for job in objects:
        if job["kind"] != "Job":
            continue
        part = job["metadata"]["labels"]["app.kubernetes.io/component"]
        ready = False
        if part == "scheduler" and (folder / "port").exists():
            try:
                socket.create_connection(("127.0.0.1", int((folder / "port").read_text())), 1).close()
                ready = True
            except OSError:
                pass
        state = {{"running": {{}}}}
        if reason := os.environ.get("KUBE_WAITING"):
            ready, state = False, {{"waiting": {{"reason": reason}}}}
        yield {{
            "metadata": {{"name": job["metadata"]["name"] + "-x", "labels": job["metadata"]["labels"]}},
            "status": {{
                "conditions": [{{"type": "Ready", "status": str(ready)}}],
                "containerStatuses": [{{"state": state}}],
            }},
        }}


if verb == "create":
    given = json.load(sys.stdin)
    new = given["items"] if given["kind"] == "List" else [given]
    for each in new:
        each["metadata"].setdefault("uid", "uid-of-" + each["metadata"]["name"])
    objects += new
    (folder / "objects").write_text(json.dumps(objects))
    for each in new:
        if each["kind"] == "Secret":
            (folder / "keys").mkdir()
            for name, text in each["stringData"].items():
                (folder / "keys" / name).write_text(text)
    # A pod whose secret is not there yet waits for it.
    if (folder / "keys").exists() and "KUBE_WAITING" not in os.environ:
        for each in objects:
            if each["kind"] == "Job":
                start(each)
    print(json.dumps(given))
elif verb == "get":
    kind = words[words.index("get") + 1]
    ready = {{"type": "Ready", "status": "True"}}
    node = {{"metadata": {{"name": "node-1"}}, "spec": {{}}, "status": {{"conditions": [ready]}}}}
    found = {{"pods": pods(), "nodes": [node], "events": []}}[kind]
    chosen = [each for word in words if word.startswith("app.kubernetes.io/") for each in word.split(",")]
    wanted = dict(each.split("=") for each in chosen)
    print(json.dumps({{"items": [
        each for each in found if not wanted or wanted.items() <= each["metadata"]["labels"].items()
    ]}}))
elif verb == "delete":
    for path in folder.glob("pid-*"):
        pid = path.read_text()
        os.kill(int(pid), signal.SIGTERM)
        path.unlink()
        # A node kills what has not ended when its time of grace is over.
        grace = "for _ in $(seq 100); do kill -0 $0 || exit; sleep 0.2; done; kill -9 $0"
        nowhere = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        subprocess.Popen(["sh", "-c", grace, pid], start_new_session=True, **nowhere)
elif verb == "port-forward":
    target = int((folder / "port").read_text())
    server = socket.create_server(("127.0.0.1", 0))
    print("Forwarding from 127.0.0.1:%d -> 8786" % server.getsockname()[1], flush=True)

    def pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        finally:
            for each in (source, sink):
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    while True:
        near, _ = server.accept()
        far = socket.create_connection(("127.0.0.1", target))
        for pair in ((near, far), (far, near)):
            threading.Thread(target=pump, args=pair, daemon=True).start()
'''
