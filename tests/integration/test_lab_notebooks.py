"""Each notebook of the lab as a student runs it, in one kernel: every cell, in a hurry, then as a page by nbconvert."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import KernelManager
from nbconvert import HTMLExporter
from nbconvert.preprocessors import ExecutePreprocessor
from nbformat.notebooknode import NotebookNode

from clonometer.app.lab import write_lesson
from clonometer.lab.reading import NAMES

REPOSITORY = Path(__file__).parents[2]
#: As fast as it goes: a few samples of each of the first conditions.
HURRY = "from tests.fakes import hasty\nhasty.MOST_TARGETS = 4\nhasty.hurry()"

pytestmark = [
    pytest.mark.real,
    # Of the libraries that run notebooks, which warn of themselves.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KernelManager]:
    """A kernel that measures in a hurry, for all lessons: starting it takes longer than most of them."""
    folder = tmp_path_factory.mktemp("kernel")
    manager = KernelManager(kernel_name="python3", transport="ipc", ip=str(folder / "ipc"))
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "IPYTHONDIR": str(folder),
        "JUPYTER_RUNTIME_DIR": str(folder),
    }
    manager.start_kernel(env=environment, cwd=str(folder))
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    answer = client.execute(HURRY, reply=True, timeout=60)
    assert answer["content"]["status"] == "ok", answer["content"]
    client.stop_channels()
    yield manager
    manager.shutdown_kernel(now=True)
    manager.cleanup_resources()


def shown(notebook: NotebookNode) -> str:
    """All that its cells have shown."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return "\n".join(str(output.get("data", {}).get("text/markdown", output.get("text", ""))) for output in outputs)


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_runs(name: str, kernel: KernelManager, tmp_path: Path) -> None:
    path = write_lesson(name, out=tmp_path / "lesson.ipynb")
    notebook = nbformat.read(path, as_version=4)
    (parameters,) = (cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", ()))
    parameters.source = f"import os\nos.chdir({str(tmp_path)!r})\nBUDGET_S = 0.2"
    # A cell that raises ends this with what it raised.
    ExecutePreprocessor(timeout=60).preprocess(notebook, {"metadata": {"path": str(tmp_path)}}, km=kernel)
    seen = shown(notebook)
    # What a lesson names exists.
    assert "Mistaken:" not in seen
    assert "Write a number in place of the dots" in seen
    page, _ = HTMLExporter().from_notebook_node(notebook)
    assert page.count("<table") >= 3
    assert "<summary>" in page
