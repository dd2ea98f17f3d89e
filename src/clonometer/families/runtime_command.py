"""Commands as languages start them, by each API and by options that change how the kernel is asked."""

from __future__ import annotations

from clonometer.families.types import LAUNCH, Family, LanguageTask

FAMILY = Family(
    "runtime_command",
    title="Commands of languages",
    plain_title="A command in each language",
    explanation="A language's own API starts another program and waits for its end.",
    order=220,
    shape=LAUNCH,
    task="starts a new program from a language's runtime",
    language_tasks={
        "command": LanguageTask("command", "a command", "reaped_ns", "launch.posix_spawn", "reaped_ns", creates=1)
    },
)
