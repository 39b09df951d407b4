"""Other dtypes: the promise of an error for every dtype that an OpDef refuses, or for which no kernel is registered.

A dtype that no spec computes with is a promise too: the same error code in every mode. `refused_dtypes` has them all in
eager mode, which builds nothing; the twins of each OpDef have all modes, in the full tier.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401  registers the names of its dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.lists.raw_ops import RawOps
from tf_opdiff.harness.spec.modes import MODES
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Raises, Recipe, Spec
from tf_opdiff.harness.system.text_file import read_toml
from tf_opdiff.suites.derived.op_types import DTYPES, OpTypes, every_op

_VALID = read_toml(Path(__file__).with_name("valid_calls.toml"))
#: OpDef → what a valid call of it needs.
_CALLS: Mapping[str, Mapping[str, Any]] = {name: call for call in _VALID["calls"] for name in call["ops"]}
#: The OpDefs whose `input` is a matrix.
_OF_MATRICES = frozenset(name for name, op in RawOps.load().ops.items() if op.family == "linear-algebra")
#: The OpDefs of recurrent cells, whose inputs are matrices but for weights of one axis, and for steps in time.
_OF_CELLS = frozenset(name for name, op in RawOps.load().ops.items() if op.family == "recurrent")
_OF_MATRIX = frozenset(("x", "cs_prev", "h_prev", "w", "w_ru", "w_c"))
#: The aspect of allowed dtypes for which only XLA has no kernel.
NO_XLA = "dtypes-without-xla"
#: The texts of eager mode for an attribute, and for an input without one.
_REFUSED = {False: "not in the list of allowed values", True: "was expected to be a"}


#: The promise of a runtime that looks for a kernel in vain.
_NO_KERNEL = Raises("NOT_FOUND", without_kernel=True)


def twins(op: OpTypes) -> Iterator[Spec]:
    """The specs of an OpDef about the dtypes that it refuses, and about those without a kernel."""
    for attr in op.attrs:
        yield from twins_of(op, attr)


def twins_of(op: OpTypes, attr: str) -> Iterator[Spec]:
    """The specs about the other dtypes of one attribute.

    `NAME-other-dtypes` are dtypes that the OpDef does not allow, `NAME-dtypes-without-kernel` allowed dtypes for which
    neither the CPU nor XLA has a kernel, `NAME-dtypes-of-xla` those for which only XLA has one, and
    `NAME-dtypes-without-xla` those for which only XLA has none. Quantized dtypes, which NumPy lacks, have twins of
    their own, with `-quantized` at the end: their dtype is the one with the same bits. NAME is that of the OpDef,
    followed by the name of the attribute if it is not the first.
    """
    name = _words(op.name) + (f"-{_words(attr)}" if attr != op.attrs[0] else "")
    refusal = Raises("INVALID_ARGUMENT", _REFUSED[op.allowed.get(attr) == [attr]])
    without, without_xla = op.without_kernel(attr), op.without_kernel(attr, xla=True)
    for aspect, modes, reference, dtypes in (
        ("other-dtypes", MODES, refusal, op.disallowed(attr)),
        ("dtypes-without-kernel", MODES, _NO_KERNEL, [dtype for dtype in without if dtype in without_xla]),
        ("dtypes-of-xla", WITHOUT_XLA, _NO_KERNEL, [dtype for dtype in without if dtype not in without_xla]),
        (NO_XLA, ("xla",), _NO_KERNEL, [dtype for dtype in without_xla if dtype not in without]),
    ):
        for quantized, chosen in by_kind(dtypes):
            yield Spec(
                name=f"{name}-{aspect}" + ("-quantized" if quantized else ""),
                aspect=aspect,
                ops=op.name,
                program=_program(op, attr, quantized=quantized),
                reference=reference,
                recipes={"small": _small(op, attr)},
                dtypes=chosen,
                modes=modes,
                tier="full",
            )


def refused_dtypes(ops: Sequence[OpTypes]) -> Iterator[Spec]:
    """The specs that call all OpDefs with every dtype that they refuse, in eager mode.

    They give a text for each OpDef and attribute, with the name of the error. `eager-other-dtypes` has the dtypes of
    NumPy, `eager-other-dtypes-quantized` the quantized ones.
    """
    for quantized, dtypes in by_kind(DTYPES):
        calls = tuple(_call(op, attr) for op in ops for attr in op.attrs)
        yield Spec(
            name="eager-other-dtypes" + ("-quantized" if quantized else ""),
            ops="",
            program=_errors_of_all(calls, quantized=quantized),
            reference=partial(_expected, calls),
            recipes={"small": named(quantized=quantized)},
            dtypes=dtypes,
            modes=("eager",),
            constant=("output[0]",),
        )


def _call(op: OpTypes, attr: str) -> tuple[str, str, dict[str, Any], tuple[str, ...], tuple[str, ...]]:
    """A call of an OpDef with other dtypes, as literals.

    Returns:
      A label, the raw op, its inputs, its attributes of outputs, and the dtypes. An input is None if its dtype is that
      of the call, or the pair (dtype, shape) of an input of zeros.
    """
    inputs = {name: None if of else (dtype, _shape(op, name)) for name, dtype, of in inputs_with(op, attr)}
    label = op.name + (f" {attr}" if len(op.attrs) > 1 else "")
    return label, op.name, inputs, tuple(op.outputs), op.disallowed(attr)


def _errors_of_all(calls: Sequence[Any], *, quantized: bool) -> Callable[..., Any]:
    """A program that makes those of the calls that are about the dtype of its input."""

    def program(tf: Any, x: Any, name: Any) -> Any:
        x = tf.bitcast(x, f"q{x.dtype.name}") if quantized else x
        answers = []
        for label, raw, inputs, outputs, dtypes in calls:
            if x.dtype.name in dtypes:
                arrays = {key: x if zeros is None else tf.zeros(zeros[1], zeros[0]) for key, zeros in inputs.items()}
                arrays = {"inputs": [x, x]} if list(arrays) == ["inputs"] else arrays
                try:
                    attrs = {**dict.fromkeys(outputs, tf.float32), **_attributes(raw)}
                    getattr(tf.raw_ops, raw)(**arrays, **attrs)
                    answers.append(f"{label}: no error")
                except Exception as error:  # noqa: BLE001  every error is an answer
                    answers.append(f"{label}: {type(error).__name__}")
        return tf.constant(answers)

    return program


def _expected(calls: Sequence[Any], x: np.ndarray, name: np.ndarray) -> np.ndarray:
    """The texts that name the error of each call; `name` holds the dtype."""
    labels = [label for label, *_, dtypes in calls if name[0].decode() in dtypes]
    return np.array([f"{label}: InvalidArgumentError".encode() for label in labels], object)


def named(*, quantized: bool) -> Recipe:
    """A recipe: an array of 0 and 1, and the name of its dtype in TensorFlow."""

    def named(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        name = "string" if dtype.kind in "SO" else ("q" if quantized else "") + dtype.name
        return _bits(draw, dtype, (4,)), np.array([name.encode()], object)

    return named


def by_kind(dtypes: Iterable[str]) -> Iterator[tuple[bool, tuple[str, ...]]]:
    """Pairs (whether the dtypes are quantized, the dtypes of their inputs) of some of TensorFlow's dtypes."""
    for quantized in (False, True):
        chosen = tuple(_of_inputs(dtype) for dtype in dtypes if dtype.startswith("q") == quantized)
        if chosen:
            yield quantized, chosen


def _of_inputs(dtype: str) -> str:
    """The name of the NumPy dtype for inputs of a dtype: texts, and integers with the bits of quantized numbers."""
    return "bytes" if dtype == "string" else dtype.removeprefix("q")


def _words(name: str) -> str:
    """The name of an OpDef or attribute in small letters, with hyphens between its words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def _program(op: OpTypes, attr: str, *, quantized: bool) -> Callable[..., Any]:
    """A program that calls the raw op; quantized inputs are made of the bits of integers."""
    raw, names, outputs = op.name, tuple(op.inputs), tuple(op.outputs)
    required = dict(_attributes(raw))
    chosen = tuple(type_.rstrip("*") == attr for type_ in op.inputs.values())
    lists = tuple(type_.endswith("*") for type_ in op.inputs.values())

    def program(tf: Any, *xs: Any) -> Any:
        if quantized:
            of_attr = zip(xs, chosen, strict=True)
            xs = tuple(tf.bitcast(x, f"q{x.dtype.name}") if of else x for x, of in of_attr)
        inputs = {name: [x, x] if many else x for name, x, many in zip(names, xs, lists, strict=True)}
        return getattr(tf.raw_ops, raw)(**inputs, **dict.fromkeys(outputs, tf.float32), **required)

    return program


def _small(op: OpTypes, attr: str) -> Recipe:
    """A recipe: 0 or 1 in each element of each input; inputs of the attribute have the dtype of the case."""
    inputs = tuple(inputs_with(op, attr))

    def small(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        dtypes = (dtype if of_attr else np.dtype(other) for _, other, of_attr in inputs)
        shapes = (_shape(op, name) for name, *_ in inputs)
        return tuple(_bits(draw, d, shape) for d, shape in zip(dtypes, shapes, strict=True))

    return small


def _attributes(name: str) -> Mapping[str, Any]:
    """The attributes that an OpDef requires."""
    attributes: Mapping[str, Any] = _CALLS.get(name, {}).get("attributes", {})
    return attributes


def _shape(op: OpTypes, name: str) -> tuple[int, ...]:
    """The shape of an input."""
    own = _CALLS.get(op.name, {})
    if "shape" in own:
        return tuple(own["shape"])
    if name == "input" and op.name in _OF_MATRICES:
        return (2, 2)
    if op.name in _OF_CELLS and name in _OF_MATRIX:
        return (1, 2, 2) if name == "x" and "seq_len_max" in op.inputs else (2, 2)
    return tuple({**_VALID["inputs"], **own.get("shapes", {})}.get(name, (4,)))


def inputs_with(op: OpTypes, attr: str) -> Iterator[tuple[str, str, bool]]:
    """The inputs of an OpDef: the name, a dtype that the OpDef allows, and whether the attribute gives the dtype."""
    for name, type_ in op.inputs.items():
        kind = type_.rstrip("*")
        yield name, _first(op.allowed.get(kind, ("float32",))) if kind in op.attrs else kind, kind == attr


def _first(allowed: Collection[str]) -> str:
    """A dtype that is allowed, and that NumPy has: int32 for indices."""
    return next(dtype for dtype in ("int32", *allowed) if dtype in allowed)


def _bits(draw: Draw, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """An array of 0 and 1, or of texts of one digit."""
    bits = np.zeros(shape, bool) if not shape else draw.booleans(*shape)
    if dtype.kind in "SO":
        return np.array([b"%d" % bit for bit in bits.flat], object).reshape(shape)
    return bits.astype(np.int8).astype(dtype)


OPS = tuple(op for op in every_op() if "resource" not in op.inputs.values())
SPECS = (*refused_dtypes(OPS), *(spec for op in OPS for spec in twins(op)))
