"""Override runner: runs the programs of an override in each place, and says where TensorFlow applies it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tf_opdiff.checking.inputs import Upstream
from tf_opdiff.checking.overrides.request import FITTED_PLACE, OverrideRequest, OverrideResult
from tf_opdiff.checking.overrides.state import error_line, state
from tf_opdiff.checking.overrides.subject import Subject
from tf_opdiff.harness.device.observation import FAILED, Observation, Result
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.judge.promises.expectation import widened
from tf_opdiff.harness.judge.promises.reference import without_tensorflow
from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.lists.override_cell import APPLIED, INEXPRESSIBLE
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.spec.quantity import named
from tf_opdiff.suites.forms.overrides.outcomes import FITTED
from tf_opdiff.suites.forms.overrides.promises import Promise
from tf_opdiff.suites.forms.overrides.specs import PLACES

#: Runs a request on a device.
Run = Callable[[Device, Request], Observation]


class OverrideProblem(ValueError):
    """A check of an override can't be made; the message says why."""


@dataclass
class OverrideRunner:
    """Runs the programs of a subject on devices."""

    subject: Subject
    request: OverrideRequest
    devices: Sequence[Device]
    run: Run
    _promises: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def results(self) -> Iterator[OverrideResult]:
        """The result of each place, device and mode.

        Raises:
          OverrideProblem: the callable fails in every mode, has another output than the first input, or its gradient
            is the same without the override.
        """
        if not self.subject.expected:
            self._check_callable()
        for place in PLACES:
            if (FITTED_PLACE if place in FITTED else place) in self.request.places:
                for device in self.devices:
                    yield from (self._result(place, device, mode) for mode in self._modes(place))

    def _modes(self, place: str) -> Sequence[str]:
        """The columns of a place: of a fitted model, the mode in which Keras fits it."""
        if place in FITTED:
            last = FITTED[place] == "xla" and "graph" in self.request.modes
            return [mode for mode in self.request.modes if mode == FITTED[place]] + (["graph"] if last else [])
        return self.request.modes

    def _result(self, place: str, device: Device, mode: str) -> OverrideResult:
        expected = self.subject.expected.get(place, {}).get(mode) if device.type == "cpu" else None
        why = self.subject.inexpressible(place, mode)
        found = (INEXPRESSIBLE, why) if why else self._state(place, device, "eager" if place in FITTED else mode)
        return OverrideResult(
            place=FITTED_PLACE if place in FITTED else place,
            title=PLACES[place].title,
            device=str(device),
            mode=mode,
            state=found[0],
            proof=found[1],
            expected=expected.state if expected else "",
            why=expected.why if expected and expected.state == found[0] else "",
        )

    def _state(self, place: str, device: Device, mode: str) -> tuple[str, str]:
        promised = self._promised(place)
        observed = self._observed(self.subject.specs[place], place, device, mode)
        without = None
        if self.subject.without:
            without = self._observed(self.subject.without[place], place, device, mode)
        differences = place == "second-order" and not self.subject.linear
        return state(observed, promised, without, self.request.ulp, differences)

    def _promised(self, place: str) -> Mapping[str, Any]:
        """The promises of the override in a place: quantity → array."""
        if place not in self._promises:
            promise = Promise(
                override=self.subject.override,
                place=place,
                nothing=self.subject.mechanism == "py-func",
                linear=self.subject.linear,
            )
            upstreams = tuple(map(widened, self._upstreams(place) or ()))
            g = upstreams if place == "second-order" else next(iter(upstreams), None)
            try:
                with without_tensorflow(), np.errstate(all="ignore"):
                    self._promises[place] = promise.shown(g, *map(widened, self.subject.inputs))
            except Exception as why:
                says = " ".join(str(why).split())
                raise OverrideProblem(f"the override's gradient raises {type(why).__name__}: {says}") from why
        return self._promises[place]

    def _upstreams(self, place: str) -> tuple[np.ndarray, ...] | None:
        """The upstreams of the outputs; None where the outputs themselves show the override."""
        if place == "forward-mode" or place in FITTED:
            return None
        outputs = self.subject.inputs[: self.subject.override.floats if place == "second-order" else 1]
        return tuple(np.asarray(Upstream()(Draw(1), x.dtype, *x.shape)).astype(x.dtype) for x in outputs)

    def _observed(self, spec: str, place: str, device: Device, mode: str) -> Observation:
        upstreams = self._upstreams(place)
        grads = named("grad", len(self.subject.inputs)) if upstreams else ()
        request = Request(
            module=self.subject.module,
            spec=spec,
            case=f"{spec}-{self.subject.dtype}",
            dtype=self.subject.dtype,
            mode=mode,
            inputs=self.subject.inputs,
            upstreams=upstreams,
            quantities=(*named("output", len(upstreams or self.subject.inputs[:1])), *grads),
        )
        return self.run(device, request)

    def _check_callable(self) -> None:
        """Refuses a user's callable that no place can hold, and a gradient that proves nothing."""
        device, modes = self.devices[0], [m for m in self.request.modes if not self.subject.inexpressible("plain", m)]
        runs = (self._observed(self.subject.specs["plain"], "plain", device, mode) for mode in modes)
        outputs = [[r for q, r in run.quantities.items() if q.startswith("output")] for run in runs]
        works = next((rs for rs in outputs if rs and all(r.status == "value" for r in rs)), None)
        if works is None:
            broken = outputs[0][0] if outputs and outputs[0] else Result("error", code="no mode can run it")
            raise OverrideProblem(f"{self.subject.name} fails in every mode: {error_line(broken)}")
        first, output = self.subject.inputs[0], works[0].value
        if len(works) > 1 or output is None or (output.shape, output.dtype) != (first.shape, first.dtype):
            came = ", ".join(f"{r.value.dtype.name}{list(r.value.shape)}" for r in works if r.value is not None)
            wanted = f"{first.dtype.name}{list(first.shape)}"
            raise OverrideProblem(
                f"{self.subject.name}: expected one output of the shape and dtype of the first input, {wanted}, "
                f"got {came}"
            )
        self._check_gradient(device, modes)

    def _check_gradient(self, device: Device, modes: Sequence[str]) -> None:
        promised = self._promised("plain")
        if not self.subject.without:
            if not any(np.any(value) for value in promised.values()):
                raise OverrideProblem(
                    "the override's gradient is zero for these inputs: name the callable without the override too, "
                    "so that zeros prove something"
                )
            return
        for mode in modes:
            bare = self._observed(self.subject.without["plain"], "plain", device, mode)
            if any(r.status in FAILED for r in bare.quantities.values()):
                continue
            if state(bare, promised, None, self.request.ulp, False)[0] == APPLIED:
                raise OverrideProblem(
                    "the callable without the override has the gradient of the override for these inputs, so no "
                    "gradient shows which one TensorFlow applies"
                )
            return
        raise OverrideProblem("the callable without the override fails in every mode")
