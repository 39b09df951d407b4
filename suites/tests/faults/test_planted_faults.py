"""Known failures hide few faults: those planted in recorded results are noticed, also at ten known places."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tf_opdiff.harness.cases.case_runner import CaseRunner
from tf_opdiff.harness.cases.running_case import RunningCase
from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.judge.known_failures.known import place_of
from tf_opdiff.harness.judge.verdicts.verdict import Context, Origin
from tf_opdiff.harness.paths import KNOWN, ROOT, SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import MODES, Plan
from tf_opdiff.harness.store.recordings.recording import find
from tf_opdiff.harness.store.shards.cell_lines import CellWriter

RECORDED = "cpu@2.21.0"
#: It has every observation of shard 1/24 of a default run: docs/guides/recordings.md says how to make it.
SAMPLE = ROOT / "recordings" / "planted"
#: The largest part of the planted faults that known failures may hide.
HIDDEN = 0.02


@pytest.fixture(scope="module")
def catalog():
    return Catalog.load(SUITES)


@pytest.fixture(scope="module")
def recording():
    return find([RECORDED], ROOT / "recordings")[RECORDED]


@pytest.fixture(scope="module")
def sample():
    return find([RECORDED], SAMPLE)[RECORDED]


@pytest.fixture(scope="module")
def known(catalog):
    return known_files.load(ROOT / KNOWN, catalog).on({RECORDED: {"device": "cpu"}})


@pytest.fixture(scope="module")
def judged(recording, known):
    """judged(item, observed, cases) → the records of the observations of these cases of an item, by all oracles."""
    origin = Origin(recording.about.tf)
    context = Context(run="r", started="s", here=origin, known=known, elsewhere={RECORDED: origin})
    plans = [Plan(recording.device, mode) for mode in MODES]

    def records(item, observed, cases):
        writer = CellWriter()
        CaseRunner(context, plans, stored={recording.device: observed}, only=cases).run(item, writer)
        return writer.records

    return records


@pytest.fixture(scope="module")
def planted(catalog, sample, known, judged):
    """The records of the sample in which faults were planted."""
    recorded, records = sample.cases, []
    for item in catalog.items:
        cases = [case.id for case in item.cases if case.id in recorded]
        if cases and known.of_spec(item.spec.name):
            records += judged(item, sample, cases)
    return [record for record in records if record.planted]


def test_known_failures_hide_at_most_two_percent_of_planted_faults(planted):
    count = sum(record.planted for record in planted)
    hidden = [f"{r.case} {r.mode} {r.quantity} ({r.cause}): {r.unseen}" for r in planted if r.unseen]
    assert count > 300
    assert sum(line.count(";") + 1 for line in hidden) <= HIDDEN * count, "\n".join(hidden)


def test_an_entry_that_hides_planted_faults_says_why(planted, known):
    """An entry with the cause of the record, about its place, has a reason in `blind`."""
    silent = []
    for record in planted:
        about = known.about(place_of(record), record.tf)
        entries = [entry for _, entry in about if entry.cause.id in record.cause.split(";")]
        if record.unseen and not any(entry.blind for entry in entries):
            silent.append(f"{record.case} {record.mode} {record.quantity} ({record.cause}): {record.unseen}")
    assert not silent, "\n".join(silent)


def _right(got, want):
    """The flat index of the first element that is finite, not 0, and near its promise."""
    with np.errstate(all="ignore"):
        near = np.isclose(got.astype(want.dtype), want, rtol=0.01, atol=0) & np.isfinite(want) & (want != 0)
    assert near.any()
    return int(np.argmax(near))


def every_element(result, want):
    """All elements are a tenth too large; booleans are turned."""
    value = ~result.value if result.value.dtype.kind == "b" else (result.value * 1.1).astype(result.value.dtype)
    return replace(result, value=value)


def one_more(result, want):
    """All elements are 1 too large."""
    return replace(result, value=result.value + 1)


def _one_element(becomes):
    def fault(result, want):
        value = result.value.copy()
        at = _right(value, want)
        value.flat[at] = becomes(value.flat[at])
        return replace(result, value=value)

    return fault


one_tripled = _one_element(lambda x: 3 * x)
one_lost = _one_element(lambda x: 0)
one_not_a_number = _one_element(lambda x: np.nan)


def other_code(result, want):
    """Another error, or another signal."""
    return replace(result, code="SIGILL" if result.status == "crash" else "DATA_LOSS")


@dataclass(frozen=True)
class Faulty:
    """A recording with a fault in one quantity of one case under one mode; `fault(result, want)` makes the result."""

    recording: object
    place: tuple[str, str, str]
    fault: object
    want: np.ndarray | None

    def without_arrays(self, case, mode):
        return self.recording.without_arrays(case, mode)

    def observation(self, request, program):
        seen, (case, mode, quantity) = self.recording.observation(request, program), self.place
        if (request.case, request.mode) != (case, mode):
            return seen
        result = self.fault(seen.quantities[quantity], self.want)
        return replace(seen, quantities={**seen.quantities, quantity: result})


#: Known places of different causes and kinds, each with a fault: a cause, a case, a mode, a quantity, a kind.
PLACES = [
    ("bessel-j1-gradient-small", "bessel-j1-float32-tiny", "eager", "grad[0]", "value", every_element),
    (
        "cast-complex-to-bool-real-part",
        "cast-to-bool-bool-from_complex64",
        "eager",
        "output[0]",
        "value",
        every_element,
    ),
    ("erfinv-through-ndtri-rounds-to-one", "erfinv-float64-near_one", "eager", "output[0]", "inf", one_lost),
    (
        "gather-nd-ignore-gradient-refused",
        "gather-nd-ignore-densified-float32-too_large",
        "eager",
        "grad[0]",
        "status",
        other_code,
    ),
    ("gradients-lack-conjugate", "mul-no-nan-complex-complex64-plain", "eager", "grad[0]", "value", every_element),
    (
        "if-predicate-ends-process",
        "if-predicate-unsupported-float16-nonzero",
        "eager",
        "output[0]",
        "crash",
        other_code,
    ),
    ("odd-functions-zero-sign", "erfinv-float32-minus_zero", "eager", "output[0]", "signed_zero", one_more),
    (
        "sign-complex-gradient-zeros",
        "sign-complex-raw-complex64-plain",
        "eager",
        "grad[0]",
        "gradient_status",
        one_more,
    ),
    ("xla-complex-zero-sign", "exp-complex-complex64-axes", "xla", "output[0]", "signed_zero", one_tripled),
    ("xla-gradient-of-dead-side", "where-dead-sqrt-float16-around_zero", "xla", "grad[0]", "nan", one_not_a_number),
]


@pytest.mark.parametrize(("cause", "case", "mode", "quantity", "kind", "fault"), PLACES, ids=[p[0] for p in PLACES])
def test_a_fault_beside_a_known_failure_turns_red(catalog, recording, judged, cause, case, mode, quantity, kind, fault):
    item = next(item for item in catalog.items if any(one.id == case for one in item.cases))
    plan = Plan(recording.device, mode)
    want = RunningCase.of(item, catalog.cases[case], [plan]).expected[plan].wants[quantity].value

    def verdict(observed):
        (record,) = [
            record
            for record in judged(item, observed, [case])
            if (record.mode, record.quantity, record.against) == (mode, quantity, "numpy")
        ]
        return record

    known = verdict(recording)
    assert (known.verdict, known.kind, known.cause) == ("known", kind, cause)
    assert verdict(Faulty(recording, (case, mode, quantity), fault, want)).verdict == "mismatch"
