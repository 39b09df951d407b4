"""Inputs and promises of every family come back from the cache with the bits of fresh ones."""

from itertools import groupby

import numpy as np
import pytest

from tf_opdiff.harness.cases.running_case import RunningCase
from tf_opdiff.harness.judge.promises.promise_cache import PromiseCache
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import MODES, Device, Plan
from tf_opdiff.harness.store.run_directories.code_digest import CodeDigest
from tf_opdiff.harness.system.file_cache import FileCache
from tf_opdiff.harness.tests.judge.promises.test_promise_cache import bits

PLANS = [Plan(Device("cpu"), mode) for mode in MODES]
SUITES = "tf_opdiff.suites"


def sample(items):
    """The first case of up to three items of each family, evenly spread."""
    for _, family in groupby(items, lambda item: item.module):
        members = list(family)
        for item in members[:: max(1, len(members) // 3)][:3]:
            yield item, item.cases[0]


@pytest.fixture(scope="module")
def items():
    return Catalog.load(SUITES).select()


def test_cached_promises_have_the_bits_of_fresh_ones_in_every_family(items, tmp_path):
    code, files = CodeDigest(SUITES), FileCache(tmp_path)
    stored, read = PromiseCache(files, code, worth=0.0), PromiseCache(files, code, worth=0.0)
    pairs = list(sample(items))
    fresh = {}
    for item, case in pairs:
        try:
            fresh[case.id] = RunningCase.of(item, case, PLANS, stored)
        except ReferenceFault as error:
            pytest.fail(str(error))
    stored.flush()
    assert not stored.off
    for item, case in pairs:
        one, other = fresh[case.id], RunningCase.of(item, case, PLANS, read)
        assert bits((one.inputs, one.claims, one.expected)) == bits((other.inputs, other.claims, other.expected)), (
            case.id
        )
        digests = [{p: r.request(p).digest for p in PLANS if p in r.expected} for r in (one, other)]
        assert digests[0] == digests[1], case.id
    assert read.read >= 0.98 * len(pairs), "few results have plain values"
    assert np.sum([path.stat().st_size for path in tmp_path.iterdir()]) < 64 << 20
