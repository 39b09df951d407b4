"""Call counts: how often a program calls functions of TensorFlow. Many functions leave no op in a graph."""

from __future__ import annotations

import functools
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

#: Modules that run programs: their own calls of TensorFlow do not count.
_OURS = "tf_opdiff.harness.device."
_watched: set[str] = set()
#: path of a function → the arguments that count on their own, as `(name=Identity)`.
_arguments: dict[str, set[str]] = {}
_totals: Counter[str] = Counter()
#: The code of the functions that count.
_codes: set[Any] = set()


def calls(name: str) -> int:
    """The number of calls of the function of this name in this process since `watch`."""
    return _totals[name]


def watch(tf: Any, name: str) -> None:
    """Counts from now on the calls of a function, a method or a class of TensorFlow by programs.

    `name` is its path in the module `tf`, such as `compat.v1.py_func`, `Graph.gradient_override_map` or `Graph`. With
    an argument, as in `identity(name=Identity)`, only those calls count that pass this argument with this text. Calls
    of methods of derived classes that override a method count as well.
    """
    dotted, bracket, argument = name.partition("(")
    _arguments.setdefault(dotted, set()).add(bracket + argument)
    if dotted in _watched:
        return
    _watched.add(dotted)
    *path, last = dotted.split(".")
    owner: Any = functools.reduce(getattr, path, tf)
    target, owners = getattr(owner, last), {owner}
    if inspect.isclass(target):  # the class itself must stay: others derive from it and compare with it
        owners, last = {target}, "__init__"
    elif inspect.isclass(owner):
        owners |= {derived for derived in _derived(owner) if last in vars(derived)}
    for each in owners:
        setattr(each, last, _counted(getattr(each, last), dotted))


def is_counting(function: Any) -> bool:
    """Whether `watch` put a function in the place of one of TensorFlow's."""
    return getattr(function, "__code__", None) in _codes


def _derived(kind: Any) -> Iterator[Any]:
    """The classes derived from a class, directly or indirectly."""
    for derived in kind.__subclasses__():
        yield derived
        yield from _derived(derived)


def _passed(argument: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a call passes an argument, as `(name=Identity)`; every call passes an empty one."""
    if not argument:
        return True
    name, _, value = argument.strip("()").partition("=")
    passed = inspect.signature(function).bind(*args, **kwargs).arguments
    return name in passed and str(passed[name]) == value


def _counted(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def counted(*args: Any, **kwargs: Any) -> Any:
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if caller.partition(".")[0] not in ("tensorflow", "keras") and not caller.startswith(_OURS):
            _totals.update(
                name + argument for argument in _arguments[name] if _passed(argument, function, args, kwargs)
            )
        return function(*args, **kwargs)

    function_of_ours: Any = counted
    _codes.add(function_of_ours.__code__)
    with suppress(ValueError, TypeError):  # Keras inspects a constructor's signature, without `__wrapped__`
        counted.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return counted
