"""The page of a program has the answers, the errors down the program, and no script."""

import re

import pytest

from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.model.answers.answer import Answer, ResultDifference
from tf_opdiff.model.answers.op_report import OpReport
from tf_opdiff.model.answers.page import write_page
from tf_opdiff.model.recordings.recorded import Place, RecordedOp, Recording


@pytest.fixture
def page(tmp_path):
    """page(REPORT, …, kind=…) → the text of a page about a program with these reports of ops."""

    def page(*reports, **fields):
        place = Place("<b>layer</b>", "/tmp/model.py", 3)
        ops = tuple(
            RecordedOp(number=n, type="Neg", attrs=(), inputs=(), outputs=(), place=place) for n in range(len(reports))
        )
        answer = Answer(plan="cpu/xla", reports=reports, **fields)
        recording = Recording(ops, (), tmp_path, frozenset(), 1.0, 1.0)
        write_page(tmp_path / "page.html", "norms:step", [answer], {0: recording})
        return (tmp_path / "page.html").read_text()

    return page


def report(number, local, total, kind=""):
    return OpReport(number=number, comparisons=(Comparison(kind=kind),), local=local, total=total)


def test_each_op_has_a_bar_as_high_as_the_logarithm_of_its_error(page):
    text = page(report(0, 0.0, 0.0), report(1, 1e-6, 1e-3, "value"), kind="alone", ops=(1,))
    own, total = re.findall(r'<path class="o" d="([^"]+)"', text)
    assert own == "M0 48h1v-16h1V48z", "no bar for the first op; a third of the height for 1e-6"
    assert total == "M0 48h1v-32h1V48z"
    assert '<path class="b"' not in text, "both bars are of the op beyond its budget"


def test_one_op_of_thousands_has_a_bar_of_a_pixel(page):
    reports = [report(n, 1e-6, 1e-6, "value") if n == 4000 else report(n, 0.0, 0.0) for n in range(5000)]
    own, _ = re.findall(r'<path class="o" d="([^"]+)"', page(*reports, kind="alone", ops=(4000,)))
    assert own == "M0 48h571v-16h1v16h148V48z"


def test_the_table_has_the_ops_with_errors_and_those_that_were_not_replayed(page):
    text = page(
        report(0, 0.0, 0.0), report(1, 1e-7, 1e-7), OpReport(number=2, skipped="it runs Python"), kind="rounding"
    )
    rows = re.findall(r'<tr><th scope="row">(.*?)</th><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td>', text)
    name = "Neg (layer &lt;b&gt;layer&lt;/b&gt;, model.py:3)"
    assert rows == [(f"op 2 of 3, {name}", "1e-07", "1e-07", ""), (f"op 3 of 3, {name}", "", "", "it runs Python")]


def test_a_result_of_several_steps_has_a_curve(page):
    result = ResultDifference("loss", Comparison(), (0.0, 1e-9, 1.0))
    text = page(report(0, 0.0, 0.0), kind="rounding", results=(result,))
    (points,) = re.findall(r'<polyline points="([^"]+)"', text)
    assert points == "150,56 510,55 870,8"
    assert "after each step: 0, 1e-09, 1" in text


def test_the_option_writes_a_page_without_scripts(masked_root):
    text = masked_root.page
    assert "cpu/xla against cpu/eager: An op differs alone." in text
    assert "SqrtGrad, in the gradient of Sqrt (planted_programs.py:" in text
    assert "<script" not in text
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in text.replace("&#39;", "'")
