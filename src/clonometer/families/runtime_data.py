"""Data that languages hand over to another thread or process, and get back."""

from clonometer.families.types import Family, LanguageTask

FAMILY = Family(
    "runtime_data",
    title="Data handed over and back",
    plain_title="Data handed over and back",
    explanation=(
        "A language hands data to another thread or process, which sends it back, or answers a connection's request."
    ),
    order=230,
    task="sends data back to a language's runtime",
    not_ranked="may include the whole answer",
    language_tasks={
        "exchange_thread": LanguageTask("data", "data to a thread and back", "result_ns"),
        "exchange_process": LanguageTask("data, process", "data to a process and back", "result_ns"),
        "connection": LanguageTask(
            "connection", "a connection that is served", "result_ns", "connection.tcp", "closed_ns", creates=0
        ),
    },
)
