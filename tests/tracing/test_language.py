"""Lines that hooks write: which task each belongs to, and what is no line at all."""

from __future__ import annotations

import tracemalloc

import pytest

from clonometer.tracing.census import language
from clonometer.tracing.census.language import LanguageRecords

LIBRARY = "Lsubprocess\x1fPopen.__init__\x1f/usr/lib/python3/subprocess.py\x1f1024"
RUN = "Lsubprocess\x1frun\x1f/usr/lib/python3/subprocess.py\x1f548"
USER = "P__main__\x1fstart_it\x1f/srv/app.py\x1f12"


def line(time_ns: int, *frames: str, thread: int = 41, makes: str = "process", event: str = "os.fork") -> str:
    return "\t".join(["python", str(time_ns), str(thread), makes, event, *frames])


def taken(*lines: str) -> LanguageRecords:
    records = LanguageRecords()
    for each in lines:
        records.take(each)
    return records


def test_the_place_is_outside_of_the_library_and_the_api_is_what_was_called_there() -> None:
    call = taken(line(100, LIBRARY, RUN, USER)).find(41, 0, 150, makes_thread=False)
    assert call is not None
    assert call.where is not None
    assert (call.where.file, call.where.line, call.api) == ("/srv/app.py", 12, "subprocess.run")
    direct = taken(line(100, USER)).find(41, 0, 150, makes_thread=False)
    assert direct is not None
    assert direct.api == "os.fork"
    assert taken(line(100, LIBRARY)).find(41, 0, 150, makes_thread=False).where is None  # type: ignore[union-attr]


def test_a_thread_of_the_library_is_placed_outside_of_the_module_that_was_called() -> None:
    start = "Lthreading\x1fstart\x1f/lib/threading.py\x1f964"
    server = "Lsocketserver\x1fprocess_request\x1f/lib/socketserver.py\x1f705"
    begins = "Lthreading\x1f_bootstrap\x1f/lib/threading.py\x1f1002"
    call = taken(line(100, start, server, begins, makes="thread")).find(41, 0, 150, makes_thread=True)
    assert call is not None
    assert call.where is not None
    assert (call.api, call.where.file, call.where.line) == ("threading.start", "/lib/socketserver.py", 705)


@pytest.mark.parametrize(
    ("thread", "after_ns", "until_ns", "makes_thread", "expected"),
    [
        (41, 0, 150, False, True),
        (41, 0, 100, False, True),
        (41, 0, 99, False, False),
        # It was written for the creation before.
        (41, 100, 150, False, False),
        (41, 120, 150, False, False),
        (42, 0, 150, False, False),
        (41, 0, 150, True, False),
    ],
)
def test_a_line_is_lent_to_no_other_task(
    thread: int, after_ns: int, until_ns: int, makes_thread: bool, expected: bool
) -> None:
    records = taken(line(100, USER))
    assert (records.find(thread, after_ns, until_ns, makes_thread=makes_thread) is not None) is expected


def test_the_last_line_before_a_task_counts_whatever_the_order_of_writing() -> None:
    first, second = line(100, USER, event="a"), line(200, USER, event="b")
    for order in ((first, second), (second, first)):
        records = taken(*order)
        assert records.find(41, 0, 150, makes_thread=False).event == "a"  # type: ignore[union-attr]
        assert records.find(41, 150, 250, makes_thread=False).event == "b"  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["", "python", "python\tx\t1\tprocess\te", line(1, "Ponly"), line(2**70, USER)])
def test_what_makes_no_sense_is_counted(text: str) -> None:
    records = taken(text)
    assert records.left_out == 1
    assert records.find(41, 0, 2**62, makes_thread=False) is None


def test_a_line_of_another_process_is_not_believed() -> None:
    records = LanguageRecords()
    records.take(line(100, USER, event="forged"), process=66)
    assert records.find(41, 0, 150, makes_thread=False, process=40) is None
    records.take(line(90, USER, event="its own"), process=40)
    call = records.find(41, 0, 150, makes_thread=False, process=40)
    assert call is not None
    assert call.event == "its own"
    # What this process noted of itself came by no connection.
    assert taken(line(100, USER)).find(41, 0, 150, makes_thread=False, process=40) is not None


def test_what_comes_much_too_late_is_left_out_rather_than_sorted() -> None:
    """A thread waits for each line to be sent: none writes them in reverse, and sorting those could take hours."""
    records = taken(*(line(n, USER, event=f"e{n}") for n in range(10_000, 0, -1)))
    assert records.left_out > 9_900
    call = records.find(41, 0, 10_000, makes_thread=False)
    assert call is not None
    assert call.event == "e10000"


@pytest.mark.parametrize("many", ["calls", "threads", "lines"])
def test_it_does_not_fill_the_memory(many: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_MOST_RECORDS", 50_000)
    monkeypatch.setattr(language, "_MOST_BYTES", 4 << 20)
    records = LanguageRecords()
    frame = f"Pmodule\x1f{'f' * 3000}\x1f/srv/app.py\x1f12"
    tracemalloc.start()
    try:
        for n in range(60_000 if many == "lines" else 20_000):
            event, thread = f"e{n}" if many == "calls" else "e", n if many == "threads" else 41
            records.take(line(n, frame if many == "calls" else USER, event=event, thread=thread))
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert records.left_out > 0
    assert peak_bytes < 5 << 20
