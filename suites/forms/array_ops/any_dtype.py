"""Any dtype: the twins of a spec of an op that moves elements, in the dtypes that its other specs lack.

The reference of the twin is that of the spec, called with a number for each element, its place among all elements. So
it needs no arithmetic of the dtype, and cannot compute with an element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.contract import Raises
from tf_opdiff.harness.spec.inputs.attrs import accepted
from tf_opdiff.harness.spec.inputs.recipes import Draw, is_float
from tf_opdiff.harness.spec.lists.raw_ops import RawOps
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.twin import twin
from tf_opdiff.suites.forms.of_xla import NIBBLES
from tf_opdiff.suites.forms.part import Op

#: The aspect of the twins.
ANY_DTYPE = "any-dtype"
#: The dtype of places; no output that is no element has it.
_PLACES = np.dtype(np.uint16)
#: Texts that a tensor keeps in an element, and texts that it keeps elsewhere; without characters, and with zeros.
_TEXTS = (b"", b"a", b"\0", b"\xff\xfe", b"x" * 22, b"y" * 23, b"z" * 100)


def in_any_dtype(op: Op, specs: Sequence[Spec]) -> Iterator[Spec]:
    """The twins `NAME-any-dtype` of the first spec of an op, in the full tier.

    They have the dtypes that a CPU takes and that no spec has; those for which XLA has no kernel have a twin
    of their own, `NAME-any-dtype-no-xla`.
    """
    tested = {"bytes" if dtype == "object" else dtype for spec in specs for dtype in spec.dtypes}
    main, ops = specs[0], RawOps.load().ops
    own, least = ops[op.raw], ops[op.any_dtype if isinstance(op.any_dtype, str) else op.raw]
    lacking = [dtype for dtype in least.dtypes[least.data]["CPU"] if dtype not in tested]
    # XLA leaves half of a result of 4 bits unwritten, so that no promise can be kept or broken reliably.
    in_xla = {*own.dtypes[own.data].get("XLA", ())} - {*NIBBLES}
    with_xla = [dtype for dtype in lacking if dtype in in_xla]
    without_xla = [dtype for dtype in lacking if dtype not in with_xla]
    fast = tuple(mode for mode in main.modes if mode in WITHOUT_XLA)
    kinds = (("", with_xla, main.modes), ("-no-xla", without_xla, fast))
    for end, dtypes, modes in kinds if "xla" in main.modes else (("", lacking, fast),):
        if dtypes:
            spec = _twin(main, end, dtypes=tuple(dtypes), modes=modes)
            yield from (spec, *(op.variables.twins(spec) if op.variables else ()))


def _twin(main: Spec, end: str, **fields: Any) -> Spec:
    """The twin of a spec with arrays of other elements, of one recipe."""
    label, recipe = next(iter(main.recipes.items()))
    own = next(iter(main.attrs.values()), {})
    like = recipe(Draw(0), np.dtype(np.float16), **accepted(recipe, own))
    moved = tuple(np.asarray(x).dtype == np.float16 for x in like)
    sides = {
        pattern: replace(side, reference=_by_places(side.reference, moved), vjp=None, alternatives={}, bound={})
        for pattern, side in main.contract.items()
    }
    return twin(
        main.but(vjp=None, jvp=None, hvp=None, upstreams={}, bound={}, alternatives={}, ulp={}),
        ANY_DTYPE,
        end,
        reference=_by_places(main.reference, moved),
        second=None,
        recipes={label: _filled(recipe, moved)},
        contract=sides,
        mistaken={},
        tier="full",
        **fields,
    )


def _filled(recipe: Recipe, moved: Sequence[bool]) -> Recipe:
    """A recipe whose arrays of the dtype of the case hold elements of all kinds."""

    def filled(draw: Draw, dtype: np.dtype, **attrs: Any) -> tuple[np.ndarray, ...]:
        own = map(np.asarray, recipe(draw, np.dtype(np.float16), **accepted(recipe, attrs)))
        return tuple(elements(draw, dtype, *x.shape) if of else x for x, of in zip(own, moved, strict=True))

    return filled


def elements(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Any elements of a dtype that is no float of NumPy: integers of all bits, all numbers of few bits, texts."""
    if dtype.kind in "SO":
        every = np.array(_TEXTS, object)
    elif dtype.kind in "biu":
        return draw.bits(*shape).astype(dtype) if dtype.kind in "iu" else draw.booleans(*shape)
    elif is_float(dtype):
        every = np.arange(2 ** ml_dtypes.finfo(dtype).bits).astype(np.uint8).view(dtype)
    else:
        info = ml_dtypes.iinfo(dtype)
        every = np.arange(info.min, info.max + 1).astype(dtype)
    return every[draw.integers(*shape, low=0, high=every.size).ravel()].reshape(shape)


def _by_places(reference: Callable[..., Any], moved: Sequence[bool]) -> Callable[..., Any]:
    """A reference that puts elements where another one puts their places; place 0 is that of a zero."""

    def by_places(*xs: np.ndarray, **attrs: Any) -> Any:
        dtype = next(x.dtype for x, of in zip(xs, moved, strict=True) if of)
        table, places = [np.array([b"" if dtype.kind == "O" else 0]).astype(dtype)], []
        for x, of in zip(xs, moved, strict=True):
            first = sum(map(len, table))
            places.append(np.arange(first, first + x.size, dtype=_PLACES).reshape(x.shape) if of else x)
            table += [x.ravel()] if of else []
        return _at(np.concatenate(table), reference(*places, **attrs))

    return by_places


def _at(table: np.ndarray, result: Any) -> Any:
    """A result with the elements of a table in place of their places."""
    if isinstance(result, tuple | list):
        return tuple(_at(table, each) for each in result)
    if isinstance(result, dict):
        return {name: _at(table, each) for name, each in result.items()}
    if isinstance(result, Raises) or np.asarray(result).dtype != _PLACES:
        return result
    places = np.asarray(result)
    return table[places.ravel()].reshape(places.shape)
