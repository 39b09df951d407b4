"""Op registry: the raw ops with a kernel for a CPU, and one for a GPU or for XLA. Imported in device servers only.

As a program, it prints the file that `harness.spec.lists.raw_ops` reads: `python -m
tf_opdiff.harness.device.installation.op_registry`.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import kernels as kernel_registry
from tensorflow.python.framework import op_def_registry
from tensorflow.python.framework import ops as framework

from tf_opdiff.harness.device.installation.kernels import registered
from tf_opdiff.harness.device.installation.op_types import dtypes

#: The devices, with the names of their kernels. An op stands in the file if it has kernels for the first and another.
DEVICES = {"CPU": "CPU", "GPU": "GPU", "XLA": "XLA_CPU_JIT"}
#: Kernels of this type run on every device that has none of its own.
ANY_DEVICE = "DEFAULT"
#: Where oneDNN is on, TensorFlow replaces these ops by `_Mkl` and their name, others by `_MklNative` and their name.
#: https://github.com/tensorflow/tensorflow/blob/010f3edcdc25a44755a4fc439a31be2282e9e9db/tensorflow/core/graph/mkl_graph_util.h#L157
WITH_SHORT_PREFIX = ("BatchMatMul", "BatchMatMulV2", "ConjugateTranspose", "Einsum", "MatMul", "Transpose")
#: The texts of attributes that the OpDef does not list, and that kernels check.
#: https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/util/bad_indices_policy.cc
TEXTS = {"bad_indices_policy": ["", "DEFAULT", "ERROR", "IGNORE"]}
SOURCE = "tensorflow.python.framework.kernels.get_all_registered_kernels, op_def_registry and gradient_registry"


def raw_ops() -> dict[str, dict[str, Any]]:
    """The raw ops with kernels for a CPU and another one of `DEVICES`, by name.

    `devices` lists these devices. `dtypes` has, by type attribute and device, the dtypes that some kernel takes,
    whatever the other attributes; an attribute that a kernel does not restrict has all dtypes that the OpDef allows.
    Handles have no dtype here. `operands` has the names of the inputs that may be floating or complex, as a call has
    them. `gradient` is `function`, `none` (TensorFlow registers that the op has no gradient) or `absent`.
    `attributes` has the allowed values of the other attributes: texts as the OpDef lists them or as the kernel checks
    them, both booleans, otherwise the type; `defaults` has the values of those that a call may leave out. `typed`
    has, of an op with several type attributes, the names of the inputs of each, as a call has them. `onednn` tells
    whether TensorFlow has a kernel of oneDNN for the op in addition to its own CPU kernel. `integers` has the inputs
    that can only be integers, as a call has them, with the dtypes that the OpDef allows.
    """
    every = dtypes()
    return {
        name: {
            "devices": _devices(kernels),
            "dtypes": _dtypes(kernels, op_def_registry.get(name), every),
            "gradient": _gradient(name),
            "operands": _operands(name),
            "attributes": _attributes(op_def_registry.get(name)),
            "defaults": _defaults(op_def_registry.get(name)),
            "typed": _typed(name),
            "onednn": _onednn(name),
            "integers": _integers(name),
        }
        for name, kernels in registered().items()
        if "CPU" in kernels and len(_devices(kernels)) > 1 and hasattr(tf.raw_ops, name)
    }


def _devices(kernels: Mapping[str, Any]) -> list[str]:
    """The devices for which there are kernels; those for any device alone do not count."""
    return [device for device, kind in DEVICES.items() if kind in kernels]


def _dtypes(
    kernels: Mapping[str, list[dict[str, list[str]]]], op: Any, every: Sequence[str]
) -> dict[str, dict[str, list[str]]]:
    """The dtypes by type attribute and device; see `raw_ops`."""
    table: dict[str, dict[str, list[str]]] = {}
    for attr in op.attr:
        if attr.type in ("type", "list(type)"):
            numbers = attr.allowed_values.list.type
            allowed = {tf.as_dtype(number).name for number in numbers} if numbers else set(every)
            for device in _devices(kernels):
                rows = [*kernels[DEVICES[device]], *(kernels.get(ANY_DEVICE, []) if device != "XLA" else [])]
                taken = set().union(*(row.get(attr.name, every) for row in rows))
                table.setdefault(attr.name, {})[device] = [name for name in every if name in taken & allowed]
    return table


def _onednn(name: str) -> bool:
    """Whether TensorFlow registers a kernel of oneDNN for an op."""
    prefix = "_Mkl" if name in WITH_SHORT_PREFIX else "_MklNative"
    return bool(kernel_registry.get_registered_kernels_for_op(prefix + name).kernel)


def _gradient(name: str) -> str:
    """Whether TensorFlow registers a gradient function for an op, registers that there is none, or neither."""
    try:
        function = framework.gradient_registry.lookup(name)
    except LookupError:
        return "absent"
    return "none" if function is None else "function"


def _operands(name: str) -> list[str]:
    """The names of the inputs that may have a gradient; see `raw_ops`."""
    return [
        name
        for name, dtypes in _inputs(name).items()
        if not dtypes or any(dtype.is_floating or dtype.is_complex for dtype in dtypes)
    ]


def _integers(name: str) -> dict[str, list[str]]:
    """The inputs that can only be integers, with their dtypes; see `raw_ops`."""
    return {
        name: [dtype.name for dtype in dtypes]
        for name, dtypes in _inputs(name).items()
        if dtypes and all(dtype.is_integer and not dtype.is_quantized for dtype in dtypes)
    }


def _inputs(name: str) -> dict[str, list[Any]]:
    """The dtypes that an OpDef allows for each input, by its name in a call; an empty list for all dtypes."""
    op = op_def_registry.get(name)
    allowed = {attr.name: [tf.as_dtype(n) for n in attr.allowed_values.list.type] for attr in op.attr}
    names = dict(zip(inspect.signature(getattr(tf.raw_ops, name)).parameters, op.input_arg, strict=False))
    of_attr = {name: arg.type_attr or arg.type_list_attr for name, arg in names.items()}
    return {name: allowed[of_attr[name]] if of_attr[name] else [tf.as_dtype(arg.type)] for name, arg in names.items()}


def _attributes(op: Any) -> dict[str, list[Any] | str]:
    """The values of the attributes that are no types, and give no number of tensors; see `raw_ops`."""
    numbers = {arg.number_attr for arg in op.input_arg}
    values: dict[str, list[Any] | str] = {}
    for attr in op.attr:
        if "type" not in attr.type and attr.name not in numbers:
            texts = [text.decode() for text in attr.allowed_values.list.s] or TEXTS.get(attr.name)
            values[attr.name] = texts or ([False, True] if attr.type == "bool" else attr.type)
    return values


def _defaults(op: Any) -> dict[str, Any]:
    """The value that a call has if it names none, of each dtype and of each attribute with a list of values."""
    listed = {name for name, values in _attributes(op).items() if isinstance(values, list)}
    defaults = {attr.name: attr.default_value for attr in op.attr if attr.HasField("default_value")}
    texts = {name: value.s.decode() for name, value in defaults.items() if name in listed and value.HasField("s")}
    types = {name: tf.as_dtype(value.type).name for name, value in defaults.items() if value.HasField("type")}
    flags = {name: value.b for name, value in defaults.items() if name in listed and value.HasField("b")}
    return texts | flags | types


def _typed(name: str) -> dict[str, list[str]]:
    """The names of the inputs of each type attribute, if the op has several; see `raw_ops`."""
    op = op_def_registry.get(name)
    types = [attr.name for attr in op.attr if attr.type == "type"]
    names = dict(zip(inspect.signature(getattr(tf.raw_ops, name)).parameters, op.input_arg, strict=False))
    return {a: [n for n, arg in names.items() if arg.type_attr == a] for a in types} if len(types) > 1 else {}


def main() -> None:
    """Prints the ops as JSON, with a line for each op, the source and TensorFlow's version."""
    lines = [f"{json.dumps(name)}: {json.dumps(op)}" for name, op in raw_ops().items()]
    body = ",\n".join(lines)
    print(f'{{"tensorflow": "{tf.__version__}",\n"source": {json.dumps(SOURCE)},\n"ops": {{\n{body}\n}}}}')


if __name__ == "__main__":
    main()
