"""The names at the top level are those of the installed TensorFlow, which this test reads and does not import."""

from __future__ import annotations

import re
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from tf_opdiff.reports.data.names.public_function import TOP_LEVEL, is_common


@pytest.mark.parametrize(
    ("function", "common"),
    [
        ("tf.maximum", True),
        ("tf.math.maximum", True),
        ("tf.linalg.norm", True),
        ("tf.nn.max_pool", True),
        ("tf.image.resize", True),
        ("keras.layers.BatchNormalization", True),
        ("tf.math.bessel_i1", False),
        ("tf.math.special.dawsn", False),
        ("tf.sets.size", False),  # not tf.size
        ("tf.experimental.numpy.abs", False),
        ("tf.compat.v1.abs", False),
        ("tf", False),
        ("", False),
    ],
)
def test_a_function_is_common_at_the_top_level_and_in_the_rooms_of_networks(function: str, common: bool) -> None:
    assert is_common(function) is common


def test_the_names_at_the_top_level_are_those_of_the_installed_version() -> None:
    if version("tensorflow") != "2.21.0":
        pytest.skip("the list is of 2.21.0")
    spec = find_spec("tensorflow")
    assert spec is not None and spec.submodule_search_locations
    text = Path(spec.submodule_search_locations[0], "_api", "v2", "v2.py").read_text()
    names = re.findall(r"^from tensorflow\S* import (?:\w+ as )?(\w+) # line", text, re.MULTILINE)
    assert {name for name in names if not name.startswith("_")} == TOP_LEVEL
