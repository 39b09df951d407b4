"""Tests of suggested known failures, of entries held against a run, and of taking spent ones out."""

from __future__ import annotations

import itertools
import random
import re
import shutil
import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
import pytest

from tf_opdiff import reports
from tf_opdiff.command_line import main
from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.device.repeat import SELF_CHECKS
from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.known_failures.entry import Entry
from tf_opdiff.harness.judge.known_failures.known import Known, place_of
from tf_opdiff.harness.judge.known_failures.known_files import KnownError, load
from tf_opdiff.harness.judge.verdicts.verdict import Context, Judge, Origin, Trial
from tf_opdiff.harness.spec.catalog import Catalog, Item
from tf_opdiff.harness.spec.plan import MODES, Device, Plan
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.reports.analysis.known_failures import (
    judged,
    known_entry,
    known_line,
    known_text,
    ledger,
    selector_cover,
)
from tf_opdiff.reports.analysis.known_failures.ledger import entries
from tf_opdiff.reports.analysis.known_failures.spent_entries import lines as spent_lines
from tf_opdiff.reports.analysis.known_failures.suggest import suggest
from tf_opdiff.reports.data.run_data.frame import typed
from tf_opdiff.reports.tests.conftest import HOSTILE
from tf_opdiff.reports.tests.planted import synthetic

DTYPES, RECIPES = ("float32", "float64"), ("edges", "plain")
SPECS = [
    Spec(
        name=name,
        ops="",
        program=lambda tf, x: x,
        reference=np.positive,
        recipes=dict.fromkeys(RECIPES, lambda draw, dtype: (np.zeros(3, dtype),)),
        dtypes=DTYPES,
    )
    for name in ("alpha", "beta", "gamma")
]
CATALOG = Catalog(tuple(Item("tf_opdiff.suites.made", spec, dtype) for spec in SPECS for dtype in spec.dtypes))
TF = ">=2.21,<2.22"
CAUSE = Cause(id="planted", owner="us", reason="said for this test", link="https://example.org/1")


def whole_run(tf: str = "2.21.0", devices: Sequence[str] = ("cpu",)) -> list[Record]:
    """Every case of the catalog under every plan, against NumPy and against eager: all match."""
    rows = []
    for spec, dtype, recipe in itertools.product(("alpha", "beta", "gamma"), DTYPES, RECIPES):
        for device, mode, quantity in itertools.product(devices, MODES, ("output[0]", "grad[0]")):
            case = f"{spec}-{dtype}-{recipe}"
            row = Record(
                run="r", tf=tf, suite="made", spec=spec, case=case, dtype=dtype, recipe=recipe, device=device,
                mode=mode, quantity=quantity, against="numpy", verdict="match", size=3, max_ulp=0.0,
                rerun=f"pytest suites --case {case} --device {device} --mode {mode}",
            )  # fmt: skip
            rows += [row] + ([replace(row, against="cpu/eager")] if (device, mode) != ("cpu", "eager") else [])
    return rows


def frame(rows: Sequence[Record]) -> pd.DataFrame:
    return typed(pd.DataFrame([vars(row) for row in rows]))


def failing(
    rows: Sequence[Record], kind: str = "value", got: str = "1.0", **where: str | tuple[str, ...]
) -> list[Record]:
    """The records, those of the given places failing; `kind` may be several, joined by `;`."""

    def there(row: Record) -> bool:
        wanted = {name: (v,) if isinstance(v, str) else v for name, v in where.items()}
        return all(getattr(row, name) in names for name, names in wanted.items())

    kinds = {"kind": kind.partition(";")[0], "kinds": kind}
    wrong = {"verdict": "mismatch", **kinds, "got": got, "want": "2.0", "max_ulp": 9.0}
    return [replace(row, **wrong) if there(row) else row for row in rows]  # type: ignore[arg-type]


#: What a person writes of a cause.
COMPLETED = {
    "title": "A planted failure",
    "severity": "accuracy: planted for this test",
    "owner": "us",
    "link": "https://example.org/1",
}


def completed(text: str) -> str:
    """A suggested text, its causes completed, each with a reason of its own."""
    for name, value in COMPLETED.items():
        text = text.replace(f'{name} = "TODO"', f'{name} = "{value}"')
    parts = text.split('reason = "TODO"')
    return "".join(f'{part}reason = "{n} said for this test"' for n, part in enumerate(parts[:-1])) + parts[-1]


def selectors(rows: Sequence[Record]) -> list[dict[str, object]]:
    made, why = suggest(frame(rows), Known(), CATALOG)
    assert not len(why)
    return [dict(one.selectors) for one in made]


def holds_up(rows: Sequence[Record], known: Known = Known(), catalog: Catalog = CATALOG) -> int:  # noqa: B008
    """Asserts that suggestions make what fails known and nothing stale; returns how many entries there are."""
    made, why = suggest(frame(rows), known, catalog)
    more = Known((*known.entries, *(one.entry(CAUSE) for one in made)))
    for index, row in enumerate(rows):
        about = more.about(place_of(row), row.tf)
        if row.verdict == "mismatch" and index not in why.index:
            assert {entry.kind for _, entry in about} == {*row.every_kind}, row
            assert all(entry.code in ("", (row.got.split() or [""])[-1]) for _, entry in about), row
        elif row.verdict in ("match", "contract"):
            assert all(number <= len(known.entries) for number, _ in about), row
    assert more.idle(list(rows)) == known.idle(list(rows))
    return len(made)


def test_all_that_fails_alike_becomes_one_entry_with_the_smallest_selectors() -> None:
    assert selectors(failing(whole_run(), spec="alpha")) == [{"spec": "alpha", "device": "cpu"}]
    assert selectors(failing(whole_run(), spec="alpha", mode="xla", dtype="float32")) == [
        {"spec": "alpha", "dtype": "float32", "device": "cpu", "mode": "xla"}
    ]
    assert selectors(failing(whole_run(), spec=("alpha", "gamma"), mode=("xla", "graph"), against="numpy")) == [
        {"spec": ["alpha", "gamma"], "device": "cpu", "mode": ["graph", "xla"], "against": "numpy"}
    ]


def test_what_fails_in_another_way_or_elsewhere_gets_its_own_entry() -> None:
    rows = failing(whole_run(), spec="alpha", mode="xla")
    rows = failing(rows, "nan", spec="beta", mode="xla")
    rows = failing(rows, spec="gamma", mode="graph")
    assert sorted(str(one["spec"]) for one in selectors(rows)) == ["alpha", "beta", "gamma"]
    assert holds_up(rows) == 3


def test_errors_of_several_codes_are_told_apart() -> None:
    rows = failing(whole_run(), "status", "error INTERNAL", spec="alpha", mode="xla")
    rows = failing(rows, "status", "error UNIMPLEMENTED", spec="beta", mode="xla")
    rows = failing(rows, "crash", "crash SIGABRT", spec="gamma", mode="xla")
    rows = failing(rows, "error_code", "NOT_FOUND", spec="gamma", mode="eager")
    made, _ = suggest(frame(rows), Known(), CATALOG)
    assert sorted((one.kind, one.code) for one in made) == [
        ("crash", "SIGABRT"),
        ("error_code", "NOT_FOUND"),
        ("status", "INTERNAL"),
        ("status", "UNIMPLEMENTED"),
    ]
    assert holds_up(rows) == 4


def test_entries_are_split_where_one_would_hold_a_record_that_matches() -> None:
    rows = failing(whole_run(), spec="alpha", dtype="float32", recipe="edges", mode="xla")
    rows = failing(rows, spec="alpha", dtype="float64", recipe="plain", mode="xla")
    assert holds_up(rows) == 2


def test_a_device_or_mode_that_did_not_run_is_not_claimed() -> None:
    rows = failing([r for r in whole_run() if r.mode in ("eager", "xla")], spec="alpha", dtype="float32")
    assert selectors(rows) == [{"spec": "alpha", "dtype": "float32", "device": "cpu", "mode": ["eager", "xla"]}]
    rows = failing([r for r in whole_run() if r.dtype == "float32"], spec="alpha")
    assert selectors(rows) == [{"spec": "alpha", "dtype": "float32", "device": "cpu"}]
    rows = failing(whole_run(devices=("cpu", "gpu:0")), spec="alpha")
    assert selectors(rows) == [{"spec": "alpha", "device": ["cpu", "gpu:0"]}]


@pytest.mark.parametrize("kind", SELF_CHECKS)
def test_what_a_run_does_against_itself_is_no_other_entry(kind: str) -> None:
    rows = whole_run()
    rows += [replace(r, against=r.plan) for r in rows if r.against == "numpy"]
    again = failing(rows, kind, "", spec="beta", mode="eager", against="cpu/eager")
    rows = [new if old.against == old.plan else old for old, new in zip(rows, again, strict=True)]
    made, _ = suggest(frame(rows), Known(), CATALOG)
    assert [dict(one.selectors) for one in made] == [{"spec": "beta", "device": "cpu", "mode": "eager"}]
    assert holds_up(rows) == 1


@pytest.mark.parametrize("seed", range(25))
def test_whatever_fails_becomes_known_and_nothing_stale(seed: int) -> None:
    draw = random.Random(seed)
    rows = whole_run(devices=("cpu", "gpu:0"))
    rows += [replace(r, against=r.plan) for r in rows if r.against == "numpy"]
    rows = [r for r in rows if draw.random() < 0.9]
    for _ in range(draw.randint(1, 6)):
        names = draw.sample(["spec", "dtype", "recipe", "device", "mode", "quantity", "against"], draw.randint(1, 4))
        one = draw.choice(rows)
        where = {name: getattr(one, name) for name in names}
        itself = one.against == one.plan
        kind = draw.choice(["position", "nondeterministic"] if itself else ["value", "nan", "status", "nan;value"])
        got = draw.choice(["error INTERNAL", "error ABORTED"]) if kind == "status" else "1.0"
        held = failing(rows, kind, got, **where)
        rows = [new if (new.against == new.plan) == itself else old for old, new in zip(rows, held, strict=True)]
    for name in ("known", "contract", "unavailable", "error"):
        at = draw.randrange(len(rows))
        rows[at] = replace(rows[at], verdict=name, kind="" if name == "contract" else "value")
    rows = [r for r in rows if r.verdict != "known"]
    fails = frame(rows)["verdict"].eq("mismatch").sum()
    made, why = suggest(frame(rows), Known(), CATALOG)
    assert sum(len(set(one.rows)) for one in made) + len(why) >= fails
    assert holds_up(rows) == len(made)


@pytest.mark.parametrize("seed", range(10))
def test_boxes_hold_exactly_what_is_wanted(seed: int) -> None:
    draw = np.random.default_rng(seed)
    places = pd.DataFrame(list(itertools.product("abc", "de", "fgh")), columns=list("xyz")).sample(
        15, random_state=seed
    )
    wanted = draw.random(15) < 0.4
    held = np.zeros(15, bool)
    for one in selector_cover.cover(places, wanted):
        held |= selector_cover.holds(places, one)
    assert (held == wanted).all()


def test_a_place_that_both_fails_and_does_not_is_said_to_have_no_entry() -> None:
    rows = whole_run(devices=("cpu", "gpu:0"))
    rows = [r for r in rows if r.spec == "alpha"]
    double = [replace(r, against="cpu/graph") for r in rows if r.device == "gpu:0" and r.against == "cpu/eager"]
    rows = [*failing(rows, spec="alpha", device="gpu:0", mode="xla", against="cpu/eager"), *double]
    made, why = suggest(frame(rows), Known(), CATALOG)
    assert not made and len(why) == 8 and set(why) == {"the same place, against another plan, does not fail"}
    assert "# No entry for 8 records of 4 cases" in known_entry.text(made, why, frame(rows))


def test_what_no_entry_can_be_about_is_named_with_the_reason() -> None:
    rows = failing(whole_run(), spec="alpha", mode="xla")
    first = [i for i, r in enumerate(rows) if r.verdict == "mismatch"]
    rows[first[0]] = replace(rows[first[0]], against="claim:C01")
    rows[first[1]] = replace(rows[first[1]], spec="gone")
    rows[first[2]] = replace(rows[first[2]], device="h100@2.21.0")
    rows[first[3]] = replace(rows[first[3]], recipe="gone")
    rows[first[4]] = replace(rows[first[4]], kind="crash", got="crash SIG;RM")
    _, why = suggest(frame(rows), Known(), CATALOG)
    assert [why[first[i]].split(":")[0] for i in range(4)] == [
        "a comparison with a claim is never known",
        "the suites have no such spec any more",
        "an entry can't name that device",
        "the spec has no such case any more",
    ]
    assert why[first[4]] == "its error has no plain code"
    assert holds_up(rows)


def test_an_entry_that_is_there_already_comes_first() -> None:
    rows = failing(whole_run(), "nan", spec="alpha", mode="xla")
    there = Entry(spec="alpha", mode="xla", kind="value", cause=CAUSE)
    made, why = suggest(frame(rows), Known((there,)), CATALOG)
    assert not made and set(why) == {
        "entry 1 of known.toml is about it already, and expects another kind or code: narrow that one first"
    }
    fits = Entry(spec="alpha", mode="xla", kind="nan", cause=CAUSE)
    made, why = suggest(frame(rows), Known((fits,)), CATALOG)
    assert not made and set(why) == {"the known failures cover it by now"}


@pytest.mark.parametrize(
    ("tf", "wanted"),
    [("2.21.0", ">=2.21,<2.22"), ("2.9.3", ">=2.9,<2.10"), ("2.22.0-dev20310504", ">=2.22.dev0,<2.23")],
)
def test_an_entry_holds_for_exactly_the_version_that_ran(tf: str, wanted: str) -> None:
    rows = failing(whole_run(tf), spec="alpha")
    made, _ = suggest(frame(rows), Known(), CATALOG)
    assert [one.tf for one in made] == [wanted]
    assert holds_up(rows) == 1


def test_the_text_is_refused_until_a_person_has_written_why_and_who(tmp_path: Path) -> None:
    rows = failing(whole_run(), spec="alpha", mode="xla")
    rows = failing(rows, "status", "error INTERNAL", spec="beta", dtype="float32")
    made, why = suggest(frame(rows), Known(), CATALOG)
    text = known_entry.text(made, why, frame(rows))
    path = tmp_path / "known.toml"
    path.write_text("# Known.\n\n" + text)
    with pytest.raises(KnownError, match=r"cause 'beta-status': no owner 'TODO'"):
        load(path, CATALOG)
    path.write_text(text.replace('owner = "TODO"', 'owner = "us"'))
    with pytest.raises(KnownError, match=r"cause 'beta-status': reason 'TODO': expected the checked reason"):
        load(path, CATALOG)
    for name in ("title", "severity"):
        kept = f'{name} = "TODO"'
        path.write_text(completed(text.replace(kept, "HERE")).replace("HERE", kept))
        with pytest.raises(KnownError, match=rf"cause 'beta-status': (no )?{name} 'TODO'"):
            load(path, CATALOG)
    path.write_text(completed(text.replace('link = "TODO"', 'link = "gone"')))
    with pytest.raises(KnownError, match=r"cause 'beta-status': link 'gone': expected https"):
        load(path, CATALOG)
    path.write_text(completed(text))
    known = load(path, CATALOG)
    causes = {
        one.cause: Cause(
            id=one.cause,
            **COMPLETED
            | {"severity": "accuracy", "severity_reason": "planted for this test", "reason": f"{n} said for this test"},
        )
        for n, one in enumerate(made)
    }
    assert [one.cause for one in made] == ["beta-status", "alpha-value"]
    assert known.entries == tuple(one.entry(causes[one.cause]) for one in made)
    assert set(judged.judged(frame(rows), known)["verdict"]) == {"match", "known"}
    assert (judged.judged(frame(rows), known)["verdict"] == "known").sum() == sum(r.failing for r in rows)


def test_entries_that_fail_alike_share_a_cause_whose_id_is_new(tmp_path: Path) -> None:
    rows = failing(whole_run(), spec="alpha", dtype="float32", recipe="edges", mode="xla")
    rows = failing(rows, spec="alpha", dtype="float64", recipe="plain", mode="xla")
    there = Entry(
        spec="gamma", mode="xla", kind="value", tf="<2", cause=msgspec.structs.replace(CAUSE, id="alpha-value")
    )
    made, why = suggest(frame(rows), Known((there,)), CATALOG)
    assert [one.cause for one in made] == ["alpha-value-2"] * 2
    text = known_entry.text(made, why, frame(rows))
    assert text.count("[cause.") == 1 and text.count("    {spec") == 2
    (tmp_path / "known.toml").write_text(completed(text))
    assert len({entry.cause.id for entry in load(tmp_path / "known.toml", CATALOG).entries}) == 1


def test_above_each_entry_stands_its_simplest_example_and_the_command_that_reruns_it() -> None:
    rows = failing(whole_run(), spec="alpha", mode="xla")
    at = next(i for i, r in enumerate(rows) if r.failing and r.against == "numpy")
    rows = [replace(row, example="input 0.1, got 3, want 4") if row.failing else row for row in rows]
    rows[at] = replace(rows[at], example_index="[1]", example="input 1, got 3.5, want 2.0")
    made, why = suggest(frame(rows), Known(), CATALOG)
    lines = known_entry.text(made, why, frame(rows)).splitlines()
    stub = ("title", "severity", "owner", "reason", "link")
    assert lines[:7] == ["[cause.alpha-value]", *(f'{name} = "TODO"' for name in stub), "entries = ["]
    assert lines[7] == "    # 16 records of 4 cases on cpu/xla"
    assert lines[8].startswith(f"    # {rows[at].case}, ")
    assert lines[9:11] == ["    # at [1]: input 1, got 3.5, want 2.0", f"    # rerun: {rows[at].rerun}"]
    assert lines[11:] == [f'    {{spec = "alpha", device = "cpu", mode = "xla", kind = "value", tf = "{TF}"}},', "]"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_in_their_comment(text: str) -> None:
    clean = text.encode("utf-8", "replace").decode() + "\n[cause.x]\nspec = 1\r]"
    rows = failing(whole_run(), spec="alpha")
    rows = [replace(r, got=clean, want=clean, input=clean, detail=clean, rerun=clean) for r in rows]
    made, why = suggest(frame(rows), Known(), CATALOG)
    said = known_entry.text(made, why, frame(rows))
    (cause,) = tomllib.loads(said)["cause"].values()
    assert len(cause["entries"]) == len(made) == 1
    assert all(c.isprintable() or c == "\n" for c in said)


CONTEXT = {"run": "r", "started": "", "here": Origin("2.21.0")}


@pytest.mark.parametrize("seed", range(8))
def test_records_are_judged_as_the_harness_judges_them(seed: int) -> None:
    """Entries and records at random; the verdicts are those of `harness.judge.verdicts.verdict.Judge.decide`."""
    draw = random.Random(seed)
    specs = {spec.name: spec for spec in SPECS}
    rows = failing(whole_run(), spec="alpha", mode=("xla", "eager"))
    rows = failing(rows, "nan", spec="beta", quantity="grad[0]")
    rows = failing(rows, "status", "error INTERNAL", spec="gamma", recipe="edges")
    rows = failing(rows, "nan;value", spec="beta", dtype="float64", recipe="edges")
    known = Known(
        tuple(
            Entry(
                spec=draw.sample(["alpha", "beta", "gamma"], draw.randint(1, 2)),
                dtype=draw.choice(["*", "*", "float32", ["float64", "int8"]]),
                recipe=draw.choice(["*", "*", "edges", ["plain", "bits"]]),
                quantity=draw.choice(["*", "*", "output[0]", "grad[0]"]),
                mode=draw.choice(["*", *MODES]),
                against=draw.choice(["*", "numpy", "plan"]),
                kind=draw.choice(["value", "nan", "status"]),
                code=draw.choice(["", "INTERNAL", "ABORTED"]),
                cause=CAUSE,
            )
            for _ in range(6)
        )
    )
    told = judged.judged(frame(rows), known)
    context = Context(**CONTEXT, known=known)  # type: ignore[arg-type]
    for row, verdict in zip(rows, told["verdict"], strict=True):
        spec = specs[row.spec]
        case = next(c for c in spec.cases(row.dtype) if c.recipe == row.recipe)
        code = row.got.split()[-1] if row.kind == "status" else ""
        result = Result("error", code=code) if code else Result("value", np.zeros(3))
        observation = Observation({row.quantity: result})
        found = Comparison.joined([Comparison(kind=kind, got=row.got) for kind in row.every_kind or [""]])
        plan = Plan(Device.parse(row.device), row.mode)
        new = Judge(context).decide(Trial("made", case, plan, observation), row.quantity, found, against=row.against)
        assert new.verdict == verdict, row
    lines = known.idle(rows)
    table = entries(frame(rows), known)
    idle = [int(re.search(r"entry (\d+)", line)[1]) for line in lines]  # type: ignore[index]
    assert set(table[table["state"] == "idle"]["entry"]) <= set(idle)
    assert set(idle) == ledger._idle(frame(rows), known, range(1, len(known.entries) + 1))


def test_a_long_entry_is_broken_between_the_values_of_its_lists_alone() -> None:
    fields: dict[str, object] = {"spec": [f"spec-{n}" for n in range(50)], "kind": "value", "tf": TF}
    lines = known_line.entry(fields).split("\n")
    assert len(lines) == 3 and all(len(line) <= known_line.WIDTH for line in lines)
    assert tomllib.loads(known_line.entries(["    # two", *lines, known_line.entry({"spec": "x"})])) == {
        "entries": [fields, {"spec": "x"}]
    }


def entry(spec: str, kind: str = "value", **more: str) -> Entry:
    return Entry(spec=spec, kind=kind, cause=CAUSE, tf=TF, **more)  # type: ignore[arg-type]


def test_each_entry_has_what_it_covers_and_its_state() -> None:
    rows = failing(whole_run(), spec="alpha", mode="xla")
    rows = failing(rows, spec="beta", recipe="edges", mode="xla")
    known = Known(
        (
            entry("alpha", mode="xla"),
            entry("beta", mode="xla"),
            entry("gamma", mode="xla"),
            entry("gamma", quantity="hvp[0]"),
            entry("gamma", device="gpu"),
        )
    )
    table = entries(frame(rows), known)
    assert table["entry"].tolist() == [1, 2, 3, 4, 5]
    assert table["state"].tolist() == ["holds", "narrow", "stale", "idle", "not run"]
    assert table[["records", "cases", "plans", "stale"]].to_numpy().tolist() == [
        [16, 4, "cpu/xla", 0],
        [8, 2, "cpu/xla", 4],
        [0, 0, "", 8],
        [0, 0, "", 0],
        [0, 0, "", 0],
    ]
    assert set(table["commit"]) == {""} and set(table["file"]) == {"known.toml"}
    assert set(table["cause"]) == {"planted"} and set(table["link"]) == {CAUSE.link}


def test_entries_of_other_specs_than_the_run_has_are_not_run() -> None:
    for known in (Known((entry("nowhere"),)), Known(())):
        assert entries(frame(whole_run()), known)["state"].tolist() == ["not run"] * len(known.entries)


def test_one_record_alone_makes_an_entry_narrow() -> None:
    known = Known((entry("alpha", mode="xla"),))
    last = {"spec": "alpha", "mode": "xla", "dtype": "float64", "recipe": "plain", "quantity": "grad[0]"}
    one = failing(whole_run(), **last, against="numpy")
    rest = failing(whole_run(), spec="alpha", mode="xla", dtype="float32")
    rest = failing(rest, spec="alpha", mode="xla", dtype="float64", recipe="edges")
    rest = failing(rest, **last | {"quantity": "output[0]"})
    rest = failing(rest, **last, against="cpu/eager")
    for rows, fail, match in ((one, 1, 7), (rest, 15, 1)):  # only those against NumPy must fail
        table = entries(frame(rows), known)
        assert table[["state", "records", "stale"]].to_numpy().tolist() == [["narrow", fail, match]]
        line, _ = spent_lines(table, None)
        assert f"{match} records no longer fail, {fail} still do: narrow it by hand" in line


def test_each_kind_of_a_record_is_covered_by_its_own_entry() -> None:
    rows = failing(whole_run(), "nan;value", spec="alpha", mode="xla", against="numpy")
    (nan, value), _ = suggest(frame(rows), Known(), CATALOG)
    assert (nan.kind, value.kind, dict(nan.selectors)) == ("nan", "value", dict(value.selectors))
    assert holds_up(rows) == 2
    known = Known((entry("alpha", "nan", mode="xla", against="numpy"),))
    assert set(judged.judged(frame(rows), known)["unexplained"]) == {(), ("value",)}
    (more,), _ = suggest(frame(rows), known, CATALOG)
    assert more.kind == "value"
    assert holds_up(rows, known) == 1
    both = Known((*known.entries, more.entry(CAUSE)))
    assert entries(frame(rows), both)[["state", "records"]].to_numpy().tolist() == [["holds", 8], ["holds", 8]]
    gone = failing(rows, "nan", spec="alpha", mode="xla", against="numpy")
    states = entries(frame(gone), both)[["state", "records", "stale"]].to_numpy().tolist()
    assert states == [["holds", 8, 0], ["stale", 0, 8]]


KNOWN = """\
# Where TensorFlow does not do what a spec says.

[cause.floor-zero]
title = "A planted failure"
severity = "accuracy: planted for this test"
owner = "tensorflow"
reason = "said for this test"
link = "https://example.org/1"
entries = [
    # about the next one only
    {spec = "floor", mode = "xla", quantity = "output[0]", kind = ["signed_zero", "nan"]},  # first
    # sign
    {spec = "sign", kind = "value"},
]

# about the next one only
[cause."ceil-value"]  # {
title = "A planted failure"
severity = "accuracy: planted for this test"
owner = "tensorflow"
reason = '''said for this [cause.x] "test"
entries = [{'''
measured = "in this test alone"
defaults = {kind = "value"}
entries = [{spec = "ceil", mode = ["xla",
    "eager"], tf = ">=2"}, {spec = ["rint"], tf = ">=2"}]

# the end of it
"""


def test_an_entry_is_taken_out_and_all_else_is_left_as_it_is() -> None:
    without = known_text.without
    first = KNOWN[KNOWN.index("    # about") : KNOWN.index("    # sign")]
    nan, zero = ("floor-zero", 1, "nan"), ("floor-zero", 1, "signed_zero")
    assert without(KNOWN, {nan, zero}) == KNOWN.replace(first, "")
    second = KNOWN[KNOWN.index("    # sign") : KNOWN.index("]\n\n# about")]
    assert without(KNOWN, {("floor-zero", 2, "value")}) == KNOWN.replace(second, "")
    ceil = KNOWN[KNOWN.index('{spec = "ceil"') : KNOWN.index("{spec = [")]
    assert without(KNOWN, {("ceil-value", 1, "value"), ("gone", 1, "nan")}) == KNOWN.replace(ceil, "")
    assert without(KNOWN, {("ceil-value", 2, "value")}) == KNOWN.replace('{spec = ["rint"], tf = ">=2"}', "")
    assert without(KNOWN, {("ceil-value", 3, "value"), ("ceil-value", 1, "nan")}) == KNOWN
    assert without(KNOWN, set()) == KNOWN
    lines = without(KNOWN.replace("\n", "\r\n"), {nan, zero})
    assert lines == KNOWN.replace(first, "").replace("\n", "\r\n")


def test_an_entry_is_narrowed_to_the_kinds_that_still_fail() -> None:
    narrow = known_text.without(KNOWN, {("floor-zero", 1, "nan")})
    assert narrow == KNOWN.replace('["signed_zero", "nan"]', '"signed_zero"')
    default = KNOWN.replace('defaults = {kind = "value"}', 'defaults = {kind = ["nan", "inf", "value"]}')
    narrow = known_text.without(default, {("ceil-value", 2, "inf")})
    last = '{spec = ["rint"], tf = ">=2"'
    assert narrow == default.replace(last, f'{last}, kind = ["nan", "value"]')


def test_a_cause_without_entries_is_taken_out() -> None:
    kinds = {("ceil-value", 1, "value"), ("ceil-value", 2, "value")}
    first, second = KNOWN.index("[cause.floor"), KNOWN.index("# about the next one only\n[")
    assert known_text.without(KNOWN, kinds) == KNOWN[:second] + KNOWN[KNOWN.index("# the end") :]
    kinds = {("floor-zero", 1, "nan"), ("floor-zero", 1, "signed_zero"), ("floor-zero", 2, "value")}
    assert known_text.without(KNOWN, kinds) == KNOWN[:first] + KNOWN[second:]


@pytest.mark.parametrize(
    "text",
    [
        "cause.floor-zero.entries = [{spec = 'floor', kind = 'nan'}]\n",
        "[cause]\nfloor-zero = {entries = [{spec = 'floor', kind = 'nan'}]}\n",
        "[[cause.floor-zero.entries]]\nspec = 'floor'\nkind = 'nan'\n",
        "[cause.floor-zero]\nentries = [{tf = 'kind = []', kind = ['inf', 'nan']}]\n",
    ],
)
def test_a_file_of_another_layout_is_left_to_a_person(text: str) -> None:
    with pytest.raises(ValueError, match=r"^the file is not laid out "):
        known_text.without(text, {("floor-zero", 1, "nan")})


@pytest.fixture
def floor_run(tmp_path: Path) -> Path:
    """A run in which `floor` fails on cpu/xla, all else matches."""
    rows = synthetic.records([("rounding", "floor"), ("rounding", "ceil")], ["cpu"], ["edges"])
    directory = tmp_path / "run"
    reports.write(directory, synthetic.write(directory, [replace(r, against="numpy") for r in rows]))
    (tmp_path / "known.toml").write_text("")
    return directory


def test_the_verb_writes_entries_that_load_when_completed(
    floor_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "known.toml"
    assert main(["suggest", str(floor_run), "--known", str(own)]) == 0
    said = capsys.readouterr().out
    assert main(["suggest", str(floor_run), "--known", str(own), "--out", str(tmp_path / "new.toml")]) == 0
    assert (tmp_path / "new.toml").read_text() == said
    own.write_text(completed(said))
    known = load(own, Catalog.load("tf_opdiff.suites"))
    told = judged.judged(reports.load(floor_run), known)["verdict"]
    assert told.value_counts().to_dict() == {"match": 14, "known": 2}
    capsys.readouterr()
    assert main(["suggest", str(floor_run), "--known", str(own)]) == 0
    assert "the known failures cover it by now" in capsys.readouterr().out


#: In the run, `floor` fails by `signed_zero` on cpu/xla and all else matches.
STALE = {("floor-zero", 1, "nan"), ("floor-zero", 2, "value"), ("ceil-value", 1, "value"), ("ceil-value", 2, "value")}
MIXED = KNOWN.replace('"sign", kind', '"ceil", mode = "xla", kind').replace('["rint"]', '["ceil"], mode = "eager"')


def test_pruning_writes_only_where_it_is_asked_to(
    floor_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, new = tmp_path / "known.toml", tmp_path / "new.toml"
    own.write_text(MIXED)
    command = ["suggest", str(floor_run), "--known", str(own), "--prune"]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[0] == (
        "entry 1 of cause floor-zero (known.toml) (floor, nan): none of its 1 records fails any more"
    )
    assert said.splitlines()[-1] == "4 of 5 entries are spent"
    assert own.read_text() == MIXED
    assert main([*command, "--out", str(new)]) == 0
    left = known_text.without(MIXED, STALE)
    assert (own.read_text(), new.read_text()) == (MIXED, left)
    assert "ceil-value" not in left and '"signed_zero"},  # first' in left
    assert main([*command, "--in-place"]) == 0
    assert own.read_text() == left
    assert len(load(own, Catalog.load("tf_opdiff.suites")).entries) == 1


def test_pruning_a_folder_writes_the_files_with_spent_entries(floor_run: Path, tmp_path: Path) -> None:
    folder, copy = tmp_path / "known", tmp_path / "copy"
    folder.mkdir()
    at = MIXED.index("# about the next one only\n[")
    texts = {"ceil": MIXED[at:], "floor": known_text.without(MIXED[:at], STALE)}
    for name, text in texts.items():
        (folder / f"{name}.toml").write_text(text)
    floor = (folder / "floor.toml").stat().st_mtime_ns
    command = ["suggest", str(floor_run), "--known", str(folder), "--prune"]
    assert main([*command, "--out", str(copy)]) == 0
    assert {name: (folder / f"{name}.toml").read_text() for name in texts} == texts
    assert main([*command, "--in-place"]) == 0
    left = {name: (folder / f"{name}.toml").read_text() for name in texts}
    assert left == {name: (copy / f"{name}.toml").read_text() for name in texts}
    assert left == {"ceil": "# the end of it\n", "floor": texts["floor"]}
    assert (folder / "floor.toml").stat().st_mtime_ns == floor
    assert len(load(folder, Catalog.load("tf_opdiff.suites")).entries) == 1


def test_an_entry_that_still_covers_some_failures_is_not_pruned(
    floor_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "known.toml"
    own.write_text(MIXED.replace('spec = "floor", mode = "xla"', 'spec = "floor"'))
    assert main(["suggest", str(floor_run), "--known", str(own), "--prune"]) == 0
    assert (
        "entry 1 of cause floor-zero (known.toml) (floor, signed_zero): 3 records no longer fail, 1 still do: narrow"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere"], "is not the directory of a run"),
        (["run", "--in-place"], "--in-place: expected with --prune"),
        (["run", "--prune", "--in-place", "--out", "x"], "--in-place: expected with --prune, and without --out"),
        (["run", "--known", "bad.toml"], "bad.toml: cause 'x'"),
        (["run", "--known", "none.toml"], "none.toml"),
        (["empty"], "expected a run with records"),
    ],
)
def test_wrong_usage_is_told_in_one_line(
    floor_run: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    says: str,
) -> None:
    (tmp_path / "bad.toml").write_text("[cause.x]\nentries = 1\n")
    reports.write(tmp_path / "empty", synthetic.write(tmp_path / "empty", []))
    paths = [str(tmp_path / a) if not a.startswith("--") else a for a in arguments]
    assert main(["suggest", *paths]) == 4
    told = capsys.readouterr().err
    assert says in told and told.count("\n") == 1


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_an_entry_stands_since_the_commit_that_last_changed_what_it_selects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_text, "ROOT", tmp_path)
    path = tmp_path / "known.toml"

    def commit(text: str, date: str) -> None:
        path.write_text(text)
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        about = {"GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        for command in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "x"]):
            subprocess.run(["git", *command], cwd=tmp_path, env=about, check=True)

    commit(KNOWN, "2031-05-01T00:00:00Z")
    commit(KNOWN.replace('spec = "sign"', 'spec = "sign", dtype = "float32"'), "2031-05-02T00:00:00Z")
    better = path.read_text().replace("said for", "said better for").replace("floor-zero", "floor-0")
    commit(better.replace('"eager"], tf', '"function"], tf'), "2031-05-03T00:00:00Z")
    known = load(path, Catalog.load("tf_opdiff.suites"))
    rows = frame(synthetic.records([("rounding", "floor")], ["cpu"], ["edges"]))
    table = entries(rows, known, path)
    assert table["entry"].tolist() == [1, 1, 2, 1, 2]
    assert table["since"].str[8:10].tolist() == ["01", "01", "02", "03", "03"]
    assert all(re.fullmatch("[0-9a-f]{12}", commit) for commit in table["commit"])
    assert entries(rows, known, tmp_path / "nowhere" / "known.toml")["since"].tolist() == [""] * 5
