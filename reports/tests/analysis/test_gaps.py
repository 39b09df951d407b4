"""What no spec promises of an op has a reason in `suites/coverage/gaps.toml`."""

from types import SimpleNamespace

from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.lists.options import Options
from tf_opdiff.harness.spec.lists.raw_ops import RawOps
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Raises
from tf_opdiff.reports.analysis.ops.covered_ops import STRINGS
from tf_opdiff.reports.analysis.ops.op_coverage import OpCoverage

#: The beginnings of lines that the modes and the dtypes of specs decide, whatever ran.
DECLARED = ("a value in a second mode", "XLA")


def promised(raw_ops: RawOps, catalog: Catalog) -> list[OpCoverage]:
    """The coverage of each op by records that show what the specs promise on a CPU: outputs."""
    options = Options.load()
    by_op = {name: OpCoverage(op, options) for name, op in raw_ops.ops.items() if not op.excluded}
    row = {"device": "cpu", "quantity": "output[0]", "lacking": "False", "ran": "True", "value": "True"}
    for spec in catalog.specs.values():
        for mode in spec.modes:
            side = spec.side(Plan(Device("cpu"), mode))
            if isinstance(spec.reference if side is None else side.reference, Raises):
                continue
            for op in by_op.keys() & spec.ops_in(mode):
                for dtype in spec.dtypes:
                    name = "bytes" if dtype in STRINGS else dtype
                    by_op[op].note_row(SimpleNamespace(spec=spec.name, mode=mode, dtype=name, **row))
    return list(by_op.values())


def declared(coverage: OpCoverage) -> list[str]:
    """What is missing by the declarations alone; without data of its own, the dtypes of an op are those of inputs."""
    beginnings = (*DECLARED, "dtypes") if coverage.data else DECLARED
    return [line for line in coverage.missing if line.startswith(beginnings)]


def test_what_no_spec_promises_of_an_op_has_a_reason() -> None:
    listed = promised(RawOps.load(), Catalog.load(SUITES))
    lacks = {each.op.name: declared(each) for each in listed}
    explained = {each.op.name: each.explained for each in listed}
    assert {op: rest for op, lines in lacks.items() if (rest := [x for x in lines if x not in explained[op]])} == {}
    assert sum(map(bool, lacks.values())) > 30  # the promise of an error is none of a value
