"""The specs of `suites.claims`, each without a subject of its program, as `SPEC--WAY`.

A spec names its subjects in its `evidence`, and in `ops` if it has no evidence. `subjects.rows.ROWS` has the ways to
take each out. What takes a subject's place gives the same values where that can be: nothing but the evidence, and
positive controls in the program, show that the subject is gone.
"""

import re
from contextlib import nullcontext
from dataclasses import replace
from unittest import mock

from tf_opdiff.harness.repro.listing import listing
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.suites.tests.subjects.replaced import Replaced
from tf_opdiff.suites.tests.subjects.rows import ROWS

CLAIMS = Catalog.load("tf_opdiff.suites.claims").specs
#: Ways whose programs would wait for a queue, or take from a list, for ever: what their text has.
WAITING = {"dependencies": "queue", "dependencies-empty": "queue", "dependencies-around-nothing": "queue"}
WAITING |= {"queue": "run_until_stopped"}


def ways(spec):
    """The rows that take a subject out of a spec's program: those of its evidence, or else those of its ops."""
    text = listing(spec)
    evidence = {f"{kind}:{name}" for mode in spec.modes for kind, name in spec.evidence_in(mode)}
    ops = {f"op:{op}" for mode in spec.modes for op in spec.ops_in(mode) or ("",)}
    for entries in (evidence, ops):
        rows = [row for row in ROWS if any(re.fullmatch(row.entry, entry) for entry in entries)]
        rows = [row for row in rows if re.search(row.shows, text)]
        rows = [row for row in rows if row.name not in WAITING or WAITING[row.name] not in text]
        if rows:
            return rows
    return []


def without(spec, row):
    """The spec with a subject taken out of its program, for one dtype, one recipe and one mode."""
    whole, start = spec.program, spec.execution.state
    first = "@session" if spec.execution.sessions else "@state" if spec.execution.state else ""

    def program(tf, *inputs, **attrs):
        others = row.way(tf)
        if first in others:
            inputs = others[first](inputs[0]), *inputs[1:]
        thread = others.get("@thread")
        with mock.patch("threading.Thread", thread) if thread else nullcontext():
            return whole(Replaced(tf, others), *inputs, **attrs)

    def state(tf, *inputs):
        return start(Replaced(tf, row.way(tf)), *inputs)

    return replace(
        spec,
        name=f"{spec.name}--{row.name}",
        program=program,
        state=state if spec.execution.state else None,
        recipes=dict(list(spec.recipes.items())[:1]),
        dtypes=spec.dtypes[:1],
        modes=("graph",) if "graph" in spec.modes else ("eager",),
        elementwise=False,
        claims=tuple(replace(claim, instead="") for claim in spec.claims),
    )


WAYS = {name: ways(spec) for name, spec in CLAIMS.items()}
#: By rows: what a program declares or registers lasts as long as the process.
SPECS = tuple(without(CLAIMS[name], row) for row in ROWS for name, rows in WAYS.items() if row in rows)
