"""A mode, a verdict, a kind and a page are each added in at most three files: a copy of the tree has one of each."""

import json
import os
import subprocess
import sys

import pytest

from tf_opdiff.harness.store.shards.merged import merge
from tf_opdiff.harness.tests.mutation import copy_tree
from tf_opdiff.harness.tests.patience import PATIENCE

SUITE = """import numpy as np
from tf_opdiff.harness.spec.spec import Spec


def ones(draw, dtype):
    return (np.ones(3, dtype),)


SPECS = (
    Spec(name="same", program=lambda tf, x: x + 0, reference=lambda x: x, recipes={"r": ones}, ops=""),
    Spec(name="tripled", program=lambda tf, x: x * 3, reference=lambda x: x, recipes={"r": ones}, ops=""),
)
"""
#: What is added → the edits of each file: (the text before which a text is inserted, that text).
#: The fields of a page.
PAGE = (
    'file="plans.html"',
    'link="All plans"',
    'short="Plans"',
    'holds="P."',
    "content=lambda _: 1",
    "html=lambda *_: '<p>plans</p>'",
)
ADDITIONS = {
    "mode": {
        "harness/spec/modes.py": [
            (")\n#: Modes by name", '    Mode(name="again", family=KERNELS, traced=True, phrase="Traced again"),\n')
        ],
        "harness/device/programs/modes.py": [('    "graph": graph,', '    "again": function,\n')],
    },
    "verdict": {
        "harness/store/records/record.py": [('"error", "unavailable")\nFAILING', '"unsure", ')],
        "harness/judge/verdicts/classify.py": [('    ({}, "match"),', '    ({}, "unsure"),\n')],
        "reports/text/verdicts.py": [
            (
                ")\n\n#: Verdicts by name",
                """    Verdict(
        name="unsure", symbol="?", letter="?", emoji="?", meaning="nobody knows", outcome="agrees",
        colours=Colours("#fff", "#000", "#000", "#fff"), against_other="is unsure about {against}",
        against_itself="is unsure about itself",
    ),
""",
            )
        ],
    },
    "kind": {
        "harness/spec/kinds.py": [
            (
                ")\n#: Kinds by name",
                '    Kind(name="far", meaning="The values are far apart.", predicate="is far off"),\n',
            )
        ],
        "harness/judge/differences/difference.py": [
            ('        "value": far & ~flushed,', '        "far": far & (ulps > 1e6),\n')
        ],
    },
    "page": {
        "reports/pages/run_pages/extra_pages.py": [
            (
                ")\n\n\ndef write(",
                f"    ExtraPage({', '.join(PAGE)}),\n",
            )
        ],
    },
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The run of a planted suite in a copy of the tree that has all additions."""
    folder = tmp_path_factory.mktemp("copy")
    copy_tree(folder)
    (folder / "harness" / "tests" / "planted_additions.py").write_text(SUITE)
    for edits in ADDITIONS.values():
        for name, inserted in edits.items():
            text = (folder / name).read_text()
            for before, addition in inserted:
                assert text.count(before) == 1, f"{name}: expected {before!r} once"
                text = text.replace(before, addition + before)
            (folder / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "suites"]
    command += ["-o", "opdiff_suites=tf_opdiff.harness.tests.planted_additions", "-o", f"opdiff_known={os.devnull}"]
    command += ["--device", "cpu", "--mode", "eager", "--mode", "again", f"--run-dir={folder / 'run'}"]
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")} | {"TF_OPDIFF_CACHE": str(folder / "c")}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 1, done.stdout + done.stderr
    return folder / "run"


@pytest.mark.parametrize("what", ADDITIONS)
def test_an_addition_touches_at_most_three_files(what):
    assert len(ADDITIONS[what]) <= 3


@pytest.fixture(scope="module")
def records(run):
    return {(r.spec, r.mode): r for r in merge([run]).records if r.against == "numpy"}


def test_a_new_mode_runs_and_its_finding_has_no_program_of_another_mode(run, records):
    assert {mode for _, mode in records} == {"eager", "again"}
    assert "again" in (run / "index.html").read_text()
    (row,) = (row for row in json.loads((run / "repro.json").read_text()) if row["mode"] == "again")
    assert row["status"] != "reproduced" and "script.py.jinja" in row["why"]


def test_a_new_verdict_is_given_and_shown(run, records):
    assert {records["same", mode].verdict for mode in ("eager", "again")} == {"unsure"}
    assert "nobody knows" in (run / "index.html").read_text()


def test_a_new_kind_is_found_beside_the_others_and_shown(run, records):
    assert records["tripled", "eager"].every_kind == ("value", "far")
    assert "far" in (run / "summary.md").read_text()


def test_a_new_page_is_written_and_linked(run):
    assert (run / "plans.html").read_text() == "<p>plans</p>"
    assert '<a href="plans.html">All plans</a>' in (run / "index.html").read_text()
