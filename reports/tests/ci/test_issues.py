"""Issues: one for each cause, the same one every night, closed only once all of it was tested and none of it fails."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from tf_opdiff.command_line import main
from tf_opdiff.reports.ci import failing, issue_text, issues, night_runs
from tf_opdiff.reports.tests.conftest import HOSTILE
from tf_opdiff.reports.tests.planted import synthetic

OPS = [("rounding", "floor"), ("rounding", "ceil"), ("sign", "abs"), ("gather", "gather_oob")]


@pytest.fixture(scope="module")
def clean():
    rows = synthetic.records(OPS, ["cpu", "gpu:0"], ["edges"])
    passing = {"verdict": "match", "kind": "", "mismatched": 0, "got": "", "want": "", "input": "", "max_ulp": 0.0}
    return [replace(row, **passing) for row in rows]


def fail(rows, kind, specs, devices=("gpu:0",), verdict="mismatch"):
    """The records; those of these specs on these devices fail."""
    some = {"verdict": verdict, "kind": kind, "mismatched": 1, "size": 67, "got": "1.0", "want": "2.0", "max_ulp": 9.0}
    return [replace(r, **some) if r.spec in specs and r.device in devices else r for r in rows]


@pytest.fixture
def night(tmp_path):
    """night(run=records, …) writes merged runs and gives their folder."""
    made = []

    def write(about=None, **runs):
        folder = tmp_path / f"night{len(made)}"
        made.append(folder)
        for name, rows in runs.items():
            synthetic.write(folder / name / f"{name}-{len(made)}", rows, run=f"{name}-{len(made)}", **(about or {}))
        return folder

    return write


TAGS = {"p", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "ul", "li", "em", "code"}


class Shown(HTMLParser):
    """What a page shows: its `tags`, and its `text` outside code."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self._code = set(), "", False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self._code = tag == "code"
        assert not attrs

    def handle_endtag(self, tag):
        self._code = False

    def handle_data(self, data):
        self.text += "" if self._code else data


def planned(folder, there=(), most=issues.MOST):
    nights = night_runs.read([folder])
    return issues.plan(failing.gather(nights), there, nights, most)


def opened(actions, first=1):
    return [issues.Issue(first + i, a.title, a.body, "OPEN") for i, a in enumerate(actions) if a.do == "open"]


def did(actions):
    return [(action.do, action.number) for action in actions]


def test_specs_that_fail_alike_on_the_same_plans_in_several_runs_are_one_issue(clean, night):
    rows = fail(fail(clean, "value", ["floor", "ceil"]), "nan", ["abs"])
    actions = planned(night(tf220=rows, tf221=rows))
    assert did(actions) == [("open", 0), ("open", 0)]
    first = issue_text.marked(actions[0].body)
    assert (first.kind, first.specs, set(first.runs)) == ("value", ["ceil", "floor"], {"tf220", "tf221"})
    assert first.plans == {f"gpu:0/{mode}" for mode in ("eager", "function", "xla", "graph")}
    assert "32 records in 2 cases of 2 specs" in actions[0].body
    assert "pytest suites --case" in actions[0].body


def test_an_issue_is_the_same_while_the_cause_is_the_same_and_told_when_it_grows(clean, night):
    there = opened(planned(night(tf221=fail(clean, "value", ["floor"]))))
    again = night({"started": "2031-05-05T03:02:01+00:00"}, tf221=fail(clean, "value", ["floor"]))
    (action,) = planned(again, there)
    assert (action.do, action.number, action.comment) == ("update", 1, "")
    (action,) = planned(night(tf221=fail(clean, "value", ["floor", "ceil"], ["cpu", "gpu:0"])), there)
    assert (action.do, action.number) == ("update", 1)
    assert action.comment.startswith("New tonight: spec ceil, plan cpu/eager")


def test_entries_that_no_longer_fail_are_apart_by_their_reasons_and_stay_so(clean, night):
    reasons = {"eager": "wrong at infinity", "graph": "wrong near 0"}
    rows = fail(clean, "", ["floor"], verdict="stale")
    rows = [replace(r, reason=reasons.get(r.mode, r.reason)) if r.verdict == "stale" else r for r in rows]
    rows = [r for r in rows if r.spec != "floor" or r.device == "cpu" or r.mode in reasons]
    folder = night(tf221=rows)
    actions = planned(folder)
    assert {issue_text.marked(a.body).reason for a in actions} == set(reasons.values())
    assert all(sum(reason in a.body for reason in reasons.values()) == 1 for a in actions)
    assert planned(folder, opened(actions)) == []


def test_nothing_is_done_where_all_is_as_planned(clean, night):
    folder = night(tf221=fail(clean, "value", ["floor"]))
    assert planned(folder, opened(planned(folder))) == []


def test_it_is_closed_once_none_of_it_fails_and_all_was_tested(clean, night):
    there = opened(planned(night(tf221=fail(clean, "value", ["floor"]))))
    (action,) = planned(night(tf221=clean), there)
    assert (action.do, action.number) == ("close", 1)
    assert "None of it fails any more: 8 match" in action.comment
    (action,) = planned(night(tf221=fail(clean, "value", ["floor"], verdict="known")), there)
    assert action.do == "close"
    assert "8 known" in action.comment


@pytest.mark.parametrize("what", ["run", "device", "whole", "kernel"])
def test_it_is_left_open_where_a_part_of_it_was_not_tested(clean, night, what):
    there = opened(planned(night(tf220=fail(clean, "value", ["floor"]), tf221=fail(clean, "value", ["floor"]))))
    lacking = [row for row in clean if row.device == "cpu"] if what == "device" else clean
    if what == "kernel":
        gone = {"verdict": "unavailable", "kind": "status"}
        lacking = [replace(row, **gone) if row.device == "gpu:0" and row.mode == "xla" else row for row in clean]
    runs = {"tf220": clean} if what == "run" else {"tf220": clean, "tf221": lacking}
    about = {"not_run": [{"case": "a", "device": "cpu", "mode": "xla", "why": "killed"}]} if what == "whole" else {}
    (action,) = planned(night(about, **runs), there)
    assert (action.do, action.number) == ("leave", 1)
    said = {
        "run": "no run tf221",
        "device": "floor on gpu:0/eager",
        "whole": "is partial",
        "kernel": "floor on gpu:0/xla",
    }
    assert said[what] in action.why


def test_a_cause_that_comes_back_opens_its_issue_again_unless_a_person_closed_it_as_not_planned(clean, night):
    folder = night(tf221=fail(clean, "value", ["floor"]))
    (one,) = opened(planned(folder))
    closed = issues.Issue(1, one.title, one.body, "CLOSED", "COMPLETED")
    assert did(planned(folder, [closed])) == [("reopen", 1)]
    refused = issues.Issue(1, one.title, one.body, "CLOSED", "NOT_PLANNED")
    assert did(planned(folder, [refused])) == [("leave", 1)]
    assert did(planned(night(tf221=clean), [closed, refused])) == []


def test_what_fails_otherwise_now_has_another_issue(clean, night):
    there = opened(planned(night(tf221=fail(clean, "value", ["floor"]))))
    actions = planned(night(tf221=fail(clean, "nan", ["floor"])), there)
    assert did(actions) == [("open", 0), ("close", 1)]
    assert "8 mismatch" in actions[1].comment
    put_off = planned(night(tf221=fail(clean, "nan", ["floor"])), there, most=0)
    assert did(put_off) == [("later", 0), ("leave", 1)]


def test_of_two_causes_that_were_one_the_larger_keeps_the_issue(clean, night):
    rows = fail(clean, "value", ["floor", "ceil", "abs"])
    there = opened(planned(night(tf221=rows)))
    split = fail(fail(clean, "value", ["floor", "ceil"]), "value", ["abs"], ["cpu", "gpu:0"])
    actions = planned(night(tf221=split), there)
    assert sorted(did(actions)) == [("open", 0), ("update", 1)]
    assert next(a for a in actions if a.do == "open").title.startswith("mismatch, value: abs on")


def test_at_most_so_many_are_opened_and_the_rest_is_told(clean, night):
    rows = fail(fail(fail(clean, "value", ["floor"]), "nan", ["abs"]), "inf", ["ceil"])
    folder = night(tf221=rows)
    actions = planned(folder, most=2)
    assert [action.do for action in actions] == ["open", "open", "later"]
    rest = planned(folder, opened(actions), most=2)
    assert [action.title for action in rest if action.do == "open"] == [actions[2].title]


def test_an_issue_that_is_not_marked_is_not_touched(clean, night):
    said = "<!-- tf-opdiff cause {} -->"
    there = [issues.Issue(i, "t", body, "OPEN") for i, body in enumerate(["", "text", said, f"a\n{said}"], 1)]
    assert planned(night(tf221=clean), there) == []


def test_hostile_texts_stay_texts_and_are_known_again(night):
    row = synthetic.records([("s", "op")], ["cpu"], ["edges"])[0]
    rows = []
    for i, text in enumerate(HOSTILE):
        text = text.encode("utf-8", "backslashreplace").decode() + " @someone #1 --> `x` -->"
        named = dict.fromkeys(("spec", "case", "quantity", "got", "want", "detail", "reason", "rerun", "dtype"), text)
        rows.append(replace(row, **named, verdict="mismatch", kind="value", mode=("eager", "xla")[i % 2]))
    folder = night(tf221=rows)
    actions = planned(folder)
    assert actions
    for action in actions:
        first, _, body = action.body.partition("\n")
        assert first.endswith("-->")
        assert first.count("-->") == 1
        assert "\n" not in action.title
        shown = Shown(MarkdownIt("commonmark", {"html": True}).enable("table").render(body))
        assert shown.tags == TAGS
        assert not re.search(r"@\w|#\d", shown.text)
    assert planned(folder, opened(actions)) == []


def test_gh_opens_updates_and_closes_and_done_again_does_nothing(clean, night, github, capsys):
    first = night(tf221=fail(clean, "value", ["floor"]))
    assert main(["issues", str(first), "--apply"]) == 0
    assert main(["issues", str(first), "--apply"]) == 0
    (one,) = json.loads((github / "issues.json").read_text())
    assert (one["state"], one["labels"]) == ("OPEN", ["nightly"])
    assert main(["issues", str(night(tf221=clean)), "--apply"]) == 0
    (one,) = json.loads((github / "issues.json").read_text())
    assert one["state"] == "CLOSED"
    assert len(one["comments"]) == 1
    assert main(["issues", str(first), "--apply"]) == 0
    (one,) = json.loads((github / "issues.json").read_text())
    assert one["state"] == "OPEN"
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said] == ["opened", "close", "reopen"]


def test_without_apply_it_only_says_what_it_would_do(clean, night, github, capsys):
    assert main(["issues", str(night(tf221=fail(clean, "value", ["floor"]))), "--site", "https://example.org/s/"]) == 0
    (action,) = json.loads(capsys.readouterr().out)
    assert action["do"] == "open"
    assert "(https://example.org/s/tf221/tf221-1/index.html)" in action["body"]
    calls = [json.loads(line)["words"][:2] for line in (github / "calls").read_text().splitlines()]
    assert calls == [["issue", "list"]]


def test_a_gh_that_is_absent_or_fails_is_said_in_one_line(clean, night, github, capsys, monkeypatch):
    folder = str(night(tf221=clean))
    (github / "issues.json").write_text("no JSON")
    assert main(["issues", folder]) == 4
    monkeypatch.setenv("PATH", str(github / "nowhere"))
    assert main(["issues", folder]) == 4
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "gh issue list: status 1" in lines[0]
    assert "no gh on the PATH" in lines[1]


def test_what_is_no_run_is_an_error(tmp_path, capsys):
    assert main(["issues", str(tmp_path)]) == 4
    assert "expected the directory of a run, or of a night's merged runs" in capsys.readouterr().err


def test_the_most_severe_cause_comes_first_then_the_one_that_reaches_furthest(clean, night):
    severity = {"floor": "accuracy", "ceil": "accuracy", "abs": "memory"}
    rows = fail(fail(fail(clean, "value", ["floor"]), "nan", ["ceil"], ["cpu", "gpu:0"]), "inf", ["abs"])
    rows = [replace(r, severity=severity[r.spec]) if r.verdict == "mismatch" else r for r in rows]
    causes = failing.gather(night_runs.read([night(tf221=rows)]))
    assert [cause.place.specs for cause in causes] == [["abs"], ["ceil"], ["floor"]]
