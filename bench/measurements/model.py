"""Faults planted in Keras models with random weights, and whether `tf-opdiff model` names the right op.

Five of the models run a step of training with Adam: `lstm`, `mlp`, `mobilenet_v2`, `resnet50` and `transformer`. The
others predict. `clean` counts the pairs that give no op, as they should: the model against itself, and `cpu:1` against
`cpu`. Each other column is one fault. A kernel of `cpu:1` gives a wrong output for one op type and one shape: its
largest element is 1 % off (`one`), its last eighth is zero (`tail`), all elements are 0.1 % off (`scale`), or one is
NaN (`nan`). The op to name is the first that runs this kernel. In the last column an attribute of a layer has another
value where `tf.function` traces the model. A cell shows the op of the fault if it is named, otherwise what is named
instead. `recording / plain` is the time of a recorded step over that of a plain one, the median of five pairs.
`analysis, s` is the longest analysis.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np

from bench import apart
from bench.measurements import architectures
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.tests.model.planted_kernel import FAULTS, plant, planting
from tf_opdiff.model.analysis import BASE, Analysis
from tf_opdiff.model.answers.answer import Answer, named
from tf_opdiff.model.recordings.recorded import RecordedOp, Recording
from tf_opdiff.model.recordings.values import ValueReader
from tf_opdiff.model.request import ModelRequest
from tf_opdiff.model.worker import Worker

OTHER = Plan(Device("cpu", 1), "eager")
TRACED = Plan(Device("cpu"), "function")
#: Ops whose output can be the memory of an input: a fault in the output would change the input too.
_ALIASES = frozenset(
    {
        "BroadcastTo",
        "Cast",
        "ConcatV2",
        "Pack",
        "Slice",
        "Split",
        "SplitV",
        "StridedSlice",
        "Tile",
        "Transpose",
        "Unpack",
    }
)
#: Ops that give one value to all elements: eager mode runs them, a trace can have a constant in their place.
_FILLS = frozenset({"Fill", "OnesLike", "ZerosLike"})
#: Ops that bring a value into a program or hand it on: a trace has more of them.
_SOURCES = _FILLS | {
    *("Const", "Placeholder", "PlaceholderWithDefault", "Identity", "IdentityN", "ReadVariableOp", "StopGradient")
}

#: Ops that compute nothing where they leave the number of elements as it is; gradients of broadcasts have them where
#: shapes are not known in time.
_KEEPERS = frozenset({"Sum", "Mean", "Reshape", "Squeeze", "ExpandDims", "BroadcastTo", "Tile"})
#: The elements of the smallest output that gets a fault.
_SMALLEST = 8
_PAIRS = 5


@dataclass
class Row:
    """The results of one model."""

    cells: dict[str, str] = field(default_factory=dict)
    clean: int = 0
    located: int = 0
    longest: float = 0.0

    def add(self, what: str, seconds: float, wanted: str, answer: Answer, recording: Recording, right: bool) -> None:
        """Notes the answer about one fault."""
        got = named(recording.ops[answer.ops[0]], recording) if answer.ops else answer.kind
        self.cells[what] = wanted if right else f"**missed** {wanted}: {got}"
        self.located += right
        self.longest = max(self.longest, seconds)
        print(f"  {what}: {wanted}: {answer.kind}: {got}: {seconds:.1f} s", file=sys.stderr, flush=True)


def row(name: str) -> tuple[dict[str, object], int, int]:
    """The row of a model, how many faults are located, and how many clean pairs give no op."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/inputs.npz", **architectures.inputs(name))  # type: ignore[arg-type]
        done, file = Row(), Path(os.environ["PLANTED_KERNEL"])
        with analysis(name, folder) as made:
            recording = made.recording
            for plan in (BASE, OTHER):
                answer, seconds = timed(lambda plan=plan: made.answer(plan))  # type: ignore[misc]
                done.clean += not answer.ops and not answer.differs
                done.longest = max(done.longest, seconds)
            for number, (what, op) in enumerate(targets(recording).items()):
                shape, fault = _shape(op, recording), FAULTS[(number + sum(map(ord, name))) % len(FAULTS)]
                plant(file, op.type, shape, fault)
                answer, seconds = timed(lambda: made.answer(OTHER))
                file.unlink()
                right = answer.kind == "alone" and answer.ops[0] == op.number
                done.add(what, seconds, f"{op.type} {op.number + 1} {fault}", answer, recording, right)
        with analysis(f"{name}_changed", folder) as made:
            answer, seconds = timed(lambda: made.answer(TRACED))
            changed = architectures.CHANGED[name]
            first = made.recording.ops[answer.ops[0]] if answer.ops else None
            got = (first.type, first.place.layer.rpartition("/")[2]) if first else ()
            right = got == (changed.op, changed.layer)
            wanted = f"{changed.op} {changed.attribute}"
            done.add("attribute", seconds, wanted, answer, made.recording, right)
    cells: dict[str, object] = {"model": name, "ops": len(recording.ops), "recording / plain (goal 3)": cost(name)}
    cells |= {"clean": f"{done.clean} of 2", **done.cells, "analysis, s": done.longest}
    return cells, done.located, done.clean


def analysis(name: str, folder: str) -> Analysis:
    """The analysis of a model; its folder has the inputs."""
    return Analysis(_request(name, folder), Path(tempfile.mkdtemp(dir=folder)))


def cost(name: str) -> float:
    """The time of a recorded step over that of a plain step before it: the median of `_PAIRS` pairs."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/inputs.npz", **architectures.inputs(name))  # type: ignore[arg-type]
        with Worker(BASE.device, Path(folder, "log"), 600) as worker:
            worker.ask("build", _request(name, folder))
            pairs = [worker.ask("record", Path(folder, "ops.values")) for _ in range(_PAIRS)]
    return median(pair.seconds / pair.plain_seconds for pair in pairs)


def _request(name: str, folder: str) -> ModelRequest:
    return ModelRequest(str(ROOT), "bench.measurements.architectures", name, f"{folder}/inputs.npz")


def timed(call: Callable[[], Answer]) -> tuple[Answer, float]:
    """An answer, and the seconds that it took."""
    begin = time.perf_counter()
    return call(), time.perf_counter() - begin


def targets(recording: Recording) -> dict[str, RecordedOp]:
    """The ops that get a fault in their kernels, by what they are; each is the first of its type and output shape."""
    read, firsts = ValueReader(recording.file), dict[tuple[str, tuple[int, ...]], RecordedOp]()
    for op in recording.ops:
        if op.outputs and recording.values[op.outputs[0]]:
            firsts.setdefault((op.type, _shape(op, recording)), op)
    possible = [op for op in firsts.values() if _can_fail(op, recording, read)]
    gradients = [op.number for op in recording.ops if op.gradient_of is not None]
    if not gradients:
        return dict(zip(_NAMES, _spread(possible, (0.1, 0.9, 0.4, 0.7)), strict=True))
    forward = [op for op in possible if op.number < gradients[0]]
    backward = [op for op in possible if op.gradient_of is not None]
    update = [op for op in possible if op.number > gradients[-1]]
    parts = (*_spread(forward, (0.1, 0.9)), *_spread(backward, (0.5,)), *_spread(update, (0.5,)))
    return dict(zip(_NAMES, parts, strict=True))


_NAMES = ("early", "late", "gradient, or middle", "update, or later")


def _spread(ops: Sequence[RecordedOp], places: Iterable[float]) -> list[RecordedOp]:
    return [ops[int(place * (len(ops) - 1))] for place in places]


def _shape(op: RecordedOp, recording: Recording) -> tuple[int, ...]:
    stored = recording.values[op.outputs[0]]
    assert stored is not None
    return stored.shape


def _can_fail(op: RecordedOp, recording: Recording, read: ValueReader) -> bool:
    """Whether every fault changes the output of an op: floats in memory of their own, the last of them not zero."""
    stored = recording.values[op.outputs[0]]
    taken = recording.values[op.inputs[0]] if op.inputs else None
    if op.unplayable or stored is None or stored.dtype != "float32" or np.prod(stored.shape) < _SMALLEST:
        return False
    sizes = (int(np.prod(taken.shape)) if taken else None, int(np.prod(stored.shape)))
    return op.type not in _ALIASES and _computes(op.type, *sizes) and bool(read(stored).flat[-1])


def _computes(kind: str, taken: int | None, given: int | None) -> bool:
    """Whether an op of this type computes something.

    `taken` and `given` are the numbers of elements of its first input and its first output; None for an unknown number.
    """
    return kind not in _SOURCES and not (kind in _KEEPERS and taken is not None and taken == given)


def rows() -> list[dict[str, object]]:
    """A row for each model, and the sums."""
    table: list[dict[str, object]] = json.loads(apart("-m", "bench.measurements.model"))
    return table


def measured(names: Iterable[str]) -> list[dict[str, object]]:
    """The rows of some models, and the sums; in a process whose fork server does not run yet."""
    table, located, clean = [], 0, 0
    with tempfile.TemporaryDirectory() as folder, planting(Path(folder, "fault")):
        for name in names:
            print(name, file=sys.stderr, flush=True)
            cells, right, without = row(name)
            table.append(cells)
            located, clean = located + right, clean + without
    last = dict.fromkeys(table[0], "") | {"model": f"{located} of {5 * len(table)} faults located"}
    return [*table, {**last, "clean": f"{clean} of {2 * len(table)}"}]


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1:] or architectures.MODELS)))
