"""The teacher's sheet of a lesson: Markdown that says of each step what it shows where, and what students get wrong."""

from __future__ import annotations

from clonometer.lab.reading import Lesson

_HEAD = """\
# Teacher's sheet: {title}

{teaches} The student's notebook is `{name}.ipynb`, which `clonometer lab {name}` writes.
Steps and minutes are the same in both.

Figures of "a VM" were measured on two CPUs of an AMD EPYC under KVM, Linux 6.18. What stands at "Laptop" was
published, or follows from how hardware differs from a VM: we have not measured it. Your
machines will differ: directions hold more often than ratios, and ratios more often than microseconds. Run the notebook
on the students' machines before the lesson. A container shares the kernel of its host, so its figures are the host's;
what it may lack is named.

| step | minutes |
| --- | ---: |
{steps}
| all | {minutes} |
"""


def teachers_sheet(lesson: Lesson) -> str:
    """Write the teacher's sheet of a lesson, with the answers that the notebook hides."""
    steps = "\n".join(f"| {number}. {step.title} | {step.minutes} |" for number, step in enumerate(lesson.steps, 1))
    parts = [
        _HEAD.format(title=lesson.title, teaches=lesson.teaches, name=lesson.name, steps=steps, minutes=lesson.minutes)
    ]
    for number, step in enumerate(lesson.steps, 1):
        parts.append(f"## {number}. {step.title} ({step.minutes} min)\n")
        parts += [f"{text}\n" for text in step.texts("teacher")]
        parts += [f"**{question}** {answer}\n" for question, answer in step.answers]
    return "\n".join(parts)
