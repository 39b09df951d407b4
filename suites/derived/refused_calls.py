"""Refused calls: for each OpDef without twins, every dtype that it refuses, and every dtype without a kernel.

The OpDefs of `op_types.without_twins` stand in one program, which answers a text for each call. TensorFlow refuses a
dtype before it looks at shapes and values, so that the inputs may be any tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.contract import Side, Undocumented
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.op_types import DTYPES, OpTypes, without_twins
from tf_opdiff.suites.derived.other_dtypes import by_kind, inputs_with, named

#: The errors of a dtype that is not allowed, of the runtime and of Python; and those of one without a kernel.
_REFUSED = ("InvalidArgumentError", "TypeError", "ValueError")
_WITHOUT_KERNEL = ("NotFoundError", "InvalidArgumentError")
_OF_CPUS = "the table of kernels is that of CPUs: another device has more of them, or fewer"


@dataclass(frozen=True)
class _Refused:
    """The calls of an OpDef that TensorFlow refuses, as literals.

    label       the OpDef, and the attribute that gives the dtype if it has several.
    raw         the OpDef.
    inputs      name → its dtype, or an empty text for that of the call; in a tuple if the input is a list.
    attributes  the other arguments.
    dtypes      the dtypes that are refused.
    """

    label: str
    raw: str
    inputs: dict[str, Any]
    attributes: dict[str, Any]
    dtypes: tuple[str, ...]


def refused_calls(ops: Iterable[OpTypes]) -> Iterator[Spec]:
    """The specs about the dtypes that OpDefs refuse, in eager mode and functions; those of references in graphs.

    `every-op-refused` and `references-refused` are about dtypes that an OpDef does not allow, and
    `every-op-without-kernel` about allowed dtypes without a kernel for CPUs. The quantized dtypes, which NumPy
    lacks, have specs of their own, with `-quantized` at the end.
    """
    eager, references = ([op for op in ops if op.reference is own] for own in (False, True))
    disallowed, without_kernel = OpTypes.disallowed, OpTypes.without_kernel
    yield from _specs("every-op-refused", _calls(eager, disallowed), _REFUSED, ("eager", "function"))
    yield from _specs("references-refused", _calls(references, disallowed), _REFUSED, ("graph",))
    lacking = _specs("every-op-without-kernel", _calls(eager, without_kernel), _WITHOUT_KERNEL, ("eager",))
    other = Side(reference=lambda x, name: Undocumented(_OF_CPUS), why=_OF_CPUS)
    yield from (spec.but(contract={"gpu/*": other}) for spec in lacking)


def _calls(ops: Iterable[OpTypes], refused: Callable[[OpTypes, str], Sequence[str]]) -> tuple[_Refused, ...]:
    """The calls of OpDefs with the dtypes that they refuse, by attribute."""
    return tuple(
        _Refused(
            op.name + (f" {attr}" if len(op.attrs) > 1 else ""),
            op.name,
            {name: _listed(op.inputs[name], "" if own else dtype) for name, dtype, own in inputs_with(op, attr)},
            dict(op.required),
            tuple(refused(op, attr)),
        )
        for op in ops
        for attr in op.attrs
    )


def _listed(type_: str, dtype: str) -> Any:
    """The dtype of an input of a type: see `_Refused.inputs`."""
    return (dtype, dtype) if type_.endswith("*") else dtype


def _specs(name: str, calls: tuple[_Refused, ...], errors: tuple[str, ...], modes: tuple[str, ...]) -> Iterator[Spec]:
    """The specs of calls: one of the dtypes of NumPy, and one of quantized dtypes."""
    refused = {dtype for call in calls for dtype in call.dtypes}
    for quantized, dtypes in by_kind(dtype for dtype in DTYPES if dtype in refused):
        yield Spec(
            name=name + ("-quantized" if quantized else ""),
            ops="",
            program=_program(calls, errors, quantized=quantized, references=modes == ("graph",)),
            reference=lambda x, name: np.array(
                [f"{call.label}: refused".encode() for call in calls if name[0].decode() in call.dtypes], object
            ),
            recipes={"small": named(quantized=quantized)},
            dtypes=dtypes,
            modes=modes,
            constant=("output[0]",),
            tier="full",
        )


def _program(calls: tuple[_Refused, ...], errors: tuple[str, ...], *, quantized: bool, references: bool) -> Any:
    """A program that answers of each call about the dtype of its input whether it is refused."""

    def program(tf: Any, x: Any, name: Any) -> Any:
        x = tf.bitcast(x, f"q{x.dtype.name}") if quantized else x
        handles = {
            "resource": lambda: tf.raw_ops.VarHandleOp(shape=[], dtype=tf.float32),
            "variant": lambda: tf.raw_ops.EmptyTensorList(
                element_shape=tf.constant([], tf.int32), max_num_elements=1, element_dtype=tf.float32
            ),
        }

        def tensor(dtype: Any) -> Any:
            if isinstance(dtype, tuple):
                return [tensor(each) for each in dtype]
            if not dtype and references:
                return tf.raw_ops.VariableV2(shape=[4], dtype=x.dtype)
            return x if not dtype else handles[dtype]() if dtype in handles else tf.zeros([4], dtype)

        def answer(call: Any) -> str:
            try:
                inputs = {key: tensor(dtype) for key, dtype in call.inputs.items()}
                getattr(tf.raw_ops, call.raw)(**inputs, **call.attributes)
            except Exception as error:  # noqa: BLE001  every error is an answer
                kind = type(error).__name__
                return f"{call.label}: " + ("refused" if kind in errors else kind)
            return f"{call.label}: no error"

        return tf.constant([answer(call) for call in calls if x.dtype.name in call.dtypes])

    return program


SPECS = (*refused_calls([*without_twins()]),)
