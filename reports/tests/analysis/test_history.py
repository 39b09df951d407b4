"""Tests of the history of many runs: what is kept of each, since when verdicts stand, what is flaky, and the page."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tf_opdiff import reports
from tf_opdiff.command_line import main
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.reports.analysis.comparisons import noise
from tf_opdiff.reports.analysis.histories import history, nights, stored_run
from tf_opdiff.reports.analysis.histories.timeline import timeline
from tf_opdiff.reports.data.run_data import frame, parquet
from tf_opdiff.reports.tests.browser import Browser
from tf_opdiff.reports.tests.conftest import HOSTILE
from tf_opdiff.reports.tests.pages.test_page import Page
from tf_opdiff.reports.tests.planted import synthetic

CEIL = ("ceil-float32-edges", "cpu", "xla")
CPU = {"cpu": {"asked": True}}


def night(folder: Path, day: int, verdicts: Sequence[str] = (), *, tf: str = "2.21.0", **info: Any) -> Path:
    """A run of `ceil` and `rint`; `ceil` on cpu/xla has the given verdicts for its output and its gradient."""
    run, started = f"r{day:02}", f"2031-05-{day:02}T03:02:01+00:00"
    rows = [
        replace(r, run=run, started=started, tf=tf, against="numpy")
        for r in synthetic.records([("rounding", "ceil"), ("rounding", "rint")], ["cpu"], ["edges"])
    ]
    left = list(verdicts or ("match", "match"))
    for i, row in enumerate(rows):
        if (row.case, row.device, row.mode) == CEIL:
            verdict = left.pop(0) if left else ""
            rows[i] = replace(row, verdict=verdict, kind="" if verdict in ("match", "contract") else "value")
    directory = folder / f"night-{day}"
    synthetic.write(directory, [r for r in rows if r.verdict], **({"devices": CPU} | info))
    parquet.write(frame.records(directory), directory / "records.parquet")  # a history reads no page
    return directory


def ceil(folder: Path, last: int | None = None) -> list[str]:
    table = history.grid(nights.read(folder, last), quiet=True)
    return table.xs(CEIL, level=["case", "device", "mode"]).to_numpy()[0].tolist()


def test_a_cell_is_the_worst_verdict_and_the_newest_run_is_first(tmp_path: Path) -> None:
    for day, verdicts in enumerate([("match", "match"), ("known", "mismatch"), ("contract", "match")], 1):
        night(tmp_path, day, verdicts)
    assert ceil(tmp_path) == ["contract", "mismatch", "match"]
    assert ceil(tmp_path, last=2) == ["contract", "mismatch"]
    assert history.grid(nights.read(tmp_path)).columns.tolist() == ["r03", "r02", "r01"]


def test_a_row_that_a_run_does_not_cover_is_blank_and_not_a_pass(tmp_path: Path) -> None:
    night(tmp_path, 1, ("known", "match"))
    night(tmp_path, 2, ("",))
    night(tmp_path, 3, ("known", "match"))
    assert ceil(tmp_path) == ["known", "", "known"]
    (row,) = history.seen(nights.read(tmp_path)).to_dict("records")
    assert (row["since"], row["bad"], row["runs"]) == ("r01", 2, 2)


def test_a_run_without_records_is_a_blank_column(tmp_path: Path) -> None:
    info = synthetic.write(tmp_path / "empty", [], run="r03", started="2031-05-03T00:00:00+00:00")
    reports.write(tmp_path / "empty", info)
    options = ["--html", str(tmp_path / "h.html"), "--markdown", str(tmp_path / "h.md")]
    assert main(["history", str(tmp_path), *options]) == 0
    assert len(history.grid(nights.read(tmp_path), quiet=True)) == 0
    night(tmp_path, 1, ("known", "match"))
    assert ceil(tmp_path) == ["", "known"]


def test_only_rows_that_were_ever_out_of_order_are_listed_the_latest_change_first(tmp_path: Path) -> None:
    night(tmp_path, 1, ("match", "match"))
    night(tmp_path, 2, ("mismatch", "match"))
    for day in (1, 2):
        path = tmp_path / f"night-{day}"
        rows = reports.load(path)
        rows.loc[(rows["spec"] == "rint") & (rows["mode"] == "eager"), "verdict"] = "known"
        rows.to_parquet(path / "records.parquet", index=False)
    found = nights.read(tmp_path)
    assert history.grid(found).index.get_level_values("spec").tolist() == ["ceil", "rint"]
    assert len(history.grid(found, quiet=True)) == 8
    assert history.grid(found, ("suite", "spec")).index.tolist() == [("rounding", "ceil"), ("rounding", "rint")]


def test_first_and_last_seen(tmp_path: Path) -> None:
    for day, verdict in enumerate(["match", "mismatch", "known", "match", "match"], 1):
        night(tmp_path, day, (verdict, "match"))
    (row,) = history.seen(nights.read(tmp_path)).to_dict("records")
    assert (row["case"], row["device"], row["mode"]) == CEIL
    assert (row["first"], row["last"], row["since"], row["verdict"]) == ("r02", "r03", "r04", "match")
    assert (row["bad"], row["runs"], row["kinds"]) == (2, 5, "value")


def test_what_comes_and_goes_is_flaky_at_its_flip_rate(tmp_path: Path) -> None:
    for day, verdict in enumerate(["match", "mismatch", "match", "match", "mismatch"], 1):
        night(tmp_path, day, (verdict, "match"))
    (row,) = history.flaky(nights.read(tmp_path)).to_dict("records")
    assert (row["case"], row["quantity"]) == (CEIL[0], "output[0]")
    assert (row["changes"], row["opportunities"], row["rate"]) == (3, 4, 0.75)
    assert row["verdicts"] == "mismatch match match mismatch match"


@pytest.mark.parametrize(
    "verdicts",
    [
        ["match", "mismatch", "mismatch", "mismatch"],  # it broke
        ["mismatch", "known", "mismatch", "known"],  # an entry came and went
        ["known", "stale", "match", "match"],  # it was mended, then the entry deleted
        ["match", "contract", "match", "contract"],
    ],
)
def test_what_broke_once_or_was_only_judged_anew_is_not_flaky(tmp_path: Path, verdicts: list[str]) -> None:
    for day, verdict in enumerate(verdicts, 1):
        night(tmp_path, day, (verdict, "match"))
    assert len(history.flaky(nights.read(tmp_path))) == 0


@pytest.mark.parametrize("how", ["tf", "device", "processor"])
def test_what_differs_between_versions_or_devices_is_not_flaky(tmp_path: Path, how: str) -> None:
    for day in range(1, 7):
        odd = day % 2
        more: dict[str, Any] = {
            "tf": {"tf": f"2.2{odd}.0"},
            "device": {"devices": {"cpu": {"asked": True, "device_name": f"name {odd}"}}},
            "processor": {"machine": {"processor": f"name {odd}"}},
        }[how]
        night(tmp_path, day, ("mismatch" if odd else "match", "match"), **more)
    assert len(history.flaky(nights.read(tmp_path))) == 0
    assert set(ceil(tmp_path)) == {"match", "mismatch"}


def test_flips_of_one_version_count_though_another_ran_in_between(tmp_path: Path) -> None:
    for day, (tf, verdict) in enumerate(
        [("2.21.0", "match"), ("2.20.0", "match"), ("2.21.0", "mismatch"), ("2.20.0", "match"), ("2.21.0", "match")], 1
    ):
        night(tmp_path, day, (verdict, "match"), tf=tf)
    (row,) = history.flaky(nights.read(tmp_path)).to_dict("records")
    assert (row["changes"], row["opportunities"]) == (2, 3)  # two of 2.21.0, one of 2.20.0 that did not change


def test_a_run_that_is_gone_stays_in_history_and_one_written_again_is_read_again(tmp_path: Path) -> None:
    night(tmp_path, 1, ("mismatch", "match"))
    night(tmp_path, 2)
    assert ceil(tmp_path) == ["match", "mismatch"]
    shutil.rmtree(tmp_path / "night-1")
    assert ceil(tmp_path) == ["match", "mismatch"]
    shutil.rmtree(tmp_path / "night-2")
    night(tmp_path, 2, ("known", "match"))
    assert ceil(tmp_path) == ["known", "mismatch"]


def test_what_is_kept_gives_what_the_records_gave(tmp_path: Path) -> None:
    path = night(tmp_path, 1, ("mismatch", "known"))
    first, again = nights.read(tmp_path).records, nights.read(tmp_path).records
    columns = [*stored_run.KEY, *stored_run.FIGURES]
    assert first.equals(again)
    own = reports.load(path).sort_values(list(stored_run.KEY), key=lambda c: c.astype("str"))[columns]
    own = own.astype({"max_ulp": "float32"}).astype("str")
    assert first[columns].astype("str").to_numpy().tolist() == own.to_numpy().tolist()


def test_files_of_records_and_runs_that_have_only_shards_are_runs(tmp_path: Path) -> None:
    (night(tmp_path, 1, ("mismatch", "match")) / "records.parquet").rename(tmp_path / "first.parquet")
    shutil.rmtree(tmp_path / "night-1")
    (night(tmp_path, 2) / "records.parquet").unlink()
    assert ceil(tmp_path) == ["match", "mismatch"]
    runs = nights.read(tmp_path).runs
    assert runs["name"].tolist() == ["night-2", "first.parquet"]
    assert "no run.json" in runs["partial"][1]


def test_what_cannot_be_read_is_named_and_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    night(tmp_path, 1)
    (night(tmp_path, 2) / "records.parquet").write_bytes(b"PAR1 nonsense")
    (night(tmp_path, 3) / "run.json").write_text('{"surprise": 1}')
    (tmp_path / "other.parquet").write_bytes(b"")
    shutil.copytree(tmp_path / "night-1", tmp_path / "copy-of-1")
    (tmp_path / "latest").symlink_to("night-1")
    (tmp_path / "notes").mkdir()
    assert main(["history", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("1 runs")
    assert [line.split(":")[1].strip() for line in said.splitlines() if line.startswith("left out")] == [
        *("night-1", "night-2", "night-3", "other.parquet")
    ]
    assert "is the same run r01 as copy-of-1" in said


def test_a_damaged_kept_file_is_made_again_and_named_where_it_cannot_be(tmp_path: Path) -> None:
    for day in (1, 2):
        night(tmp_path, day)
    nights.read(tmp_path)
    for path in (tmp_path / "history").glob("*.parquet"):
        path.write_bytes(path.read_bytes()[:200])
    shutil.rmtree(tmp_path / "night-1")
    found = nights.read(tmp_path)
    assert found.runs["run"].tolist() == ["r02"] and list(found.left_out) == ["night-1"]


def test_a_folder_that_cannot_be_written_is_read_all_the_same(tmp_path: Path) -> None:
    night(tmp_path, 1, ("known", "match"))
    (tmp_path / "history").write_text("a file in its place")
    assert ceil(tmp_path) == ["known"]


def test_partial_runs_are_marked_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    night(tmp_path, 1, ("mismatch", "match"))
    night(tmp_path, 2, ("mismatch", "match"), state="interrupted")
    options = ["--html", str(tmp_path / "h.html"), "--markdown", str(tmp_path / "h.md")]
    assert main(["history", str(tmp_path), *options]) == 0
    assert "partial: night-2: it was interrupted" in capsys.readouterr().out
    assert "it was interrupted" in (tmp_path / "h.md").read_text()
    page = (tmp_path / "h.html").read_text()
    assert "1 of them partial" in page and "it was interrupted" in page
    assert page.count('class="night partial"') == 2  # in the table of specs and in that of cases


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["{}/nowhere"], "expected a folder of runs"),
        (["{}"], "expected run directories or files of records"),
        (["{}", "--last", "0"], "--last: expected a whole number of runs from 1"),
        (["{}", "--last=-1.5"], "--last: expected a whole number of runs from 1"),
    ],
)
def test_wrong_usage_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    arguments = [a.format(tmp_path) for a in arguments]
    assert main(["history", *arguments]) == 4
    told = capsys.readouterr().err
    assert says in told and told.count("\n") == 1


def test_an_unknown_row_is_refused(tmp_path: Path) -> None:
    night(tmp_path, 1)
    with pytest.raises(LookupError, match="rows by recipe: expected some of suite, spec"):
        history.grid(nights.read(tmp_path), ("recipe",))


def test_cases_alike_share_a_line_that_names_exactly_their_plans(tmp_path: Path) -> None:
    rows = [replace(r, verdict="match", kind="") for r in synthetic.records([("s", "op")], ["cpu"], ["a", "b", "c"])]
    bad = {("op-float32-a", "xla"), ("op-float32-b", "xla"), ("op-float32-c", "xla"), ("op-float32-c", "graph")}
    rows = [replace(r, verdict="known", kind="nan") if (r.case, r.mode) in bad else r for r in rows]
    reports.write(tmp_path / "one", synthetic.write(tmp_path / "one", rows))
    (spec,) = timeline(nights.read(tmp_path)).specs
    lines = [(line.cases, line.where, line.kinds, line.cells) for line in spec.lines]
    assert sorted(lines) == [
        (["op-float32-a", "op-float32-b"], "cpu/xla", "nan", ["known"]),
        (["op-float32-c"], "cpu/xla, graph", "nan", ["known"]),
    ]


@pytest.fixture
def hostile(tmp_path: Path, hostile_run: Path) -> Path:
    """A folder of the hostile run, twice; the second has other verdicts."""
    shutil.copytree(hostile_run, tmp_path / "one")
    shutil.copytree(hostile_run, tmp_path / "<img src=x onerror=window.pwned=1>")
    path = tmp_path / "<img src=x onerror=window.pwned=1>"
    about = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps(about | {"run": HOSTILE[5], "tf": HOSTILE[1]}))
    (tmp_path / "<script>window.pwned=1").mkdir()
    (tmp_path / "<script>window.pwned=1" / "run.json").write_text("[]")
    return tmp_path


def test_hostile_texts_make_no_element_and_no_markup(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", str(hostile), "--html", str(hostile / "h.html"), "--markdown", str(hostile / "h.md")]) == 0
    page = Page(hostile / "h.html")
    assert page.scripts == []
    assert not {tag for tag, _ in page.elements} & {"script", "img", "svg", "iframe", "base", "form"}
    names = {name for _, attributes in page.elements for name in attributes}
    assert not {name for name in names if name.startswith("on")} and "src" not in names
    links = {a.get("href") or "#" for _, a in page.elements}
    assert all(link.startswith("#") or (link.endswith("/index.html") and ":" not in link) for link in links)
    assert "<img" not in (hostile / "h.md").read_text() and "<script" not in (hostile / "h.md").read_text()
    assert all(c.isprintable() or c == "\n" for c in capsys.readouterr().out)


@pytest.mark.browser
def test_the_page_reads_in_a_browser_wide_narrow_and_dark(browser: Browser, tmp_path: Path) -> None:
    for day, verdict in enumerate(["match", "mismatch", "match", "known"], 1):
        night(tmp_path, day, (verdict, "match"), **({"state": "interrupted"} if day == 2 else {}))
    (tmp_path / "torn.parquet").write_bytes(b"")
    page = tmp_path / "history.html"
    assert main(["history", str(tmp_path), "--html", str(page)]) == 0
    contrast = (Path(__file__).parents[1] / "contrast.js").read_text()
    for look in ({}, {"dark": True}, {"width": 390, "height": 800}):
        browser.look(**look)
        browser.call("Page.navigate", url="about:blank")
        browser.call("Page.navigate", url=page.resolve().as_uri())
        browser.until("document.readyState === 'complete' && !!document.querySelector('.strips')")
        assert browser.js("document.documentElement.scrollWidth <= innerWidth")
        assert browser.js(contrast) == []
        assert browser.js(
            "[...document.querySelectorAll('.spec td:not(.since)')].map(td => td.textContent).join('')"
        ) == ("K✓✗✓")
        browser.js("document.querySelectorAll('#cases details').forEach(part => part.open = true)")
        assert browser.js("[...document.querySelectorAll('.line td')].map(td => td.textContent).join('')") == "K✓✗✓"
        assert browser.js("document.documentElement.scrollWidth <= innerWidth")
        text = browser.js("document.body.innerText")
        for part in ("100% (3 of 3)", "torn.parquet", "1 run is left out", "7 rows"):
            assert part in text
    assert browser.said == []
    assert {u for u in browser.asked if not u.startswith("about:")} == {page.resolve().as_uri()}


@pytest.mark.browser
def test_the_page_is_used_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    rows: list[Record] = []
    for recipe in ("a", "b"):
        rows += [replace(r, verdict="known") for r in synthetic.records([("s", "op")], ["cpu"], [recipe])]
    reports.write(tmp_path / "one", synthetic.write(tmp_path / "one", rows))
    page = tmp_path / "history.html"
    assert main(["history", str(tmp_path), "--html", str(page)]) == 0
    browser.call("Page.navigate", url=page.resolve().as_uri())
    browser.until("document.readyState === 'complete' && !!document.querySelector('.strips')")
    assert "op-float32-a" not in browser.js("document.body.innerText")
    for words in ("s: 1 line", "2 cases on cpu/eager, function, xla, graph"):
        for _ in range(40):
            browser.key("Tab", 9)
            if words in browser.js(
                "document.activeElement.tagName === 'SUMMARY' ? document.activeElement.innerText : ''"
            ):
                break
        browser.key("Enter", 13)
    assert browser.until("document.body.innerText.includes('op-float32-a')")
    assert browser.js("[...document.querySelectorAll('.scroll')].every(part => part.tabIndex === 0)")


def alerts(folder: Path) -> list[tuple[str, str, int, bool]]:
    table = history.failing(nights.read(folder), ("spec", "mode")).reset_index()
    return list(table[["spec", "since", "runs", "turned"]].itertuples(index=False, name=None))


def test_a_spec_fails_since_the_oldest_run_of_an_unbroken_series(tmp_path: Path) -> None:
    for day, verdict in enumerate(["mismatch", "match", "mismatch", "error", "", "mismatch"], 1):
        night(tmp_path, day, (verdict, verdict) if verdict else ("",))
    assert alerts(tmp_path) == [("ceil", "r03", 3, False)]


def test_a_spec_turns_red_in_the_newest_run_alone(tmp_path: Path) -> None:
    for day, verdict in enumerate(["match", "mismatch"], 1):
        night(tmp_path, day, (verdict, "match"))
    assert alerts(tmp_path) == [("ceil", "r02", 1, True)]
    night(tmp_path, 3, ("mismatch", "match"))
    assert alerts(tmp_path) == [("ceil", "r02", 2, False)]
    night(tmp_path, 4, ("known", "match"))
    assert alerts(tmp_path) == []


def test_a_failure_on_a_device_that_no_earlier_run_had_did_not_turn_red(tmp_path: Path) -> None:
    rows = synthetic.records([("rounding", "ceil")], ["cpu"], ["edges"])
    other = [replace(row, device="gpu:0", verdict="mismatch", kind="value") for row in rows]
    for day, some in enumerate([rows, [*rows, *other]], 1):
        info = {"run": f"r{day}", "started": f"2031-05-{day:02}T03:02:01+00:00"}
        some = [replace(row, **info) for row in some]
        reports.write(tmp_path / f"n{day}", synthetic.write(tmp_path / f"n{day}", some, **info))
    table = history.failing(nights.read(tmp_path)).reset_index()
    assert table[["spec", "turned", "first"]].to_numpy().tolist() == [["ceil", False, True]]
    shown = timeline(nights.read(tmp_path))
    assert [spec.name for spec in shown.first] == ["ceil"] and not shown.turned and not shown.still


def test_the_page_and_the_terminal_alert_to_what_turned_red(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for day, verdict in enumerate(["match", "match"], 1):
        night(tmp_path, day, (verdict, "match"))
    options = ["--html", str(tmp_path / "h.html"), "--markdown", str(tmp_path / "h.md")]
    assert main(["history", str(tmp_path), *options]) == 0
    assert "turned red: no spec" in capsys.readouterr().out
    assert "No spec turned red in the newest run" in (tmp_path / "h.html").read_text()
    night(tmp_path, 3, ("mismatch", "match"))
    assert main(["history", str(tmp_path), *options]) == 0
    assert "turned red: ceil (in the newest run)" in capsys.readouterr().out
    assert "turned red: ceil" in (tmp_path / "h.md").read_text()
    page = (tmp_path / "h.html").read_text()
    assert "1 spec turned red in the newest run" in page and "fails since <b>05-03 03:02</b>" in page


def distances(folder: Path, values: Sequence[float], **info: Any) -> None:
    """Runs in which the output of `ceil` on cpu/xla has these distances, the oldest first."""
    for day, value in enumerate(values, 1):
        path = night(folder, day, **info)
        rows = reports.load(path)
        place = (rows["case"] == CEIL[0]) & (rows["mode"] == "xla") & (rows["quantity"] == "output[0]")
        rows["max_ulp"] = rows["max_ulp"].mask(place, value).mask(~place, 0.25)
        rows.to_parquet(path / "records.parquet", index=False)


@pytest.mark.parametrize(
    ("values", "drifts"),
    [
        ([1.0, 1.0, 1.0, 1.25], True),  # it never moved before, and moved now
        ([1.0, 1.0, 1.0, 1.0], False),
        ([1.0, 3.0, 2.0, 4.5], False),  # within its range, widened by the width of the range
        ([1.0, 3.0, 2.0, 5.5], True),
        ([5.0, 6.0, 7.0, 2.0], True),  # a distance may drift to the better
        ([1.0, 1.0, 3.0], False),  # two earlier runs tell too little
    ],
)
def test_drift_is_judged_against_the_noise_of_the_record(tmp_path: Path, values: list[float], drifts: bool) -> None:
    distances(tmp_path, values)
    table = noise.drifted(nights.read(tmp_path))
    assert table["case"].tolist() == [CEIL[0]] * drifts
    if drifts:
        assert (table["max_ulp"][0], table["runs"][0]) == (values[-1], len(values) - 1)


def test_runs_of_another_machine_are_no_noise(tmp_path: Path) -> None:
    distances(tmp_path, [1.0, 3.0, 2.0, 4.5])
    path = tmp_path / "night-4" / "run.json"
    info = json.loads(path.read_text())
    path.write_text(json.dumps(info | {"flags": {"TF_ENABLE_ONEDNN_OPTS": "0"}}))
    assert len(noise.noise(nights.read(tmp_path), nights.read(tmp_path).runs.iloc[0].to_dict())) == 0


def test_a_comparison_of_two_runs_takes_the_noise_of_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    distances(tmp_path, [1.0, 3.0, 2.0, 2.7])
    runs = [str(tmp_path / f"night-{day}") for day in (3, 4)]
    assert main(["diff", *runs]) == 0
    assert "1 drifted" in capsys.readouterr().out
    assert main(["diff", *runs, "--noise", str(tmp_path)]) == 0
    assert "0 drifted" in capsys.readouterr().out
