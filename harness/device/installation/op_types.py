"""Op types: the dtypes that OpDefs allow and that kernels take. Imported in device servers only.

As a program, it writes the file that the suites read instead of asking TensorFlow:
`python -m tf_opdiff.harness.device.installation.op_types PACKAGE [OP …]` lists the OpDefs that the specs of a package
name, and those that follow in a table of their own.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from inspect import signature
from typing import Any

import tensorflow as tf
from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import op_def_registry

from tf_opdiff.harness.device.installation.kernels import registered
from tf_opdiff.harness.spec.catalog import Catalog

#: Kernels of this device type, and of XLA's compiler for it, are listed.
_CPU = ("CPU", "XLA_CPU_JIT")
#: DataTypes of handles, and none: a tensor of them has no elements to compute with.
_WITHOUT_VALUES = ("DT_INVALID", "DT_RESOURCE", "DT_VARIANT")


def dtypes() -> list[str]:
    """The names of the dtypes whose tensors hold values, in TensorFlow's order."""
    numbers = {name: number for name, number in types_pb2.DataType.items() if not name.endswith("_REF")}
    return [tf.as_dtype(number).name for name, number in numbers.items() if name not in _WITHOUT_VALUES]


def op_types(ops: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The inputs and the dtypes of OpDefs, by name.

    `inputs` has the dtype of each input, or the attribute that gives it, by the name of the raw op's parameter; a list
    of tensors has `*` behind it. If no attribute gives the dtype of any input, the dtypes themselves stand for
    attributes. `allowed` has the dtypes that the OpDef allows, by attribute; all, for an attribute that it leaves out.
    `outputs` names the other attributes that need a dtype. `kernels` has, by attribute and device type, the dtypes that
    some kernel takes, whatever the other attributes; all, where the device type is left out.
    """
    listed, every = registered(), dtypes()
    described = {}
    for name in sorted(ops):
        op = op_def_registry.get(name)
        types_of_inputs = [_type_of(arg) for arg in op.input_arg]
        inputs = dict(zip(signature(getattr(tf.raw_ops, name)).parameters, types_of_inputs, strict=False))
        types = {attr.name: attr for attr in op.attr if attr.type == "type"}
        of_inputs = [attr for attr in types if attr in {text.rstrip("*") for text in inputs.values()}]
        fixed = [] if of_inputs else sorted(set(inputs.values()))
        limited = {a: types[a].allowed_values.list.type for a in of_inputs}
        described[name] = {
            "inputs": inputs,
            "allowed": {a: _names(numbers, every) for a, numbers in limited.items() if numbers}
            | {d: [d] for d in fixed},
            "outputs": [a for a, attr in types.items() if a not in of_inputs and not attr.HasField("default_value")],
            "kernels": {a: _taken(listed.get(name, {}), a, every) for a in of_inputs} | {d: {} for d in fixed},
        }
    return described


def required(name: str) -> dict[str, Any]:
    """A value for each attribute that a call of an OpDef must give: the first allowed one, or a small one."""
    op = op_def_registry.get(name)
    of_inputs = {attr for arg in op.input_arg for attr in (arg.type_attr, arg.number_attr, arg.type_list_attr)}
    others = [attr for attr in op.attr if attr.name not in of_inputs and not attr.HasField("default_value")]
    return {attr.name: next(_values(attr)) for attr in others}


def _values(attr: Any) -> Iterator[Any]:
    """Some values of an attribute."""
    yield from (tf.as_dtype(number).name for number in attr.allowed_values.list.type)
    yield from (text.decode() for text in attr.allowed_values.list.s)
    number = max(1, attr.minimum)
    kinds = {"type": "float32", "string": "a", "int": number, "float": 1.0, "bool": False, "shape": []}
    lists = {"list(int)": [1] * max(4, number), "list(float)": [1.0], "list(shape)": [[]], "list(type)": ["float32"]}
    yield (kinds | lists)[attr.type]


def has_reference(name: str) -> bool:
    """Whether an OpDef takes a reference to a variable, or returns one: eager mode has none."""
    op = op_def_registry.get(name)
    return any(arg.is_ref for arg in (*op.input_arg, *op.output_arg))


def _type_of(arg: Any) -> str:
    one = arg.type_attr or tf.as_dtype(arg.type).name
    return one + "*" if arg.number_attr else one


def _names(numbers: Iterable[int], every: Sequence[str]) -> list[str]:
    """The names of DataTypes, in the order of `every`; those that are not in it are left out."""
    names = {tf.as_dtype(number).name for number in numbers}
    return [name for name in every if name in names]


def _taken(kernels: dict[str, list[dict[str, list[str]]]], attr: str, every: Sequence[str]) -> dict[str, list[str]]:
    """The dtypes of an attribute that some kernel of a device type takes; see `op_types`."""
    taken = {}
    for kind in _CPU:
        rows = kernels.get(kind, [])
        if not any(attr not in row for row in rows):
            names = {name for row in rows for name in row[attr]}
            taken[kind] = [name for name in every if name in names]
    return taken


def main(package: str, *others: str) -> None:
    """Prints the dtypes, and the OpDefs that alone are the subject of a spec, as JSON with a line for each OpDef.

    OpDefs that were removed from GraphDef are listed apart: they are an error for every dtype. Those of `others`, too:
    their attributes follow, and whether they have references to variables.
    """
    specs = Catalog.load(package).specs.values()
    ops = {spec.ops for spec in specs if isinstance(spec.ops, str) and spec.ops and ";" not in spec.ops}
    removed = {name for name in ops if op_def_registry.get(name).deprecation.version}
    calls = {name: {"required": required(name), "reference": has_reference(name)} for name in others}
    tables = {
        "ops": op_types(ops - {*others} - removed),
        "others": {name: types | calls[name] for name, types in op_types(others).items()},
    }
    heads = {"tensorflow": tf.__version__, "dtypes": dtypes(), "removed": sorted(removed)}
    texts = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in heads.items()]
    for title, table in tables.items():
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(types)}" for name, types in table.items())
        texts.append(f'"{title}": {{\n{lines}\n}}')
    print("{" + ",\n".join(texts) + "}")


if __name__ == "__main__":
    main(*sys.argv[1:])
