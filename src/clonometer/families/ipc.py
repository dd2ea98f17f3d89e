"""Messages from one task to another."""

from clonometer.families.types import CROWD, Axis, Cost, Family, WorkloadWords

FAMILY = Family(
    "ipc",
    title="Messages between tasks",
    explanation=(
        "The sender writes each message whole, and the receiver reads it whole; latency is half a round trip."
    ),
    order=50,
    shape=CROWD,
    axes={"message_bytes": Axis(number="messages of {}", title="size of a message", cost=Cost(6.0, 4.0))},
    workloads={
        "ipc.shared_memory": WorkloadWords(colour="cyan"),
        "ipc.pipe": WorkloadWords(colour="teal"),
        "ipc.vmsplice": WorkloadWords(colour="olive"),
        "ipc.unix_socket": WorkloadWords(colour="purple"),
        "ipc.posix_queue": WorkloadWords(colour="red"),
        "ipc.process_vm_readv": WorkloadWords(colour="rose"),
    },
)
