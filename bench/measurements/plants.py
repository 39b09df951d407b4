"""What `tf-opdiff model` says about programs with one known fault each, and about clean ones.

The programs are those of `bench/plants`. `python -m bench.plants` analyses them in parts, with `--only`, `--part` and
`--out`; `--table` prints this table of the files that `--out` wrote. A cell counts the right answers, of those that the
plants say are right: the op and its line or layer, the kind of answer, the setting, and the known failure that comes
first. `clean` has programs without a fault, for which no op may be named.

| group | fault |
| --- | --- |
| traced | a constant, an attribute, an op or a branch differs where the program is traced |
| gradients | a custom gradient, the loss or forward mode differs where it is traced |
| harmless | the same, behind differences of the trace that change no value |
| errors | an error in one mode, and a value in the other |
| rounding, digits | rounding becomes large |
| rewrites | Grappler or XLA rewrites ops; or a kernel is wrong |
| natural, discrepancies | a discrepancy of TensorFlow that the suites know |
| models | a layer, a loss or an update of a model of Keras |
| loops | loops, branches, several steps, SavedModels |
| kernels | a kernel is wrong, of an op whose budget depends on dtype, attributes and size |
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench import apart
from bench.plants.outcome import read, summary


def rows() -> list[dict[str, object]]:
    """A row for each group, and one for all faults."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "outcomes")
        apart("-m", "bench.plants", "--out", str(file))
        return [*summary(read([file]))]
