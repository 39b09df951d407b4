"""Public: specs of public functions that call one raw op, made of the spec of the op.

Such a function, as `tf.math.cumsum`, chooses the op and its attributes, and the spec of the op says what it promises.
The twin of this spec makes the same calls with the public function in place of the raw op; the run proves that it was
called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from tf_opdiff.harness.spec.spec import Spec

#: The aspect of the twins.
PUBLIC = "public"


def positional(function: Callable[..., Any], *args: Any, **arguments: Any) -> Any:
    """Calls a function with the arguments of the raw op, in the order in which the program passes them."""
    return function(*args, *arguments.values())


@dataclass(frozen=True)
class Public:
    """A public function that calls one raw op.

    path    its path in the module `tf`, such as `math.cumsum`.
    of      the name of the op's spec, or several names; by default, the name of the function, as `cumsum`.
    call    call(function, **arguments) → the result of the raw op. The arguments have the names of the raw op's.
    place   the path of the function in whose place it is called; by default, that of the raw op, the first of the
            spec's `ops`.
    ops     the ops that the function runs, as of a spec; by default, those of the spec.
    fields  further fields of its specs.
    """

    path: str
    of: str | tuple[str, ...] = ()
    call: Callable[..., Any] = positional
    place: str = ""
    ops: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the op's specs."""
        return (self.of,) if isinstance(self.of, str) else self.of or (_dashed(self.path.rpartition(".")[2]),)

    def twin(self, spec: Spec) -> Spec:
        """The twin of a spec of the op: `api-math-cumsum`; that of a further spec has its name at the end."""
        end = "" if spec.name == self.names[0] else f"-{spec.name}"
        place = self.place or "raw_ops." + next(op for mode in spec.modes for op in spec.ops_in(mode))
        own = {
            "name": f"api-{_dashed(self.path)}{end}",
            "aspect": PUBLIC,
            "twin_of": spec.name,
            "tier": "full",
            "full_dtypes": (),
            "program": in_place_of(place, self.path, self.call, spec.program),
            "ops": self.ops or spec.ops,
            "evidence": ";".join(filter(None, (_text(spec), f"called:{self.path}"))),
            "every_input": False,
            "elementwise": False,
            "batch": None,
        }
        return spec.but(**{**own, **self.fields})


def twins(modules: ModuleType | tuple[ModuleType, ...], *functions: str | Public) -> Iterator[Spec]:
    """The specs of public functions, made of the specs in modules of ops; a name alone stands for `Public(name)`.

    Raises:
      ValueError: no module has a spec of this name.
    """
    specs = {spec.name: spec for module in _tuple(modules) for spec in module.SPECS}
    for function in (Public(each) if isinstance(each, str) else each for each in functions):
        for name in function.names:
            if name not in specs:
                raise ValueError(f"{function.path}: expected a spec of {_named(modules)}, got {name!r}")
            yield function.twin(specs[name])


class Changed:
    """A module with other members: `Changed(tf.raw_ops, Abs=f)` is `tf.raw_ops`, in which `Abs` is f."""

    def __init__(self, module: Any, **members: Any) -> None:
        vars(self).update(members, module=module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)


def in_place_of(place: str, path: str, call: Callable[..., Any], program: Callable[..., Any]) -> Callable[..., Any]:
    """A program in which a public function is called wherever it calls the function at a place, as `raw_ops.Abs`."""
    outer, _, last = place.rpartition(".")

    def changed(tf: Any, *xs: Any, **attrs: Any) -> Any:
        def function(*args: Any, **arguments: Any) -> Any:
            return call(member(tf, path), *args, **arguments)

        inner = {last: function}
        own = {outer: Changed(getattr(tf, outer), **inner)} if outer else inner
        return program(Changed(tf, **own), *xs, **attrs)

    return changed


def member(module: Any, path: str) -> Any:
    """The member of a module at a path, such as `math.cumsum`."""
    for name in path.split("."):
        module = getattr(module, name)
    return module


def _dashed(path: str) -> str:
    return path.replace(".", "-").replace("_", "-")


def _text(spec: Spec) -> str:
    """The evidence of a spec, which is the same in all modes."""
    if not isinstance(spec.evidence, str):
        raise TypeError(f"spec {spec.name}: evidence: expected one text for all modes, got {spec.evidence!r}")
    return spec.evidence


def _tuple(modules: ModuleType | tuple[ModuleType, ...]) -> tuple[ModuleType, ...]:
    return modules if isinstance(modules, tuple) else (modules,)


def _named(modules: ModuleType | tuple[ModuleType, ...]) -> str:
    return ", ".join(module.__name__ for module in _tuple(modules))
