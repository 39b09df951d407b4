"""Batches: what the declarations say of rows is true of the references, for at least sixty ops."""

import numpy as np
import pytest

from tf_opdiff.harness.judge.promises.reference import call
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.suites.derived.batch import SIZES

SPECS = [spec for spec in Catalog.load("tf_opdiff.suites.ops").specs.values() if spec.batch is not None]


def test_at_least_sixty_ops_that_are_not_elementwise_have_batches():
    assert len({spec.ops for spec in SPECS}) >= 60
    assert not any(spec.elementwise for spec in SPECS)


def test_every_size_is_a_recipe_in_eager_mode_and_in_the_modes_of_the_full_tier():
    for spec in SPECS:
        assert list(spec.recipes) == [f"rows_{size}" for size in SIZES]
        assert spec.modes == ("eager",) or (spec.tier == "full" and "eager" not in spec.modes)


@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec.modes == ("eager",)], ids=lambda spec: spec.name)
def test_the_reference_of_a_row_alone_is_that_of_the_row_in_the_batch(spec):
    case = Case(spec, spec.dtypes[0], "rows_3", spec.labels[0])
    inputs = case.inputs()
    assert all(len(x) == 3 for i, x in enumerate(inputs) if i not in spec.batch)
    whole = _outputs(case, inputs)
    for row in range(3):
        alone = _outputs(case, [x if i in spec.batch else x[row : row + 1] for i, x in enumerate(inputs)])
        for one, other in zip(whole, alone, strict=True):
            assert other.shape == (1, *one.shape[1:])
            np.testing.assert_allclose(np.asarray(one[row]), np.asarray(other[0]), rtol=1e-9, atol=1e-9)


def test_rows_of_a_batch_differ():
    spec = next(spec for spec in SPECS if spec.name == "softmax-batches")
    (x,) = Case(spec, "float32", "rows_32").inputs()
    assert len(np.unique(x, axis=0)) == 32


def _wide(x):
    """An input as a reference takes it."""
    return x.astype({"c": np.complex128, "f": np.float64}.get(x.dtype.kind, x.dtype))


def _outputs(case, inputs):
    result = call(case.spec.reference, "reference", case, *map(_wide, inputs))
    return result if isinstance(result, tuple) else (result,)
