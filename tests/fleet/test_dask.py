"""What Dask is let do: unpickle nothing here, and rest there while something is measured."""

from __future__ import annotations

import inspect
import os
import pickle
import time
from pathlib import Path
from typing import Any

import pytest

from clonometer.fleet import remote_worker
from clonometer.fleet.dask_access import local_cluster
from clonometer.fleet.dask_hosts import _EXPRESSION

distributed = pytest.importorskip("distributed")
PATIENCE_S = 20.0


class Hostile:
    """Makes a file where it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.marker),)


def test_nothing_that_dask_sends_is_unpickled(tmp_path: Path) -> None:
    import distributed.client
    from distributed import protocol
    from distributed.core import clean_exception

    from clonometer.fleet.unpickling import NotUnpickledError, nothing_unpickled

    hostile = pickle.dumps(Hostile(tmp_path / "marker"))
    in_a_message = protocol.dumps({"op": "x", "value": protocol.ToPickle(Hostile(tmp_path / "marker"))})
    before = protocol.pickle.loads
    with nothing_unpickled():
        for receive in (
            lambda: protocol.loads(in_a_message),
            lambda: distributed.client.loads(hostile),
            lambda: distributed.client._handle_warn((0, {"message": hostile})),
            lambda: protocol.deserialize({"serializer": "pickle", "writeable": ()}, [hostile]),
            lambda: protocol.deserialize({"serializer": "dask", "type-serialized": hostile}, []),
        ):
            with pytest.raises(NotUnpickledError):
                receive()
        # What a worker raised is an error whose words nobody has read.
        assert type(clean_exception(hostile)[1]) is Exception
        assert protocol.pickle.loads(pickle.dumps([bytes, "text", {1: 2.0}])) == [bytes, "text", {1: 2.0}]
    assert protocol.pickle.loads is before
    assert not (tmp_path / "marker").exists()


def test_a_worker_rests_says_that_it_lives_and_wakes(tmp_path: Path) -> None:
    """Its scheduler drops who is silent for 5 minutes: the beat is made as fast as a test can wait."""
    text = inspect.getsource(remote_worker).replace("_BEAT_MS = 20_000.0", "_BEAT_MS = 50.0")
    assert text != inspect.getsource(remote_worker)
    with local_cluster(1, str(tmp_path)) as cluster:
        (worker,) = cluster.workers.values()
        (known,) = cluster.scheduler.workers.values()
        # As on a worker that has many others beside it.
        worker.periodic_callbacks["heartbeat"].callback_time = 30.0

        def stirring() -> set[str]:
            return {name for name, each in worker.periodic_callbacks.items() if each.is_running()}

        def ask(name: str, asked: set[str]) -> None:
            with distributed.Client(cluster, set_as_default=False) as client:
                client.run(eval, _EXPRESSION, {"text": text, "name": name, "words": []})
            limit_s = time.monotonic() + PATIENCE_S
            while stirring() != asked and time.monotonic() < limit_s:
                time.sleep(0.01)
            assert stirring() == asked

        awake = stirring()
        assert {"heartbeat", "profile", "tick"} <= awake
        slow = {name for name in awake if worker.periodic_callbacks[name].callback_time >= 50.0}
        ask("rest", slow | {"clonometer-beat"})
        # Asked twice, it rests once.
        ask("rest", slow | {"clonometer-beat"})
        seen, limit_s = known.last_seen, time.monotonic() + PATIENCE_S
        while known.last_seen == seen and time.monotonic() < limit_s:
            time.sleep(0.01)
        assert known.last_seen > seen
        ask("wake", awake)


def test_a_scheduler_of_this_process_listens_to_nobody(tmp_path: Path) -> None:
    import psutil

    def listening() -> set[int]:
        connections = psutil.Process().net_connections(kind="inet")
        return {connection.laddr.port for connection in connections if connection.status == psutil.CONN_LISTEN}

    before = listening()
    with local_cluster(2, str(tmp_path)) as cluster:
        assert listening() == before
        with distributed.Client(cluster, set_as_default=False) as client:
            assert client.submit(sum, [1, 2]).result(timeout=PATIENCE_S) == 3
