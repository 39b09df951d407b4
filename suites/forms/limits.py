"""Limits: the integer arguments of an op at the ends of their ranges, and past them.

The registry says which inputs and attributes of an op are integers, so an op needs no declaration. Few documents say
what an op does there. So nothing is promised, but that the process lives: devices are compared with each other.

The mode is eager, where every kernel meets the argument; graphs refuse many when they are built. Reference variables
have no eager mode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import signature
from typing import Any

from tf_opdiff.harness.paths import RAW_OPS
from tf_opdiff.harness.spec.contract import Undocumented
from tf_opdiff.harness.spec.inputs.attrs import accepted
from tf_opdiff.harness.spec.lists.raw_ops import RawOps
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Spec, Unavailable
from tf_opdiff.harness.system.text_file import read_toml
from tf_opdiff.suites.derived.twin import representative
from tf_opdiff.suites.forms.options import RENAMED, changed

#: The aspect of the specs of this module.
LIMITS = "limits"
#: The name of a limit → the number, and what it is added to: the rank or the size of the op's largest input, if any.
#: No number asks for a result that a large machine could hold: 2^40 is 0 in 32 bits, and as a size it fits nowhere.
NUMBERS: Mapping[str, tuple[int, str]] = {
    "minus_one": (-1, ""),
    "zero": (0, ""),
    "one": (1, ""),
    "last_axis": (-1, "rank"),
    "rank": (0, "rank"),
    "last": (-1, "size"),
    "size": (0, "size"),
    "smallest_int32": (-(2**31), ""),
    "past_int32": (2**40, ""),
    "smallest_int64": (-(2**63), ""),
    "largest_int64": (2**63 - 1, ""),
    "past_int64": (2**63, ""),
}
_SMALL = ("minus_one", "zero", "one", "last_axis", "rank", "last", "size")
#: The limits of an input of int32, of int64, and of an attribute, which a call may also give more than 64 bits.
_OF_INT32 = (*_SMALL, "smallest_int32")
_OF_INT64 = (*_SMALL, "past_int32", "smallest_int64", "largest_int64")
_OF_ATTRIBUTE = (*_SMALL, "past_int32", "past_int64")
#: The label of the call whose arguments are not changed: it shows that the others fail, if they do, by their argument.
UNCHANGED = "unchanged"
#: The integer arguments without limits, with the reason.
FREE: Mapping[str, str] = {
    "seed": "every integer is a seed",
    "seed2": "every integer is a seed",
}
#: The arguments, or their limits, that are left out, with the reason.
LEFT_OUT: Mapping[str, str] = {
    text: entry["reason"]
    for entry in read_toml(RAW_OPS / "limits_left_out.toml")["left_out"]
    for text in entry["arguments"]
}
#: The families of ops whose inputs of integers are the numbers that they compute with.
_OF_NUMBERS = ("elementwise",)
_OPS = RawOps.load().ops
_WHY = "the documentation does not say what this argument gives"


def with_limits(raw: str, specs: Sequence[Spec], program: Callable[..., Any] | None = None) -> Iterator[Spec]:
    """The spec `NAME-limits` of an op, made of its first spec, in the full tier: each integer argument at each limit.

    It has one dtype, and the inputs of one recipe. The attribute sets are labelled `ARGUMENT=LIMIT`. `program` takes
    the place of the program of the first spec, if that calls a public function.
    """
    main = next((spec for spec in specs if raw in spec.every_op), None)
    labels = {f"{name}={limit}": {"argument": name, "limit": limit} for name, limit in limits_of(raw)}
    if main is None or not labels:
        return
    (label, recipe), own = next(iter(main.recipes.items())), next(iter(main.attrs.values()), {})
    labels = {UNCHANGED: {"argument": "", "limit": ""}, **labels}
    mode = "eager" if "eager" in main.modes else main.modes[0]
    side = main.side(Plan(Device("cpu"), mode))
    yield Spec(
        name=f"{main.name}-{LIMITS}",
        aspect=LIMITS,
        ops=main.ops,
        program=_at_limit(program or main.program, raw),
        reference=_promise(may_fail=side is not None and side.reference is not main.reference),
        recipes={label: lambda draw, dtype: recipe(draw, dtype, **accepted(recipe, own))},
        attrs={name: {**own, **keywords} for name, keywords in labels.items()},
        dtypes=(representative(main.dtypes),),
        modes=(mode,),
        ulp=main.tolerance.ulp,
        execution=main.execution,
        constant=tuple(f"output[{i}]" for i in range(8)),
        tier="full",
    )


def limits_of(raw: str) -> Iterator[tuple[str, str]]:
    """Each integer argument of an op, with each of its limits that the file does not leave out."""
    for name, limit in every_limit_of(raw):
        if not {f"{raw}.{name}", f"{raw}.{name}={limit}"} & LEFT_OUT.keys():
            yield name, limit


def every_limit_of(raw: str) -> Iterator[tuple[str, str]]:
    """Each integer argument of an op, with each limit that its dtypes can hold."""
    op = _OPS.get(raw)
    if op is None or op.family in _OF_NUMBERS:
        return
    inputs = {name: _OF_INT64 if "int64" in dtypes else _OF_INT32 for name, dtypes in op.integers.items()}
    attributes = {name: _OF_ATTRIBUTE for name, kind in op.attributes.items() if kind in ("int", "list(int)")}
    for name, names in (inputs | attributes).items():
        yield from ((name, limit) for limit in names if name not in FREE)


def _promise(*, may_fail: bool) -> Callable[..., Undocumented]:
    """The promise of all calls: no crash; the call that is not changed gives a value, unless it may fail in a mode."""

    def promise(*xs: Any, argument: str, **attrs: Any) -> Undocumented:
        return Undocumented(_WHY, error=bool(argument) or may_fail)

    return promise


def _at_limit(program: Callable[..., Any], raw: str) -> Callable[..., Any]:
    """A program that makes the first call of a raw op alone, with one argument at a limit.

    If the call gives no number, such as a handle or a variable that it changed, the rest of the program follows.
    """
    op, numbers = _OPS[raw], dict(NUMBERS)
    integers, groups = tuple(op.integers), [tuple(names) for names in op.typed.values()]

    class Result(Exception):
        """The result of the call, which ends the program."""

    def run(tf: Any, *args: Any, argument: str, limit: str, **attrs: Any) -> Any:
        shapes = [x.shape for x in args if hasattr(x, "shape")]
        largest = max(shapes, key=lambda shape: shape.num_elements() or 0, default=tf.TensorShape([1]))
        sizes = {"": 0, "rank": largest.rank, "size": max([*largest, 0])}

        def change(tf: Any, call: Callable[..., Any], arguments: dict[str, Any]) -> Any:
            if argument:
                offset, base = numbers[limit]
                number = offset + sizes[base]
                if argument in integers:
                    group = next((names for names in groups if argument in names), (argument,))
                    arguments = arguments | with_input(tf, arguments, argument, number, group)
                else:
                    arguments = arguments | with_attribute(call, arguments, argument, number)
            result = call(**arguments)
            parts = _flat(result)
            dtypes = {part.dtype.base_dtype for part in parts if hasattr(part, "dtype")}
            if dtypes and not dtypes & {tf.resource, tf.string, tf.variant}:
                raise Result(parts if isinstance(result, list | tuple) else result)
            return result

        try:
            return changed(program, raw, change)(tf, *args, **attrs)
        except Result as end:
            return end.args[0]

    return run


def _flat(result: Any) -> list[Any]:
    """The tensors of a result: lists in it may have tensors of several shapes."""
    return [part for each in result for part in _flat(each)] if isinstance(result, list | tuple) else [result]


def with_input(tf: Any, arguments: Mapping[str, Any], name: str, number: int, group: Sequence[str]) -> dict[str, Any]:
    """An input whose last element is this number, and the inputs of its group, which have its dtype.

    Raises:
      Unavailable: the call does not have the input, or it has no element.
    """
    if name not in arguments:
        raise Unavailable(f"the call has no input {name}")
    x = arguments[name]
    if isinstance(x, list | tuple) and any(hasattr(part, "shape") for part in x):
        return {name: [*x[:-1], with_input(tf, {name: x[-1]}, name, number, (name,))[name]]}
    x = tf.convert_to_tensor(x)
    dtype = x.dtype if x.dtype.min <= number <= x.dtype.max else tf.int64
    cast = {other: tf.cast(arguments[other], dtype) for other in group if other in arguments}
    flat, known = tf.reshape(tf.cast(x, dtype), [-1]), tf.get_static_value(x)
    if not flat.shape[0]:
        raise Unavailable(f"the input {name} has no element")
    if known is not None:
        elements = known.ravel().astype(dtype.as_numpy_dtype)
        elements[-1] = number
        return {**cast, name: tf.constant(elements.reshape(known.shape), dtype)}
    last = tf.constant([number], dtype)
    return {**cast, name: tf.reshape(tf.concat([flat[:-1], last], 0), x.shape)}


def with_attribute(
    call: Callable[..., Any], arguments: Mapping[str, Any], name: str, number: int, renamed: Mapping[str, str] = RENAMED
) -> dict[str, Any]:
    """An attribute that is this number, or a list whose last element is this number.

    Raises:
      Unavailable: a call does not have the attribute.
    """
    own, parameters = renamed.get(name, name), signature(call).parameters
    if own not in parameters:
        raise Unavailable(f"a call has no argument {own}")
    value = arguments.get(own, parameters[own].default)
    return {own: [*value[:-1], number] if isinstance(value, list | tuple) else number}
