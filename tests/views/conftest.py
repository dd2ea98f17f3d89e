"""The sample run and its report, made once."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def load_sample() -> ModuleType:
    """Load the builder by path: with importlib import mode, tests cannot import one another by name."""
    name = "clonometer_sample_results"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / "sample_results.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture(scope="session")
def sample() -> ModuleType:
    return load_sample()


@pytest.fixture(scope="session")
def results(sample):
    return sample.sample_results()


@pytest.fixture(scope="session")
def everything(results):
    """The same with something to draw for every kind of figure."""
    from tests.views.sample_kinds import with_all

    return with_all(results)


@pytest.fixture(scope="session")
def report(results):
    from clonometer.views.documents.run import run_document
    from clonometer.views.html.document import render_document_page

    return render_document_page(run_document(results))
