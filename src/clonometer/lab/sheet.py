"""The teacher's sheet of a lesson: Markdown that says of each step what it shows where, and what students get wrong."""

from __future__ import annotations

import re

from clonometer.lab.reading import Lesson

_HEAD = """\
# Teacher's sheet: {title}

{teaches} The student's notebook is `{name}.ipynb`, which `clonometer lab {name}` writes.
Steps and minutes are the same in both.

Only figures of "VM" were measured: on two CPUs of an AMD EPYC under KVM, Linux 6.18. Lines that are marked as not
measured are inference. Those for a laptop were published, or follow from how hardware differs from a VM. Those for a
container follow from its sharing the kernel of its host, and from what containers often refuse. A line that names a VM
beside others was measured on the VM alone.

Your machines will differ: directions hold more often than ratios, and ratios more often than microseconds. Run the
notebook on the students' machines before the lesson.

| step | minutes |
| --- | ---: |
{steps}
| all | {minutes} |
"""


#: The machines of a line, and what says of it which of them were measured.
_MACHINES = re.compile(r"^- \*\*(?P<machines>(?:(?:Laptop|VM|container|Container)(?:, )?)+):\*\*", re.MULTILINE)
_NOTHING_MEASURED = "nothing is measured yet"


def _marked(text: str) -> str:
    """Say at each line which of its machines were not measured: it is inference, or what others published."""

    def mark(match: re.Match[str]) -> str:
        machines = match["machines"]
        rest = text[match.end() :].lstrip()
        if machines == "VM" or rest.startswith(_NOTHING_MEASURED):
            return match[0]
        which = "measured on a VM alone" if "VM" in machines else "not measured"
        return f"- **{machines} ({which}):**"

    return _MACHINES.sub(mark, text)


def teachers_sheet(lesson: Lesson) -> str:
    """Write the teacher's sheet of a lesson, with the answers that the notebook hides."""
    steps = "\n".join(f"| {number}. {step.title} | {step.minutes} |" for number, step in enumerate(lesson.steps, 1))
    parts = [
        _HEAD.format(title=lesson.title, teaches=lesson.teaches, name=lesson.name, steps=steps, minutes=lesson.minutes)
    ]
    for number, step in enumerate(lesson.steps, 1):
        parts.append(f"## {number}. {step.title} ({step.minutes} min)\n")
        parts += [f"{_marked(text)}\n" for text in step.texts("teacher")]
        parts += [f"**{question}** {answer}\n" for question, answer in step.answers]
    return "\n".join(parts)
