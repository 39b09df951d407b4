"""Ops that read by indices: their recipes, their VJPs, and what each device does with an index out of range."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS, edges, is_float, subnormals
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Recipe, Side, Spec
from tf_opdiff.suites.forms.array_ops.quantized import IN_XLA, NOT_IN_XLA, quantized
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU, OF_XLA
from tf_opdiff.suites.forms.part import Op, Part, part
from tf_opdiff.suites.reference.promises.subnormal import flushed_in, wholes

SMOOTH = (*FLOATS, *COMPLEX)
#: TensorFlow does not differentiate these, nor float8.
ROUGH = (*INTEGERS, "bool", "bytes")


def picks(params, indices, dtype="int32"):
    """A recipe: params of a shape, and indices of a shape into the dimension that has seven elements, some repeated."""
    return lambda draw, d: (draw.values(d, *params), draw.integers(*indices, low=0, high=7).astype(dtype))


def ends(params, indices, dtype="int32"):
    """A recipe like `picks`, of the first and the last of the seven elements alone."""
    return lambda draw, d: (draw.values(d, *params), (6 * draw.integers(*indices, low=0, high=2)).astype(dtype))


def distinct(params, indices, dtype="int32"):
    """A recipe like `picks`, without repeats within a row of indices."""

    def recipe(draw, d):
        order = draw.bits(*indices[:-1], 7).argsort(-1, stable=True)
        return draw.values(d, *params), order[..., : indices[-1]].astype(dtype)

    return recipe


def tuples(params, indices, dtype="int32"):
    """A recipe: params of a shape, and index tuples into it."""

    def recipe(draw, d):
        x, depth = draw.values(d, *params), indices[-1]
        parts = [draw.integers(*indices[:-1], low=0, high=n) for n in params[:depth]]
        return x, np.stack(parts, -1).astype(dtype)

    return recipe


def distinct_tuples(params, indices, dtype="int32"):
    """A recipe like `tuples`, without repeats."""

    def recipe(draw, d):
        shape = params[: indices[-1]]
        order = draw.bits(np.prod(shape)).argsort(stable=True)[: indices[0]]
        return draw.values(d, *params), np.stack(np.unravel_index(order, shape), -1).astype(dtype)

    return recipe


def literal(params, indices, dtype="int32"):
    """A recipe: params of a shape, and these very indices."""
    return lambda draw, d: (draw.values(d, *params), np.array(indices, dtype))


def special(recipe):
    """A recipe like this one, with special values as params: limits, and for floats NaN, infinities and subnormals."""

    def drawn(draw, d):
        x, i = recipe(draw, d)
        values = edges(draw, d)[0]
        if is_float(d):
            values = np.concatenate([subnormals(draw, d)[0][:12], values[:29]])
        return np.resize(np.roll(values, 3), x.shape), i

    return drawn


def firsts(params, indices, dtype="int32"):
    """A recipe: params of a shape, and indices of a shape that are all zero."""
    return lambda draw, d: (draw.values(d, *params), np.zeros(indices, dtype))


#: Reads of rows without elements or with one, and with no index or one. Indices have rank 1, then 2.
ROWS = {
    "no_index": firsts((7, 5), (0,)),
    "no_index_nor_row": firsts((0, 5), (0,)),
    "no_columns": firsts((7, 0), (4,)),
    "one": firsts((1,), (1,)),
    "no_row_of_indices": firsts((3, 1, 2), (0, 3)),
    "no_column_of_indices": firsts((1, 1, 1), (1, 0)),
    "empty_inside": firsts((1, 0, 2), (1, 1)),
}
#: Batches of rows and indices without elements, or with one.
BATCHES = {
    "no_batch": firsts((0, 7), (0, 4)),
    "no_index": firsts((3, 7), (3, 0)),
    "no_index_nor_row": firsts((1, 0), (1, 0)),
    "one": firsts((1, 1), (1, 1)),
    "no_columns": firsts((1, 2, 0), (1, 1)),
}
#: Rows and tuples of indices without elements, or with one: the last dimension of the indices is the depth. There is no
#: list of rows, since its gradient is sparse if the depth is known when the program is built, and dense otherwise.
TUPLES = {
    "no_tuple": firsts((7, 5), (0, 2)),
    "no_tuple_nor_row": firsts((0, 5), (0, 1, 1)),
    "no_columns": firsts((7, 0), (4, 1, 1)),
    "one": firsts((1, 1), (1, 2)),
    "no_row_of_tuples": firsts((1, 1, 1), (0, 3, 2)),
    "no_column_of_tuples": firsts((1, 1, 1), (3, 0, 3)),
    "empty_inside": firsts((1, 0, 2), (1, 1, 1)),
}


#: What a part that promises values alone leaves out.
_NO_GRADIENT: Mapping[str, Any] = {"vjp": None, "bound": {}, "alternatives": {}}


def copied(recipe: Callable[..., Recipe], *shapes: Any, short: bool = True) -> Part:
    """A part: dtypes that are copied alone, in the full tier.

    Args:
      recipe: recipe(*shapes) → params and indices.
      shapes: their shapes.
      short: whether a CPU has quantized numbers of 16 bits.
    """

    def specs(op: Op) -> Iterable[Spec]:
        one = {**_NO_GRADIENT, "recipes": {"int32": recipe(*shapes)}, "tier": "full"}
        bits = quantized(op.called, 1)
        yield from part("-quantized", program=bits, dtypes=IN_XLA, **one)(op)
        if short:
            yield from part("-16-bits-quantized", program=bits, dtypes=NOT_IN_XLA, modes=WITHOUT_XLA, **one)(op)
        yield from part("-of-xla", dtypes=OF_XLA, modes=("xla",), **one)(op)

    return specs


def rough(recipe: Callable[..., Recipe], *shapes: Any, **fields: Any) -> Part:
    """A part: dtypes that TensorFlow does not differentiate, with indices of int32 and of int64; see `copied`."""

    def pair(draw: Any, d: Any) -> Any:
        (x, i), (_, j) = (recipe(*shapes, dtype)(draw, d) for dtype in ("int32", "int64"))
        return x, i, j

    def specs(op: Op) -> Iterable[Spec]:
        program, reference = op.called, op.reference
        settings = {
            **_NO_GRADIENT,
            "program": lambda tf, *xs: (program(tf, *xs[:-2], xs[-2]), program(tf, *xs[:-2], xs[-1])),
            "reference": lambda x, i, j: (reference(x, i), reference(x, j)),
            "recipes": {"int32_int64": pair},
            "dtypes": (*FLOAT8_OF_CPU, *ROUGH),
        }
        return part("-rough", **settings | fields)(op)

    return specs


def params_only(vjp):
    """A VJP that has nothing for the indices."""
    return lambda g, x, i: (vjp(g, x, i), None)


def flushed_sums(put):
    """The alternatives of a gradient that sums upstreams up: subnormal upstreams or sums may count as zeros."""

    def alternatives(dtype, g, x, i):
        return wholes(flushed_in(dtype, put(g, x, i)), put(flushed_in(dtype, g), x, i))

    return alternatives


def variable_only(vjp):
    """The VJP of a program that reads a variable that was made from its input: nothing to the input."""
    return lambda g, x, i: (None, None, vjp(g, x, i))


def variable(tf, x, *indices):
    """A resource variable that holds the params."""
    return {"v": tf.Variable(x)}


#: Indices that are out of range of five elements.
#: (2, 1) is out of range in the place where (2, 0) is in range, should 64 bits be cut to 32.
BAD = {"at_end": 5, "beyond_int32": 2**32 + 1, "lowest_int64": -(2**63), "negative": -1, "too_large": 1000}


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The answers to an index out of range: the error of a CPU, the result of XLA, and that of a GPU's kernel.

    Each is a function of params and indices. `vjp` is the VJP of the two that are no error: a gradient of an index out
    of range goes nowhere, or stays in sparse form.
    """

    refused: Callable[..., Any]
    clamped: Callable[..., Any]
    zeroed: Callable[..., Any]
    vjp: Callable[..., Any]

    @property
    def contract(self) -> dict[str, Side]:
        """The contract of accelerators; a CPU raises."""
        xla = Side(
            reference=self.clamped,
            vjp=self.vjp,
            why="on an accelerator XLA clamps the indices of a gather, and drops the updates of a scatter out of range",
            link="https://openxla.org/xla/operation_semantics#gather",
        )
        gpu = Side(
            reference=self.zeroed,
            vjp=self.vjp,
            why="on GPU a 0 is stored in the corresponding output value",
            link="https://www.tensorflow.org/api_docs/python/tf/gather",
        )
        return {"gpu/xla": xla, "tpu/xla": xla, "gpu/*": gpu}


def out_of_range(
    suffix: str,
    answers: Answers,
    recipes: Mapping[str, Recipe],
    *,
    contract: Mapping[str, Side] | None = None,
    **fields: Any,
) -> Part:
    """A part: a read with indices out of range: an error on a CPU, an answer on accelerators.

    `contract` comes before that of the answers; `fields` are those of a spec.
    """
    own = {"reference": answers.refused, "contract": {**(contract or {}), **answers.contract}}
    return part(suffix, recipes=recipes, **own, **{**_NO_GRADIENT, **fields})


def no_gpu_kernel(reference, vjp, why):
    """The contract of an attribute for which no GPU kernel is registered: only XLA can express it there."""
    eager = Side(reference=raises("NOT_FOUND"), why=why)
    placed = Side(reference=raises("INVALID_ARGUMENT"), why=why)
    return {"gpu/xla": Side(reference=reference, vjp=vjp, why=why), "gpu/eager": eager, "gpu/*": placed}
