"""What a server does for a connection, without waiting."""

from clonometer.families.types import LOOP, Family

FAMILY = Family(
    "connection",
    title="Serving a connection",
    explanation="A server accepts a connection, reads a request, answers and closes; its client's part is not timed.",
    order=55,
    shape=LOOP,
)
