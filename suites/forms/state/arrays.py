"""Arrays of tensors: the results and the errors of the ops that make a TensorArray, write to it and read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.spec import Recipe, Side, Spec
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.derived.twin import in_tiers
from tf_opdiff.suites.forms.array_ops.any_dtype import in_any_dtype
from tf_opdiff.suites.forms.errors import IN_KERNEL, raises
from tf_opdiff.suites.forms.limits import with_limits
from tf_opdiff.suites.forms.options import with_options
from tf_opdiff.suites.forms.part import Op, Part, part, tiered
from tf_opdiff.suites.forms.programs.control_flow import with_v1
from tf_opdiff.suites.forms.state.array_programs import V1, V2, V3, Array, Steps, Version
from tf_opdiff.suites.forms.state.lists import FEW, contents, no_kernel, of_floats, small, tensors
from tf_opdiff.suites.reference.promises.promise import together

#: The dtypes of elements for which a CPU and a GPU have kernels.
DTYPES = tiered((*FLOATS, *COMPLEX, "int32", "int64"), ("float32",))
#: The shape of elements, places of five of them, and places outside of an array of two.
ROWS, PLACES = (5, 3), np.array([4, 0, 2, 3, 1], "int32")
OUTSIDE = {"at_end": 2, "beyond": 2**31 - 1, "negative": -1}
#: The recipes of one element; those of two elements, and of small ones.
ONE: Mapping[str, Recipe] = {"plain": tensors(ROWS)}
TWO = (contents(ROWS, ROWS), small(2))
#: A part of the op of a version.
VersionPart = Callable[[Version], Part]


def written(new: Array, x: Any) -> Array:
    """An array of two elements, of which the second one was written."""
    return new.new(2).write(1, x)


def in_versions(
    steps: Steps, *parts: VersionPart, versions: Sequence[Version] = (V1, V2, V3), suffix: bool = True
) -> Part:
    """A part: an op on arrays, in each version.

    Args:
      steps: its program, which has to run it.
      parts: its parts, by version.
      versions: the versions that have the op.
      suffix: whether the name of the OpDef ends with the version.
    """

    def specs(op: Op) -> Iterator[Spec]:
        for version in versions:
            own = replace(
                op,
                name=op.name.replace("tensor-array", version.name),
                raw=op.raw + version.suffix if suffix else op.raw,
                program=version.program(steps),
                fields={"modes": version.modes, **op.fields},
            )
            made = [spec for each in parts for spec in each(version)(own)]
            made += in_any_dtype(own, made) if op.any_dtype else ()
            yield from made
            if own.raw != op.raw:  # `op` gives the options of its own raw op
                yield from (*with_options(own.raw, made), *with_limits(own.raw, made))

    return specs


def results(
    recipes: Mapping[str, Recipe], tiny: Mapping[str, Recipe], *, vjp: Callable[..., Any] | None = None, **fields: Any
) -> VersionPart:
    """A part: the results of an op in all dtypes and in small sizes, and their gradients.

    Args:
      recipes: the recipes; `plain` is that of the gradient.
      tiny: the recipes of small sizes.
      vjp: as of a spec, for inputs that are floats.
      fields: further fields.
    """

    def specs(op: Op) -> Iterator[Spec]:
        main, *others = part(recipes=recipes, dtypes=DTYPES, **fields)(op)
        yield from (main, *others, *sizes(main, tiny, few=FEW))
        if vjp:
            plain = main.but(recipes={"plain": recipes["plain"]}, vjp=of_floats(vjp))
            yield from _gradients(plain, tuple(d for d in DTYPES if d != "float32" and d in (*FLOATS, *COMPLEX)))

    return lambda version: specs


def _gradients(main: Spec, dtypes: tuple[str, ...]) -> Iterator[Spec]:
    """The gradient of a spec, and that of its program while v2 control flow is disabled, as TensorArrays need it.

    The harness asks for gradients outside of the program. So in the second spec, the program computes its own gradient,
    with its outputs as upstreams; the gradient is an output.

    Args:
      main: the spec, with a VJP.
      dtypes: the dtypes that have a gradient, besides float32.
    """
    main = replace(main, dtypes=("float32", *dtypes))
    yield from in_tiers(replace(main, name=f"{main.name}-gradient"), "float32")
    if main.modes == MODES and main.derivatives.vjp:
        within = main.but(
            name=f"{main.name}-gradient-v1",
            program=with_v1(_differentiated(main.program)),
            reference=_with_gradient(main.reference, main.derivatives.vjp),
            vjp=None,
            modes=("graph",),
            contract={},
        )
        yield from in_tiers(within, "float32")


def _differentiated(program: Callable[..., Any]) -> Callable[..., Any]:
    """A program in the form of `with_v1` that returns the gradients of float inputs behind its outputs."""

    def differentiated(tf: Any, api: Any, *inputs: Any) -> tuple[Any, ...]:
        outputs = together(program(tf, *inputs))
        sources, targets = ([x for x in xs if x.dtype.is_floating or x.dtype.is_complex] for xs in (inputs, outputs))
        return (*outputs, *tf.gradients(targets, sources, grad_ys=targets))

    return differentiated


def _with_gradient(reference: Callable[..., Any], vjp: Callable[..., Any]) -> Callable[..., Any]:
    """The reference of such a program."""

    def promised(*inputs: np.ndarray) -> tuple[Any, ...]:
        outputs = together(reference(*inputs))
        gradients = vjp(outputs if len(outputs) > 1 else outputs[0], *inputs)
        return (*outputs, *(g for g in gradients if g is not None))

    return promised


def refused(
    suffix: str,
    steps: Steps,
    recipes: Mapping[str, Recipe],
    versions: Sequence[Version] = (V1, V2, V3),
    contract: Mapping[str, Side] | None = None,
    **promise: Any,
) -> VersionPart:
    """A part: arguments that the op refuses, in some versions; a kernel does, with another promise by default.

    Args:
      suffix: the end of the specs' names.
      steps: the program.
      recipes: the recipes.
      versions: the versions.
      contract: the contract of a version that runs in all modes.
      promise: the promise, as fields of a spec; by default, INVALID_ARGUMENT.
    """

    def of(version: Version) -> Part:
        sides = {"contract": contract} if contract and len(version.modes) > 1 else {}
        own = {**(promise or IN_KERNEL), **sides}
        return (
            part(suffix, program=version.program(steps), recipes=recipes, **own)
            if version in versions
            else lambda op: ()
        )

    return of


def removed(version: Version, steps: Steps, ops: Sequence[str], *, eager: str, recipe: Recipe) -> dict[str, Any]:
    """The fields of a version that TensorFlow removed from GraphDef, in the modes that refuse it.

    Args:
      version: the version.
      steps: a program that has all of its ops.
      ops: their names.
      eager: the code of the error in eager mode.
      recipe: the recipe of its inputs.
    """
    says = "is not available in GraphDef version"
    why = "the op was removed from GraphDef; outside of an imported v1 graph, nothing runs it"
    return {
        "raw": ";".join(version.op(name) for name in ops),
        "program": version.program(steps),
        "reference": raises("UNIMPLEMENTED", says),
        "recipes": {"plain": recipe},
        "dtypes": DTYPES,
        "modes": tuple(mode for mode in MODES if mode not in version.modes),
        "contract": {
            "*/eager": Side(reference=raises(eager), why=why),
            **no_kernel("it"),
        },
    }
