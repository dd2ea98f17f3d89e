"""Answers in a notebook: a record is shown as the document that the command prints of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_Answer = TypeVar("_Answer")


def shown_as(module: str, builder: str) -> Callable[[Callable[_P, _Answer]], Callable[_P, _Answer]]:
    """Let notebooks show what a function answers as a document, which ``builder`` in ``views/documents`` makes.

    Records know no views, and views are loaded when something is shown: so the first answer of its type is taught it
    here, by name.
    """

    def decorate(function: Callable[_P, _Answer]) -> Callable[_P, _Answer]:
        @wraps(function)
        def answering(*arguments: _P.args, **options: _P.kwargs) -> _Answer:
            answer = function(*arguments, **options)
            setattr(type(answer), "_repr_markdown_", _as_markdown(module, builder))  # noqa: B010
            return answer

        return answering

    return decorate


def _as_markdown(module: str, builder: str) -> Callable[[Any], str]:
    def _repr_markdown_(self: Any) -> str:
        from clonometer.views.notebook import notebook_markdown

        build = getattr(import_module(f"clonometer.views.documents.{module}"), builder)
        return notebook_markdown(build(self))

    return _repr_markdown_
