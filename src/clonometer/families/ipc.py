"""Messages from one task to another."""

from clonometer.families.types import CROWD, Axis, Cost, Family

FAMILY = Family(
    "ipc",
    title="Messages between tasks",
    explanation=(
        "The sender writes each message whole, the receiver has and reads it whole; latency is half a round trip."
    ),
    order=50,
    shape=CROWD,
    axes={"message_bytes": Axis(number="messages of {}", title="size of a message", cost=Cost(6.0, 4.0))},
)
