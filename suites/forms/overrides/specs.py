"""Specs of overrides: one for each override, mechanism and place, made of their parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tf_opdiff.harness.spec.lists.override_cell import APPLIED, INEXPRESSIBLE, OWN, Expected, OverrideCell
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.forms.overrides import mechanisms, places
from tf_opdiff.suites.forms.overrides.declaration import Override
from tf_opdiff.suites.forms.overrides.outcomes import FITTED, V1, Outcome, expressible, outcome, updates
from tf_opdiff.suites.forms.overrides.promises import Promise
from tf_opdiff.suites.forms.programs.control_flow import WHILE
from tf_opdiff.suites.forms.recipes.quarters import quarters

_COND = "https://www.tensorflow.org/api_docs/python/tf/cond"
_RECOMPUTE = "https://www.tensorflow.org/api_docs/python/tf/recompute_grad"
_SESSION = "https://www.tensorflow.org/api_docs/python/tf/compat/v1/Session#run"
_MAP = "called:Graph.gradient_override_map"


@dataclass(frozen=True, kw_only=True)
class Part:
    """A mechanism or a place: its title, its function, and the functions of TensorFlow that it calls, as evidence."""

    title: str
    function: Callable[..., Any]
    evidence: str = ""


MECHANISMS: Mapping[str, Part] = {
    "none": Part(title="no override", function=mechanisms.forward),
    "map": Part(title="gradient_override_map", function=mechanisms.by_map, evidence=_MAP),
    "custom-gradient": Part(
        title="tf.custom_gradient", function=mechanisms.by_custom_gradient, evidence="called:custom_gradient"
    ),
    "py-func": Part(
        title="py_func with RegisterGradient",
        function=mechanisms.by_py_func,
        evidence=f"called:compat.v1.py_func;{_MAP}",
    ),
    "stop-gradient": Part(
        title="the stop_gradient trick", function=mechanisms.by_stop_gradient, evidence="called:stop_gradient"
    ),
    "recompute-grad": Part(
        title="tf.recompute_grad of tf.custom_gradient",
        function=mechanisms.by_recompute_grad,
        evidence="called:recompute_grad;called:custom_gradient",
    ),
    "keras-layer": Part(
        title="a Keras layer with tf.custom_gradient",
        function=mechanisms.by_keras_layer,
        evidence="called:keras.layers.Lambda;called:custom_gradient",
    ),
    "compiled-op": Part(
        title="an op in C++ with RegisterGradient",
        function=mechanisms.by_compiled_op,
        evidence="called:load_op_library",
    ),
}
PLACES: Mapping[str, Part] = {
    "plain": Part(title="by itself", function=places.plain),
    "called": Part(title="inside a called tf.function", function=places.called, evidence="called:function"),
    "cond": Part(title="in a branch of tf.cond", function=places.in_cond, evidence="called:cond"),
    "loop": Part(title="in the body of tf.while_loop", function=places.in_loop, evidence="called:while_loop"),
    "cond-v1": Part(title="in a branch of v1's cond", function=places.in_cond_v1, evidence="called:cond"),
    "loop-v1": Part(title="in the body of v1's while_loop", function=places.in_loop_v1, evidence="called:while_loop"),
    "nested": Part(
        title="nested in another tf.custom_gradient", function=places.nested, evidence="called:custom_gradient"
    ),
    "second-order": Part(title="second order: the gradient of the gradient", function=places.second_order),
    "forward-mode": Part(
        title="forward mode", function=places.forward_mode, evidence="called:autodiff.ForwardAccumulator"
    ),
    **{
        name: Part(title="in a fitted Keras layer", function=function, evidence="called:keras.Model.fit")
        for name, function in zip(
            FITTED, (places.fitted_eagerly, places.fitted_in_function, places.fitted_by_xla), strict=True
        )
    },
}
_GATHER = "https://www.tensorflow.org/api_docs/python/tf/gather"
_ZEROED = "on GPU a 0 is stored in the corresponding output value"
#: The ops that v1's control flow has in a graph.
_V1_OPS = {"cond-v1": "built:Switch;built:Merge", "loop-v1": "built:Enter;built:Exit"}


def overridden(tf, *inputs, override, mechanism, place):
    """The program of an override by a mechanism in a place."""
    return place(tf, lambda *xs: mechanism(tf, override, tuple, *xs), override.floats, *inputs)


def updating(tf, state, *inputs, override, mechanism, place):
    """The program of an override whose op is made under a control dependency on an update."""

    def update():
        return [state["updates"].assign_add(1.0)]

    return place(tf, lambda *xs: mechanism(tf, override, update, *xs), override.floats, *inputs)


def counter(tf: Any, *_: Any) -> dict[str, Any]:
    """The variable that the update changes, under which the op is made."""
    return {"updates": tf.Variable(0.0, trainable=False)}


def spec(override: Override, mechanism: str, place: str, *, tier: str, absent: Mapping[str, str] | None = None) -> Spec:
    """The spec of an override in a place.

    `absent` are the mechanisms that can't express the override, and why: they have no spec to say so.
    """
    column = FITTED.get(place, "")
    modes = ("eager",) if column else ("graph",) if place in V1 else MODES
    outcomes = {mode: outcome(override, mechanism, place, column or mode) for mode in modes}
    promises = {mode: _promise(override, mechanism, place, column or mode, o) for mode, o in outcomes.items()}
    main = max(promises.values(), key=list(promises.values()).count)
    if any(p.applied and not p.raises for p in promises.values()) and mechanism != "none":
        main = next(p for p in promises.values() if p.applied and not p.raises)
    differentiated = not (column or place == "forward-mode")
    titles = {"op": override.title, "gradient": override.formula, "mechanism": MECHANISMS[mechanism].title}
    return Spec(
        name=f"matrix-{override.name}-{mechanism}-{place}",
        program=partial(
            updating if override.updates else overridden,
            override=override,
            mechanism=MECHANISMS[mechanism].function,
            place=PLACES[place].function,
        ),
        reference=main.reference,
        vjp=main.vjp if differentiated else None,
        contract=_gpu_sides(override, mechanism, place, modes, differentiated)
        | {f"*/{m}": _side(p, outcomes[m], differentiated) for m, p in promises.items() if p != main},
        recipes={"vectors": override.recipe},
        upstreams={"vectors": lambda draw, dtype, *shape: quarters(draw, dtype, *shape)} if differentiated else {},
        ops="",
        evidence={mode: _evidence(override, mechanism, place, mode, o) for mode, o in outcomes.items()},
        modes=modes,
        state=counter if override.updates else None,
        unsigned_zeros=("output", "grad"),
        constant=("output[0]", "output[1]") if place in ("second-order", "forward-mode") or column else (),
        files=(mechanisms.SOURCE,) if mechanism == "compiled-op" else (),
        tier=tier,
        override=OverrideCell(
            **titles,
            place=PLACES[place].title,
            expected=_expected(override, mechanism, place, outcomes, column),
            column=column,
            absent=absent or {},
        ),
    )


def _promise(override: Override, mechanism: str, place: str, mode: str, of_mode: Outcome) -> Promise:
    applied = of_mode.state == APPLIED or of_mode.known or place == "nested"
    graph = mode != "eager"
    return Promise(
        override=override,
        place=place,
        applied=applied,
        raises=None if of_mode.known else of_mode.raises,
        taped=not applied and mode == "eager" and place != "called",
        zeros=not applied and graph and place == "loop",
        updates=updates(mechanism, place, mode) if override.updates else 0,
        updated=override.updates and mode == "graph" and place == "loop",
        nothing=mechanism == "py-func",
    )


def _gpu_sides(
    override: Override, mechanism: str, place: str, modes: Sequence[str], differentiated: bool
) -> dict[str, Side]:
    """The sides of the contract for a gather on a GPU, which refuses no index; XLA is the same on every device.

    The mechanisms that run on the host refuse the index there as well.
    """
    if not override.refused or mechanism in ("py-func", "compiled-op"):
        return {}
    sides, accepting = {}, replace(override, refused=None)
    for mode in (mode for mode in modes if mode != "xla" and FITTED.get(place) != "xla"):
        of_mode = outcome(accepting, mechanism, place, FITTED.get(place) or mode)
        promise = _promise(override, mechanism, place, FITTED.get(place) or mode, of_mode)
        side = _side(replace(promise, zeroed=True), replace(of_mode, why=of_mode.why or _ZEROED), differentiated)
        sides[f"gpu/{mode}"] = replace(side, link=side.link or _GATHER)
    return sides


def _side(promise: Promise, of_mode: Outcome, differentiated: bool) -> Side:
    """The side of the contract for one mode."""
    why, link = of_mode.why, of_mode.link
    if not why and promise.override.branches:
        why, link = "an eager cond runs one branch, and only that is on the tape", _COND
    elif not why and promise.place.startswith("loop"):
        why, link = "the loop of a graph gives zeros to what it captures and does not differentiate", WHILE
    elif not why and promise.updates == 0 and promise.override.updates:
        why, link = "a session runs only what its fetches need", _SESSION
    elif not why:
        why, link = "recompute_grad runs the function again where its result is needed", _RECOMPUTE
    return Side(reference=promise.reference, vjp=promise.vjp if differentiated else None, why=why, link=link)


def _evidence(override: Override, mechanism: str, place: str, mode: str, of_mode: Outcome) -> str:
    """The evidence in one mode. A map leaves a mark on its op, also where nobody reads it."""
    reached = not (of_mode.raises and mode == "eager" and mechanism == "stop-gradient")  # the op raises before
    entries = [MECHANISMS[mechanism].evidence if reached else "", PLACES[place].evidence]
    built = mode != "eager" and not (of_mode.raises and not of_mode.known)
    if built:
        entries.append(_V1_OPS.get(place, ""))
    if built and place not in FITTED and mechanism in ("map", "py-func"):
        by_python = mechanism == "py-func"
        marked = "PyFunc" if by_python else override.op
        kept = ("plain", "called", "cond", "loop", "nested", "forward-mode")
        if by_python or not override.branches or place in kept:
            entries.append(f"replaced:{marked}")
    return ";".join(dict.fromkeys(e for entry in entries for e in entry.split(";") if e))


def _expected(
    override: Override, mechanism: str, place: str, outcomes: Mapping[str, Outcome], column: str
) -> dict[str, Expected]:
    """The expected state of each mode, also of those that can't express the program."""
    missing = {mode: expressible(override, mechanism, place, mode) for mode in MODES}
    states = {mode: Expected(INEXPRESSIBLE, why) for mode, why in missing.items() if why}
    if column:
        return {column: _state(outcomes["eager"])} | states
    return {mode: states.get(mode) or _state(outcomes[mode]) for mode in MODES}


def _state(of_mode: Outcome) -> Expected:
    return Expected(of_mode.state, "" if of_mode.state in (APPLIED, OWN) else of_mode.why)
