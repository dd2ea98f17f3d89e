"""The forms that docs/architecture.md draws are those that the code has, and each is made where the page says."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from pkgutil import resolve_name

import pytest

REPOSITORY = Path(__file__).parents[1]
PAGE = (REPOSITORY / "docs/architecture.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| `([\w./]+)` \| (.*) \|$", PAGE, re.MULTILINE)
IN_C = [row for row in ROWS if row[1].endswith(".h")]
IN_PYTHON = [row for row in ROWS if row[1].startswith("clonometer.")]


def test_the_drawing_and_the_table_have_the_same_forms_in_the_same_order() -> None:
    [drawing] = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert re.findall(r"^    (\w+)  ", drawing, re.MULTILINE) == [form for form, _, _ in ROWS]
    assert IN_C + IN_PYTHON == ROWS
    assert len(ROWS) > len(IN_C) > 0


@pytest.mark.parametrize(("form", "header", "made"), IN_C)
def test_a_form_of_c_is_a_struct_of_that_header(form: str, header: str, made: str) -> None:
    assert re.search(rf"^struct {form} {{$", (REPOSITORY / header).read_text(encoding="utf-8"), re.MULTILINE)
    assert all((REPOSITORY / path).exists() for path in re.findall(r"`(core/[\w./]+)`", made))


@pytest.mark.parametrize(("form", "module", "made"), IN_PYTHON)
def test_a_form_is_a_class_of_that_module_and_what_that_function_returns(form: str, module: str, made: str) -> None:
    assert resolve_name(f"{module}:{form}").__module__ == module
    module_name, _, maker = re.sub(r"`", "", made).rpartition(".")
    if module_name.rpartition(".")[2][0].isupper():  # a method
        module_name, _, class_name = module_name.rpartition(".")
        maker = f"{class_name}.{maker}"
    returned = inspect.signature(resolve_name(f"{module_name}:{maker}")).return_annotation
    assert re.search(rf"\b{form}\b", str(returned))
