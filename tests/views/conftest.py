"""The sample run and its report, made once."""

from __future__ import annotations

import pytest
from tests.views.sample_results import sample_results


@pytest.fixture(scope="session")
def results():
    return sample_results()


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
