"""Attributes: named sets of keyword arguments for the functions of a spec."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import Parameter, signature
from typing import Any

Keywords = Mapping[str, Any]
#: A case's id has a label between two `-`, so a label contains no `-`.
LABEL = re.compile(r"[A-Za-z0-9_.=,:+]{1,60}")


@cache
def _parameters(function: Callable[..., Any]) -> Mapping[str, Parameter] | None:
    """The parameters of a function; None where Python does not know them, as for some C functions."""
    try:
        return signature(function).parameters
    except (TypeError, ValueError):
        return None


def accepts(function: Callable[..., Any], name: str) -> bool:
    """Whether a function takes a keyword argument of this name."""
    parameters = _parameters(function)
    if parameters is None or any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return True
    return name in parameters and parameters[name].kind in (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def accepted(function: Callable[..., Any], keywords: Keywords) -> dict[str, Any]:
    """The keyword arguments that a function takes: a recipe may take fewer than the program."""
    return {name: value for name, value in keywords.items() if accepts(function, name)}


def check_attrs(attrs: Mapping[str, Keywords], functions: Iterable[tuple[str, Callable[..., Any]]]) -> None:
    """Refuses attributes that do not fit a case's id, a program's source or a function's parameters.

    Args:
      attrs: label → keyword arguments.
      functions: pairs (the function's name in messages, a function that must take every keyword argument).

    Raises:
      ValueError: a label does not match `LABEL`, a value is not a literal, or a function lacks a keyword argument. The
        message names the label.
    """
    named_functions = list(functions)
    for label, keywords in attrs.items():
        if not LABEL.fullmatch(label):
            raise ValueError(f"attrs {label!r}: expected a label that matches {LABEL.pattern}")
        for name, value in keywords.items():
            if not _is_literal(value):
                raise ValueError(f"attrs {label!r}: {name}: expected a literal, got {value!r}")
            for function_name, function in named_functions:
                if not accepts(function, name):
                    raise ValueError(f"attrs {label!r}: the {function_name} takes no keyword argument {name!r}")


def _is_literal(value: Any) -> bool:
    """Whether a value can be written as a Python literal, for other processes and for programs of findings."""
    if isinstance(value, (tuple, list)):
        return all(map(_is_literal, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_literal(item) for key, item in value.items())
    return value is None or type(value) in (bool, int, float, complex, str, bytes)
