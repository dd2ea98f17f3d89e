from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.catalogue import CATALOGUE
from tests.dataset.made import make_run
from tests.fakes.memory_run import MemoryRun, RunBuilder, write_run
from tools.json_schema import schema_of

from clonometer.dataset.gallery import read_gallery, read_published
from clonometer.dataset.publish import KEPT, scrub, scrubbed_facts
from clonometer.dataset.published import PUBLISHED_SUFFIX, PublishedSummary
from clonometer.errors import InputError
from clonometer.host.facts import collect
from clonometer.records import to_json
from clonometer.views.html.gallery import gallery_site

SECRET = "s3cret"
MARK = f"/home/{SECRET}-alice"
#: The processor is named by its maker: what it says is kept.
HONEST = {
    "cpu.model": "AMD EPYC 9R14",
    "mitigations": {"meltdown": "Not affected", "spectre_v2": "Mitigation: Retpolines"},
}


def marked() -> MemoryRun:
    """A run with a mark wherever a run may have a text that nobody needs, and every fact there is."""
    builder = RunBuilder()
    options: dict[str, Any] = {"processes": 6, "samples": 4, "blocks": 1}
    builder.cell("launch.fork", {"reaped_ns": 90_000}, parent_bytes=1 << 20, **options)
    builder.cell("launch.posix_spawn", {"reaped_ns": 90_000}, program=f"{MARK}/server", **options)
    builder.cell("queue.wait", {"wait_us": 3.0}, None, **options)
    metadata = builder.run.metadata
    facts = {key: MARK for key in collect(Path("/nowhere")) if not key.startswith("lacks.")}
    lists: dict[str, Any] = {"security.lsm": [MARK], "kernel.cmdline_flags": [MARK], "thp.sizes": {MARK: MARK}}
    metadata["host"] = {
        **facts,
        **lists,
        **HONEST,
        "kernel.release": f"6.12.4-17-amd64-{SECRET}",
        "invented.fact": MARK,
    }
    metadata["host"]["mitigations"] = {
        **metadata["host"]["mitigations"],
        "mds": f"Mitigation: `{MARK}`",
        MARK: "Vulnerable",
    }
    metadata["command"] = ["clonometer", MARK]
    metadata["plan"] |= {"name": MARK, "title": MARK}
    metadata["status_reason"] = MARK
    metadata["clock"]["reason"] = MARK
    metadata["clonometer_version"] = f"0.1.0+{MARK}"
    for workload in metadata["catalogue"]["workloads"]:
        workload["summary"] = MARK
    # A catalogue that calls the secret a value of an axis makes it none.
    metadata["catalogue"]["axes"]["program"]["values"] = [f"{MARK}/server"]
    metadata["processes"] = [{**process, "driver": MARK, "stderr": MARK} for process in metadata["processes"]]
    metadata["blocks"] = [{**block, "reason": MARK} for block in metadata["blocks"]]
    return builder.run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    for number, model in enumerate(
        ("AMD EPYC 9R14", "Intel(R) Xeon(R) CPU @ 2.70GHz", "Intel(R) Xeon(R) CPU @ 2.70GHz")
    ):
        facts = {**HONEST, "cpu.model": model, "kernel.release": f"6.{number}.1"}
        path = write_run(folder / f"{number}.parquet", make_run(seed=number, factor=1.0 + number, facts=facts))
        text = json.dumps(to_json(scrub(path, CATALOGUE).published))
        (folder / f"{number}{PUBLISHED_SUFFIX}").write_text(text)
    return folder


def test_a_run_full_of_secrets_gives_a_summary_without_any(tmp_path: Path) -> None:
    scrubbed = scrub(write_run(tmp_path / f"{SECRET}.parquet", marked()), CATALOGUE)
    text = json.dumps(to_json(scrubbed.published))
    assert SECRET not in text
    assert "home" not in text
    assert [row.cell for row in scrubbed.published.rows] == ["launch.fork[parent_bytes=1MiB,temperature=warm]"]
    assert scrubbed.dropped_rows == 2
    assert dict(scrubbed.published.facts) == {
        **HONEST,
        "kernel.release": "6.12.4-17-amd64",
        "mitigations.summary": "retpolines, no KPTI",
    }
    assert scrubbed.published.month == "2026-01"
    Draft202012Validator(schema_of({"published": PublishedSummary})).validate(json.loads(text))


def test_what_is_kept_of_this_machine_is_in_the_list_and_nothing_else() -> None:
    facts = collect()
    kept = scrubbed_facts(facts)
    assert kept["cpu.online"] == facts["cpu.online"]
    assert set(kept) <= {*KEPT, "kernel.release", "mitigations", "mitigations.summary"}
    # What comes back is kept as it is: a summary can be checked.
    assert scrubbed_facts(kept) == kept


def test_a_summary_is_read_back_and_checked(folder: Path, tmp_path: Path) -> None:
    path = folder / f"0{PUBLISHED_SUFFIX}"
    published = read_published(path)
    assert published.facts["cpu.model"] == "AMD EPYC 9R14"
    assert {row.workload for row in published.rows} == {"launch.fork", "launch.pthread"}
    document = json.loads(path.read_text())
    wrong: Iterator[Any] = iter(
        [
            {**document, "schema": 2},
            {**document, "facts": {**document["facts"], "host.name_hash": "aaaa"}},
            {**document, "facts": {**document["facts"], "virt.product": "alices-laptop"}},
            {**document, "rows": []},
            {**document, "rows": [{**document["rows"][0], "median": "fast"}]},
            [],
        ]
    )
    for content in wrong:
        (tmp_path / "wrong.json").write_text(json.dumps(content))
        with pytest.raises(InputError):
            read_published(tmp_path / "wrong.json")


def test_a_gallery_counts_what_it_leaves_out_and_fetches_nothing(folder: Path) -> None:
    (folder / f"bad{PUBLISHED_SUFFIX}").write_text("{")
    (folder / f"copy{PUBLISHED_SUFFIX}").write_bytes((folder / f"0{PUBLISHED_SUFFIX}").read_bytes())
    gallery = read_gallery(folder)
    assert len(gallery.machines) == 3
    assert [file.path for file in gallery.left_out] == [f"bad{PUBLISHED_SUFFIX}", f"copy{PUBLISHED_SUFFIX}"]
    site = gallery_site(gallery)
    assert sorted(site) == ["index.html", *sorted(f"machines/{machine.id}.html" for machine in gallery.machines)]
    for page in site.values():
        assert "default-src 'none'" in page
        assert "http" not in page.replace("http-equiv", "")
    assert site["index.html"].count("<tr data-id=") == 3


def test_words_of_strangers_are_text(folder: Path, tmp_path: Path) -> None:
    document = json.loads((folder / f"0{PUBLISHED_SUFFIX}").read_text())
    document["rows"][0]["cell"] = "</script><script>alert(1)</script>"
    (tmp_path / f"x{PUBLISHED_SUFFIX}").write_text(json.dumps(document))
    for page in gallery_site(read_gallery(tmp_path)).values():
        assert "<script>alert" not in page
