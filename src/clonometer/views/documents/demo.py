"""A demo that has run: its lines of C, what it printed, what that means."""

from __future__ import annotations

from clonometer.studies.demonstrations import DemoRun
from clonometer.views.document import BulletList, Commands, Document, Paragraph, Subheading


def demo_document(run: DemoRun) -> Document:
    """Make a document of a demo that has run."""
    demo = run.demo
    return Document(
        "demo",
        demo.title,
        demo.question,
        [
            [Commands(demo.shown.splitlines())],
            [Subheading("It printed"), Commands(run.output.splitlines())],
            [Subheading("What was seen"), BulletList(run.explanation)],
            [Paragraph(f"The whole program: clonometer demo {demo.name} --source; it builds with: {demo.build}")],
        ],
    )
