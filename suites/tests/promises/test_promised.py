"""`bench.promised` sees every change that decides a result, and no other one."""

from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from bench.promised import differences, in_other_words, of_specs
from bench.recorded_programs import write_again
from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.spec.contract import Raises, Side
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.harness.store.recordings import recording_writer
from tf_opdiff.harness.store.recordings.recorded_device import About
from tf_opdiff.harness.store.recordings.recording import Recording
from tf_opdiff.harness.store.recordings.recording_format import IN_BASE

_WHY = "the last digits of a planted program are lost"


def _plain(draw, dtype):
    return (draw.values(dtype, 3, 5),)


def _cumsum(tf, x):
    return tf.raw_ops.Cumsum(x=x, axis=tf.constant(0), exclusive=False)


SPEC = Spec(
    name="planted",
    ops="Cumsum",
    program=_cumsum,
    reference=lambda x: np.cumsum(x, 0),
    vjp=lambda g, x: np.cumsum(g[::-1], 0)[::-1],
    recipes={"plain": _plain},
    ulp={"output": 2.0},
    bound={"output[0]": lambda u, g, x: u},
)
CHANGES = {
    "modes": ("modes", {"modes": ("eager",)}),
    "tier": ("tier", {"tier": "full"}),
    "elementwise": ("fields", {"elementwise": True, "reference": np.negative}),
    "constant": ("fields", {"constant": ("output[0]",)}),
    "recipe": ("inputs", {"recipes": {"plain": lambda draw, dtype: (2 * draw.values(dtype, 3, 5),)}}),
    "reference": ("promises", {"reference": lambda x: np.cumsum(x, 0) + 0.5}),
    "gradient": ("promises", {"vjp": lambda g, x: np.cumsum(g, 0)}),
    "no_gradient": ("promises", {"vjp": None}),
    "budget": ("promises", {"ulp": {"output": 2.5}}),
    "bound": ("promises", {"bound": {"output[0]": lambda u, g, x: 2 * u}}),
    "loose": ("promises", {"loose": {"output": Loose(lambda x: x > 0, _WHY)}}),
    "zeros": ("promises", {"unsigned_zeros": ("output",)}),
    "others": ("promises", {"alternatives": {"output": lambda dtype, g, x: [np.cumsum(x, 0)]}}),
    "upstream": ("promises", {"upstreams": {"plain": lambda draw, dtype, *shape: np.ones(shape, dtype)}}),
    "contract": ("promises", {"contract": {"gpu/*": Side(reference=lambda x: Raises("INTERNAL"), why="planted")}}),
    "attribute": ("program", {"program": lambda tf, x: tf.raw_ops.Cumsum(x=x, axis=tf.constant(0), exclusive=True)}),
    "constant_input": ("program", {"program": lambda tf, x: tf.raw_ops.Cumsum(x=x, axis=tf.constant(1))}),
    "other_op": ("program", {"program": lambda tf, x: tf.raw_ops.Cumprod(x=x, axis=tf.constant(0), exclusive=False)}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_decides_a_result_is_shown(change):
    name, fields = CHANGES[change]
    lines = [*differences(of_specs([SPEC]), of_specs([replace(SPEC, **fields)]))]
    assert len(lines) == 1
    assert name in lines[0]


def test_a_program_in_other_words_is_no_difference():
    def other(tf, values):
        zero = tf.constant(0)
        return getattr(tf.raw_ops, "Cumsum")(exclusive=False, x=values, axis=zero)  # noqa: B009

    old, new = of_specs([SPEC]), of_specs([replace(SPEC, program=other)])
    assert [*differences(old, new)] == []
    assert {case["source"] for case in old.values()} != {case["source"] for case in new.values()}


def test_both_branches_of_a_program_are_compared():
    def branching(second):
        return lambda tf, x: tf.abs(x) if tf.executing_eagerly() else second(tf, x)

    one, other = (replace(SPEC, program=branching(lambda tf, x, n=n: tf.add(x, n))) for n in (1, 2))
    (line,) = differences(of_specs([one]), of_specs([other]))
    assert "program" in line


@pytest.mark.parametrize(
    "program",
    [
        lambda tf, x: tuple(tf.raw_ops.Unpack(value=x, num=3)),
        lambda tf, x: x if isinstance(tf.raw_ops.Abs(x=x), tf.Tensor) else tf.raw_ops.Neg(x=x),
    ],
    ids=["tuple", "class"],
)
def test_the_calls_of_a_program_that_asks_for_items_or_for_a_class_are_compared(program):
    (case,) = of_specs([replace(SPEC, program=program)]).values()
    assert case["program"].startswith("calls")


def test_new_and_lost_cases_and_their_order_are_shown():
    both = of_specs([SPEC, replace(SPEC, name="second")])
    one = of_specs([SPEC])
    assert "is gone" in next(differences(both, one))
    assert "is new" in next(differences(one, both))
    assert [*differences(both, dict(reversed(both.items())))] == ["the order of the cases changed"]


def test_only_programs_in_other_words_have_a_new_digest():
    old = {case: {"program": "calls", "source": source} for case, source in zip("abcdef", "112234", strict=True)}
    new = {case: {**digests, "source": digests["source"] + "'"} for case, digests in old.items()}
    new["c"]["program"] = "other calls"  # so `d`, which had the program of `c`, is doubtful
    new["e"]["source"] = old["e"]["source"]
    del new["f"]
    assert in_other_words(old, new) == {"a": ("1", "1'"), "b": ("1", "1'")}


def _recorded(folder, program="old"):
    """Two recordings of two cases, of which the second has the first as its base; returns their paths."""
    lines = {}
    for case in ("reworded", "other"):
        observation = Observation({"output[0]": Result("value", np.arange(9, dtype=np.float32))}).to_json()
        line = {"case": case, "mode": "eager", "observation": observation, "records": []}
        lines[case, "cpu", "eager"] = {**line, "asked": "inputs", "program": program}
    about = About(name="cpu@2.21.0", device="cpu", tf="2.21.0")
    whole = recording_writer.write(about, lines, folder)
    later = recording_writer.write(replace(about, name="cpu@2.20.0"), lines, folder, base="cpu@2.21.0")
    return whole, later


def test_a_recording_and_its_base_have_the_new_digest_of_a_program(tmp_path):
    paths = _recorded(tmp_path)
    before = [Recording(path).table for path in paths]
    assert write_again(tmp_path, {"reworded": ("old", "new")}) == {"cpu@2.21.0": 1, "cpu@2.20.0": 1}
    for path, table in zip(paths, before, strict=True):
        after = Recording(path)  # which checks that the base is the one with which it was written
        programs = dict(zip(after.table["case"].to_pylist(), after.table["program"].to_pylist(), strict=True))
        assert programs == {"reworded": "new", "other": "old"}
        assert after.table.drop(["program"]).equals(table.drop(["program"]))
    assert Recording(paths[1]).about.base == "cpu@2.21.0"
    stored = pq.read_table(paths[1])
    assert set(stored["status"].to_pylist()) == {IN_BASE}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in paths)


def test_a_case_that_was_out_of_date_keeps_its_digest(tmp_path):
    paths = _recorded(tmp_path, program="older")
    before = [path.read_bytes() for path in paths]
    assert write_again(tmp_path, {"reworded": ("old", "new")}) == {"cpu@2.21.0": 0, "cpu@2.20.0": 0}
    assert [path.read_bytes() for path in paths] == before
