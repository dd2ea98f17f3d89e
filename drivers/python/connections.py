"""A server's part of a connection over loopback: it is accepted, its request read, answered, and it is closed.

Timed: from before accept() until it has returned, and until the connection is closed. Outside: the client's part, in
the same task: it has connected and sent its request before, and reads the answer to its end afterwards. So nobody
waits.
Bias: no more than the module socket. A framework adds what it makes of each connection.
"""

import socket
import struct

from measure import now

#: As serve.* has them by default.
_REQUEST, _ANSWER = b"x" * 128, b"x" * 1024
#: The client ends by a reset, so that its port is soon free again: many connections follow.
_AT_ONCE = struct.pack("ii", 1, 0)


def workloads(workload):
    return {
        "connection": workload(
            "runtime_data",
            "socket.accept, recv of 128 bytes, sendall of 1 KiB, close; the client's part is outside",
            ("call_returns_ns", "result_ns"),
            _connections,
            api="socket.accept",
        )
    }


def _connections(_):
    listening = socket.create_server(("127.0.0.1", 0))
    address = listening.getsockname()

    def launch():
        with socket.create_connection(address) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            client.sendall(_REQUEST)
            before = now()
            connection, _ = listening.accept()
            returned = now()
            connection.recv(len(_REQUEST))
            connection.sendall(_ANSWER)
            connection.close()
            ended = now()
            while client.recv(len(_ANSWER)):
                pass
        return before, returned, ended

    return launch, listening.close
