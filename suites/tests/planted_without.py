"""The specs of `suites.claims`, each without a subject of its program, as `SPEC--WAY`.

A spec names its subjects in its `evidence`, and in `ops` if it has no evidence. `subjects.rows.ROWS` has the ways to
take each out. What takes a subject's place gives the same values where that can be: nothing but the evidence, and
positive controls in the program, show that the subject is gone.
"""

import re
from dataclasses import replace
from unittest import mock

from tf_opdiff.harness.repro.listing import listing
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.suites.tests.subjects.replaced import Replaced
from tf_opdiff.suites.tests.subjects.rows import ROWS

CLAIMED = Catalog.load("tf_opdiff.suites.claims").specs


def entries(spec):
    """What a spec says that its program is about: `KIND:NAME`."""
    evidence = {f"{kind}:{name}" for mode in spec.modes for kind, name in spec.evidence_in(mode)}
    ops = {op for mode in spec.modes for op in spec.ops_in(mode)} or {""}
    return evidence, {f"op:{op}" for op in ops}


def ways(spec):
    """The rows that take a subject out of a spec's program: those of its evidence, or else those of its ops."""
    text = listing(spec)
    for group in entries(spec):
        rows = [row for row in ROWS if any(re.fullmatch(row.entry, entry) for entry in group)]
        rows = [row for row in rows if re.search(row.shows, text) and not waits_for_ever(row.name, text)]
        if rows:
            return rows
    return []


def waits_for_ever(name, text):
    """Whether a program without the subject would wait for a queue, or take from a list, for ever."""
    waits = {"dependencies": "queue", "dependencies-empty": "queue", "dependencies-around-nothing": "queue"}
    waits |= {"queue": "run_until_stopped"}
    return name in waits and waits[name] in text


def without(spec, row):
    """The spec with a subject taken out of its program, for one dtype and one recipe."""
    whole, start = spec.program, spec.state

    def program(tf, *inputs, **attrs):
        others = row.way(tf)
        if spec.sessions or spec.state:
            first, *rest = inputs
            inputs = others.get("@session" if spec.sessions else "@state", lambda x: x)(first), *rest
        thread = others.get("@thread")
        with mock.patch("threading.Thread", thread) if thread else mock.patch.object(re, "__name__", "re"):
            return whole(Replaced(tf, others), *inputs, **attrs)

    def state(tf, *inputs):
        return start(Replaced(tf, row.way(tf)), *inputs)

    return replace(
        spec,
        name=f"{spec.name}--{row.name}",
        program=program,
        state=state if spec.state else None,
        recipes=dict(list(spec.recipes.items())[:1]),
        dtypes=spec.dtypes[:1],
        elementwise=False,
        claims=tuple(replace(claim, instead="") for claim in spec.claims),
    )


SPECS = tuple(without(spec, row) for row in ROWS for spec in CLAIMED.values() if row in ways(spec))
