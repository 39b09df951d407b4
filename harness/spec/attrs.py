"""Attributes: named sets of keyword arguments, with each of which all functions of a spec are called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import Parameter, signature
from typing import Any

Keywords = Mapping[str, Any]
#: A label stands between two `-` in a case's id, so that it has none itself.
LABEL = re.compile(r"[A-Za-z0-9_.=,:+]{1,60}")


@cache
def _parameters(function: Callable[..., Any]) -> Mapping[str, Parameter] | None:
    """The parameters of a function; None where Python does not know them, as of some functions in C."""
    try:
        return signature(function).parameters
    except (TypeError, ValueError):
        return None


def accepts(function: Callable[..., Any], name: str) -> bool:
    """Whether a function has a parameter of this name that a caller can give by keyword."""
    parameters = _parameters(function)
    if parameters is None or any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return True
    return name in parameters and parameters[name].kind in (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def accepted(function: Callable[..., Any], keywords: Keywords) -> dict[str, Any]:
    """Those of the keyword arguments that a function takes: a recipe may need fewer than the program."""
    return {name: value for name, value in keywords.items() if accepts(function, name)}


def check_attrs(attrs: Mapping[str, Keywords], functions: Iterable[tuple[str, Callable[..., Any]]]) -> None:
    """Refuses attributes that a case's id, a program's source or a function could not take.

    Args:
      attrs: label → keyword arguments.
      functions: the functions that take every keyword argument, each with the word that a message uses for it.

    Raises:
      ValueError: a label has another form than `LABEL`, a value is no literal, or a function takes no such keyword; the
        message names the label.
    """
    named = list(functions)
    for label, keywords in attrs.items():
        if not LABEL.fullmatch(label):
            raise ValueError(f"attrs {label!r}: expected a label that matches {LABEL.pattern}")
        for name, value in keywords.items():
            if not _is_literal(value):
                raise ValueError(f"attrs {label!r}: {name}: expected a literal, got {value!r}")
            for word, function in named:
                if not accepts(function, name):
                    raise ValueError(f"attrs {label!r}: the {word} takes no keyword argument {name!r}")


def _is_literal(value: Any) -> bool:
    """Whether a value has a literal, so that it can cross processes and stand in a program."""
    if isinstance(value, (tuple, list)):
        return all(map(_is_literal, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_literal(item) for key, item in value.items())
    return value is None or type(value) in (bool, int, float, complex, str, bytes)
