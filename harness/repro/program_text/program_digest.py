"""Program digest: a hash of a spec's program, by which runs and recordings know whether it is the same program."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any

from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.repro.program_text.writer import Writer
from tf_opdiff.harness.spec.spec import Spec


def digest(spec: Spec) -> str:
    """A hash of a spec's program and state, with everything that they use; comments and layout do not matter."""
    functions = tuple(filter(None, (spec.program, spec.execution.state)))
    files = (path.read_text() for path in spec.files)
    batch = () if spec.batch is None else (repr(spec.batch),)
    return hashed(
        text_of(functions), *files, repr((spec.execution.steps, spec.elementwise, spec.execution.sessions)), *batch
    )


def hashed(*parts: str) -> str:
    """A hash of texts, as 16 hexadecimal digits."""
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()


def text_of(functions: Sequence[Callable[..., Any]]) -> str:
    """The source of functions with everything that they use, without comments and layout.

    If they use a value that has no literal, the source of their modules instead, which define that value. Of a function
    that is not written in Python, its name.
    """
    writer = Writer()
    try:
        for function in functions:
            writer.function(function)
        return ast.unparse(ast.parse(writer.text))
    except Unwritable:
        return "\n".join(dict.fromkeys(text for function in functions for text in _texts(function)))


def _texts(value: Any) -> Iterator[str]:
    """A text for a function or an argument of it; every process gives the same text."""
    if isinstance(value, FunctionType):
        yield inspect.getsource(sys.modules[value.__module__])
    elif isinstance(value, functools.partial):
        for part in (value.func, *value.args, *value.keywords.values()):
            yield from _texts(part)
    elif is_dataclass(value) and not isinstance(value, type):
        for part in fields(value):
            yield from _texts(getattr(value, part.name))
    elif hasattr(value, "__name__"):
        yield f"{getattr(value, '__module__', '')}.{value.__name__}"
    else:
        yield repr(value)
