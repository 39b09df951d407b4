"""Options: attributes of an op that change no number, each with a value that its other specs do not give it.

The registry says which attributes an op has, so an op needs no declaration. A twin has the promise of the op's values.
Python cuts a fraction that an integer attribute is given, in every mode: such a value changes no number either.
The dtype of an index, a size or a seed is an option too: arguments are converted to it, and results from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import signature
from typing import Any

from tf_opdiff.harness.spec.lists.raw_ops import RawOps
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.twin import representative, twin

#: The aspect of the specs of this module.
OPTION = "option"
#: The attributes that change no number where all indices are in range and all shapes fit, with the reason.
NEUTRAL: Mapping[str, str] = {
    "bad_indices_policy": "it says what happens to indices out of range",
    "clear_after_read": "it says whether an element can be read again",
    "grad_a": "a hint for XLA: the first factor is the gradient of another op",
    "grad_b": "a hint for XLA: the second factor is the gradient of another op",
    "grad_x": "a hint for XLA: the first factor is the gradient of another op",
    "grad_y": "a hint for XLA: the second factor is the gradient of another op",
    "identical_element_shapes": "it says whether elements of two shapes are an error",
    "incompatible_shape_error": "it says whether shapes that cannot be broadcast are an error",
    "is_constant": "it says whether a loop has the value in each of its iterations",
    "perturb_singular": "it says whether a singular matrix is changed before it is inverted",
    "use_cudnn_on_gpu": "it says which library of a GPU computes",
    "use_locking": "it says whether a lock protects the update from other threads",
    "validate_indices": "it says whether indices are checked",
    "validate_shape": "it says whether the new value must have the shape of the old one",
}
#: The type attributes of indices, sizes and seeds. The other specs of an op give each of them one dtype.
OF_INDICES = ("Tk", "Tnumsegments", "Tseed", "Tshape", "out_idx", "out_type", "output_dtype", "shape_type")
#: The names that attributes have in a call, where that is not the name in the OpDef.
RENAMED: Mapping[str, str] = {"squeeze_dims": "axis"}
#: The option that says what happens to indices out of range.
POLICY = "bad_indices_policy"
#: The name of the twin whose integer attributes are fractions. Python cuts them, whatever compiles the graph.
_FRACTIONS = "fractions"
_OPS = RawOps.load().ops


#: change(tf, call, arguments) → the result of a call of a raw op with other arguments than a program gives.
Change = Callable[[Any, Callable[..., Any], dict[str, Any]], Any]


def with_options(raw: str, specs: Sequence[Spec], program: Callable[..., Any] | None = None) -> Iterator[Spec]:
    """The twins `NAME-option-ATTRIBUTE` of the first spec of an op: one for each other value of an option.

    A twin has one recipe and one dtype. The name of a value that is no boolean follows that of the attribute. "When
    using XLA, only int32 is allowed" for a seed: https://www.tensorflow.org/api_docs/python/tf/random/stateless_uniform
    For fractions, `program` takes the place of the program of the first spec, if that calls a public function.
    """
    main = next((spec for spec in specs if raw in spec.every_op), None)
    if main is None:
        return
    for name, change in (*_others(raw), *_dtypes(raw), *_fractions(raw)):
        label, recipe = next(iter(main.recipes.items()))
        yield twin(
            main,
            OPTION,
            f"-{name}",
            program=changed((program if name == _FRACTIONS else None) or main.program, raw, change),
            recipes={label: recipe},
            dtypes=(representative(main.dtypes),),
            modes=tuple(mode for mode in main.modes if mode != "xla" or not name.startswith(("tseed", _FRACTIONS))),
            upstreams={},
        )


def options_of(raw: str) -> Mapping[str, Any]:
    """The defaults of the attributes of an op that have few values, by name; none of an op without kernels for GPUs."""
    return _OPS[raw].defaults if raw in _OPS else {}


def _others(raw: str) -> Iterator[tuple[str, Change]]:
    """A name, and a change, for each value but the default of each neutral attribute of an op."""
    for name, default in options_of(raw).items():
        for value in _OPS[raw].attributes[name] if name in NEUTRAL else ():
            if value != default:
                text = name if isinstance(value, bool) else f"{name}-{value.lower()}"
                yield text.replace("_", "-"), with_values({name: value})


def _dtypes(raw: str) -> Iterator[tuple[str, Change]]:
    """A name, and a change, for each other dtype of the indices, sizes and seeds of an op; most inputs are of int32."""
    if raw not in _OPS:
        return
    op = _OPS[raw]
    for name, inputs in ((a, op.typed[a]) for a in OF_INDICES if a in op.typed):
        default = "int32" if inputs else op.defaults[name]
        for dtype in op.both(name):
            if dtype != default:
                change = with_inputs(inputs, dtype) if inputs else with_results(name, dtype, default)
                yield f"{name}-{dtype}".lower().replace("_", "-"), change


def _fractions(raw: str) -> Iterator[tuple[str, Change]]:
    """A name, and a change: each integer attribute, or element of a list of them, is a fraction that is cut to it."""
    kinds = _OPS[raw].attributes if raw in _OPS else {}
    names = [RENAMED.get(name, name) for name, kind in kinds.items() if kind in ("int", "list(int)")]

    def change(tf: Any, call: Callable[..., Any], arguments: dict[str, Any]) -> Any:
        values = {p.name: p.default for p in signature(call).parameters.values()} | arguments
        return call(**arguments | {name: _fraction(values[name]) for name in names if name in values})

    if names:
        yield _FRACTIONS, change


def _fraction(value: Any) -> Any:
    """A number that Python cuts to this one, or to each number of a list."""
    return [_fraction(each) for each in value] if isinstance(value, list | tuple) else value + math.copysign(0.5, value)


def with_values(options: Mapping[str, Any]) -> Change:
    """A change: the values of some attributes."""
    return lambda tf, call, arguments: call(**{**arguments, **options})


def with_inputs(names: Iterable[str], dtype: str) -> Change:
    """A change: the dtype of some inputs."""
    return lambda tf, call, arguments: call(**arguments | {name: tf.cast(arguments[name], dtype) for name in names})


def with_results(attr: str, dtype: str, default: str) -> Change:
    """A change: the dtype of the results that an attribute gives; they are converted to the default."""

    def change(tf: Any, call: Callable[..., Any], arguments: dict[str, Any]) -> Any:
        result = call(**arguments | {attr: tf.as_dtype(dtype)})
        if not isinstance(result, tuple):
            return tf.cast(result, default)
        return type(result)(*(tf.cast(y, default) if y.dtype == dtype else y for y in result))

    return change


def changed(program: Callable[..., Any], raw: str, change: Change) -> Callable[..., Any]:
    """A program in which each call of a raw op is changed."""

    class Changed:
        """A module, some of whose functions have others in their place."""

        def __init__(self, module: Any, **own: Any) -> None:
            self.__dict__.update(own, module=module)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.module, name)

    def run(tf: Any, *args: Any, **attrs: Any) -> Any:
        calls = []

        def in_place(**arguments: Any) -> Any:
            calls.append(arguments)
            return change(tf, getattr(tf.raw_ops, raw), arguments)

        result = program(Changed(tf, raw_ops=Changed(tf.raw_ops, **{raw: in_place})), *args, **attrs)
        if not calls:
            raise LookupError(f"the program does not call tf.raw_ops.{raw}")
        return result

    return run
