"""Override subject: the declaration of an override, and the programs that show it in each place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tf_opdiff.checking.inputs import Inputs
from tf_opdiff.checking.overrides.request import OverrideRequest
from tf_opdiff.harness.spec.inputs.pickled import SUFFIX, PickledFunction, PickledProgram, write_specs
from tf_opdiff.harness.spec.inputs.recipes import Draw, is_float
from tf_opdiff.harness.spec.lists.override_cell import Expected
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.overrides import mechanisms
from tf_opdiff.suites.forms.overrides.declaration import OVERRIDES, Override
from tf_opdiff.suites.forms.overrides.outcomes import FITTED, expressible
from tf_opdiff.suites.forms.overrides.specs import MECHANISMS, PLACES, overridden
from tf_opdiff.suites.programs import override_matrix

_OWN, _WITHOUT = "own", "without"
_VARIABLES = "a v1 graph can't use the variables that the callable holds"
_SINGLE = "the weights of the fitted layer are float32, and the inputs are not"


@dataclass(frozen=True, kw_only=True)
class Subject:
    """An override, and the specs with its programs.

    Attributes:
      name: the callable's name, or that of an override of the suites.
      title: the override in words.
      override: its declaration.
      mechanism: the name of its mechanism in the suites; `own` if the callable has it inside.
      inputs: one array an input.
      module: the module of the specs, or the file with them.
      specs: place → the name of the spec with the override.
      without: place → the name of the spec without it; empty if there is none.
      expected: place → mode → the expected state on a CPU; empty for an override of the user.
      variables: whether the callable holds variables.
    """

    name: str
    title: str
    override: Override
    mechanism: str
    inputs: tuple[np.ndarray, ...]
    module: str
    specs: Mapping[str, str]
    without: Mapping[str, str]
    expected: Mapping[str, Mapping[str, Expected]] = field(default_factory=dict)
    variables: bool = False

    @property
    def linear(self) -> bool:
        """Whether the rule is known to be linear in the inputs and to act on each element alone."""
        return self.mechanism != _OWN

    @property
    def dtype(self) -> str:
        """The dtype of the inputs of floats."""
        return self.inputs[0].dtype.name

    def inexpressible(self, place: str, mode: str) -> str:
        """Why no program has this place and mode; empty if one has."""
        why = expressible(self.override, self.mechanism, place, mode)
        if not why and mode == "graph" and self.variables:
            why = _VARIABLES
        if not why and place in FITTED and self.dtype != "float32":
            why = _SINGLE
        return why


@dataclass(frozen=True)
class Rule:
    """The gradient that an override should give, from a user's function with a gradient for each input.

    Inputs without a gradient are `others`, which the declaration's rule does not take.
    """

    function: PickledFunction
    others: tuple[np.ndarray, ...]

    def __call__(self, g: Any, *floats: Any) -> tuple[np.ndarray, ...]:
        """The gradient of each input of floats; zeros in place of None.

        Raises:
          ValueError: the function returns no gradient for each input, or one of another shape.
        """
        returned = self.function(g, *floats, *self.others)
        gradients = returned if isinstance(returned, tuple | list) else [returned]
        if len(gradients) not in (len(floats), len(floats) + len(self.others)):
            count = len(floats) + len(self.others)
            raise ValueError(f"expected a gradient for each of {count} inputs, got {len(gradients)}")
        pairs = zip(gradients, floats, strict=False)
        arrays = tuple(np.zeros(x.shape) if each is None else np.asarray(each, float) for each, x in pairs)
        for i, (array, x) in enumerate(zip(arrays, floats, strict=True)):
            if array.shape != x.shape:
                raise ValueError(f"expected shape {x.shape} for input {i}, got {array.shape}")
        return arrays


def own_subject(request: OverrideRequest, folder: Path) -> Subject:
    """The override of a user's callable; writes its functions and specs into a folder.

    Raises:
      ValueError: the inputs do not begin with floats of one dtype.
    """
    inputs = Inputs(request.sources)(Draw(1), np.dtype("float32"))
    floats = _floats(inputs)
    paths = {name: str(folder / f"{name}.function") for name in request.functions}
    for name, path in paths.items():
        Path(path).write_bytes(request.functions[name])
    programs = {_OWN: paths["program"]} | ({_WITHOUT: paths["without"]} if "without" in paths else {})
    overrides = {
        which: Override(
            name=request.name,
            title=request.name,
            formula="",
            op="",
            forward=PickledProgram(path),
            numpy=_unknown,
            rule=Rule(PickledFunction(paths["gradient"]), inputs[floats:]),
            potential=_unknown,
            natural=_unknown,
            recipe=Inputs(request.sources),
            floats=floats,
        )
        for which, path in programs.items()
    }
    module = folder / f"overrides{SUFFIX}"
    write_specs(module, [_own_spec(which, overrides[which], place) for which in overrides for place in PLACES])
    return Subject(
        name=request.name,
        title=f"{request.name}: where TensorFlow applies its gradient override",
        override=overrides[_OWN],
        mechanism=_OWN,
        inputs=inputs,
        module=str(module),
        specs={place: f"{_OWN}-{place}" for place in PLACES},
        without={place: f"{_WITHOUT}-{place}" for place in PLACES} if _WITHOUT in overrides else {},
        variables=request.variables,
    )


def _floats(inputs: tuple[np.ndarray, ...]) -> int:
    """The number of inputs of floats, which come first."""
    smooth = [is_float(x.dtype) for x in inputs]
    count = smooth.count(True)
    if not count or not all(smooth[:count]) or len({x.dtype for x in inputs[:count]}) > 1:
        dtypes = ", ".join(x.dtype.name for x in inputs)
        raise ValueError(f"an override: expected inputs that begin with floats of one dtype, got {dtypes}")
    return count


def _unknown(*arguments: Any) -> Any:
    """What a user's declaration leaves open: no check of an override asks for it.

    Raises:
      NotImplementedError: always.
    """
    raise NotImplementedError("a check of a user's override does not need this part of a declaration")


def _own_spec(which: str, override: Override, place: str) -> Spec:
    """The spec whose program has a user's callable in a place."""
    return Spec(
        name=f"{which}-{place}",
        program=partial(overridden, override=override, mechanism=mechanisms.forward, place=PLACES[place].function),
        reference=_unknown,
        recipes={"given": override.recipe},
        ops="",
        constant=tuple(f"output[{i}]" for i in range(override.floats)),
    )


def suite_overrides() -> dict[str, tuple[Override, str]]:
    """The overrides of the suites that have programs: name, as in `floor-map` → op and mechanism."""
    specs = {spec.name for spec in override_matrix.SPECS}
    pairs = {f"{op.name}-{other}": (op, other) for op in OVERRIDES for other in MECHANISMS if other != "none"}
    return {name: pair for name, pair in pairs.items() if f"matrix-{name}-plain" in specs}


def suite_subject(name: str) -> Subject:
    """The override of the suites with this name.

    Raises:
      ValueError: there is none.
    """
    overrides = suite_overrides()
    if name not in overrides:
        ops = ", ".join(op.name for op in OVERRIDES)
        others = ", ".join(other for other in MECHANISMS if other != "none")
        raise ValueError(f"override {name!r}: expected MODULE:NAME, or OP-MECHANISM with an op of {ops}; and {others}")
    op, mechanism = overrides[name]
    by_name = {spec.name: spec for spec in override_matrix.SPECS}
    specs = {place: by_name[f"matrix-{name}-{place}"] for place in PLACES}
    return Subject(
        name=name,
        title=f"{op.title}, {MECHANISMS[mechanism].title}: {op.formula}",
        override=op,
        mechanism=mechanism,
        inputs=specs["plain"].cases()[0].inputs(),
        module=override_matrix.__name__,
        specs={place: spec.name for place, spec in specs.items()},
        without={} if mechanism == "py-func" else {place: f"matrix-{op.name}-none-{place}" for place in PLACES},
        expected={place: spec.override.expected for place, spec in specs.items() if spec.override},
    )
