"""Inputs and promises from the cache have the bits of fresh ones, and never come from other code."""

import msgspec
import numpy as np
import pytest

from tf_opdiff.harness.cases.running_case import RunningCase
from tf_opdiff.harness.judge.promises.promise_cache import PromiseCache
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.contract import Side
from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.plan import MODES, Device, Plan
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.store.formats.plain_values import encode
from tf_opdiff.harness.system.file_cache import FileCache

PLANS = [Plan(Device("cpu"), mode) for mode in MODES]


class Code:
    """The code digest of a process, with a reason against it or without one."""

    def __init__(self, digest="digest", reason=""):
        self.digest, self.reason = digest, reason

    def change(self):
        return self.reason


@pytest.fixture
def cache(tmp_path):
    """cache(code) → a cache in one folder, as a new process has it; it stores all cases."""
    return lambda code=None: PromiseCache(FileCache(tmp_path), code or Code(), worth=0.0)


def counting(calls, **more):
    """A spec whose recipe and functions note their calls."""

    def noted(name, value):
        calls.append(name)
        return value

    settings = {
        "program": lambda tf, x: x,
        "reference": lambda x: noted("reference", x + 1),
        "vjp": lambda g, x: noted("vjp", (g,)),
        "bound": {"output": lambda u, g, x: noted("bound", np.abs(x))},
        "recipes": {"plain": lambda draw, dtype: noted("recipe", plain(draw, dtype))},
        "dtypes": ("float32",),
        "ops": "",
    }
    return Spec(name="counts", **{**settings, **more})


def running(spec, cache, plans=PLANS, module="planted"):
    item = Item(module, spec, "float32")
    case = RunningCase.of(item, item.cases[0], plans, cache)
    cache.flush()
    return case


def bits(value):
    """A value as one that `==` compares bit for bit."""
    if isinstance(value, (np.ndarray, np.generic, float)):
        return encode(value)
    if isinstance(value, (tuple, list)):
        return [bits(part) for part in value]
    if isinstance(value, dict):
        return {key: bits(part) for key, part in value.items()}
    return {name: bits(part) for name, part in vars(value).items()} if hasattr(value, "__dict__") else value


def test_a_second_process_calls_no_function_of_the_spec_and_gets_the_same_bits(cache):
    calls = []
    spec = counting(calls)
    first = running(spec, cache())
    assert calls == ["recipe", "reference", "vjp", "bound"]
    second_cache = cache()
    second = running(spec, second_cache)
    assert calls == ["recipe", "reference", "vjp", "bound"]
    assert (second_cache.read, second_cache.computed) == (1, 0)
    assert bits((second.inputs, second.expected)) == bits((first.inputs, first.expected))


def test_each_side_of_a_contract_keeps_its_own_promise(cache):
    # Both sides call functions of the same names, so a transcript of one can be replayed for the other.
    sides = {f"*/{mode}": Side(reference=lambda x, n=n: x + n, why="planted") for mode, n in (("xla", 2), ("graph", 3))}
    spec = counting([], vjp=None, bound={}, contract=sides)
    promises = []
    for mode in ("eager", "xla", "graph") * 2:  # the second time from the cache
        files = cache()
        case = running(spec, files, [Plan(Device("cpu"), mode)])
        (expectation,) = case.expected.values()
        want = expectation.wants["output[0]"].value
        promises.append((mode, float((want - case.inputs[0])[0]), files.read))
    assert promises == [
        *(("eager", 1, 0), ("xla", 2, 0), ("graph", 3, 0)),
        *(("eager", 1, 1), ("xla", 2, 1), ("graph", 3, 1)),
    ]


def test_specs_of_two_modules_with_one_name_keep_their_own_promises(cache):
    calls = []
    running(counting(calls), cache())
    running(counting(calls), cache(), module="another")
    assert calls.count("reference") == 2


def test_other_code_is_a_miss(cache):
    calls = []
    running(counting(calls), cache())
    running(counting(calls), cache(Code("other")))
    assert calls.count("recipe") == 2


def test_code_that_changed_during_the_run_is_neither_stored_nor_read(cache):
    calls, changed = [], Code()
    late = cache(changed)
    changed.reason = "reference.py changed during the run"
    running(counting(calls), late)
    assert late.off == changed.reason
    running(counting(calls), cache())
    assert calls.count("recipe") == 2, "it was stored"
    assert cache(changed).off
    running(counting(calls), cache(changed))
    assert calls.count("recipe") == 3, "it was read"


@pytest.mark.parametrize(
    "damage", [lambda pairs: pairs[:-1], lambda pairs: [*pairs, pairs[0]], lambda pairs: pairs[::-1], lambda pairs: 7]
)
def test_a_transcript_of_other_calls_is_a_miss(tmp_path, cache, damage):
    calls = []
    fresh = running(counting(calls), cache())
    (path,) = tmp_path.iterdir()
    pairs = msgspec.msgpack.decode(FileCache(tmp_path).get(path.name))
    FileCache(tmp_path).put(path.name, msgspec.msgpack.encode(damage(pairs)))
    again = running(counting(calls), cache())
    assert calls.count("recipe") == 2
    assert bits(again.expected) == bits(fresh.expected)


def test_stored_promises_that_differ_from_fresh_ones_are_noticed_and_deleted(tmp_path, cache):
    wrong = running(counting([], reference=lambda x: x + 2), cache())
    right = counting([])
    item = Item("planted", right, "float32")
    served = RunningCase.of(item, item.cases[0], PLANS, cache())
    assert bits(served.expected) == bits(wrong.expected), "nothing was planted"
    assert served.differs_from(cache())
    assert list(tmp_path.iterdir()) == []
    fresh = running(right, cache())
    assert not fresh.differs_from(cache())
    assert list(tmp_path.iterdir()) != []


def test_a_fault_of_the_reference_is_not_stored(tmp_path, cache):
    def fails(x):
        raise ValueError("planted")

    for _ in range(2):
        with pytest.raises(ReferenceFault, match="planted"):
            running(counting([], reference=fails), cache())
    assert list(tmp_path.iterdir()) == []


def test_a_result_without_a_plain_value_is_computed_every_time(tmp_path, cache):
    calls = []
    spec = counting(
        calls, reference=lambda x: (calls.append("reference"), np.ma.masked_array(x))[1], vjp=None, bound={}
    )
    for _ in range(2):
        running(spec, cache())
    assert calls.count("reference") == 2
    assert list(tmp_path.iterdir()) == []


def test_cheap_cases_are_not_stored(tmp_path):
    running(counting([]), PromiseCache(FileCache(tmp_path), Code(), worth=60.0))
    assert list(tmp_path.iterdir()) == []
