"""What Jinja compiled is loaded by the next environment, unless the template, the code or the file changed."""

import pytest
from jinja2 import DictLoader, Environment

from tf_opdiff.reports.pages import compiled_templates
from tf_opdiff.reports.pages.compiled_templates import CompiledTemplates


@pytest.fixture
def render(monkeypatch, tmp_path):
    """render(text) → what a template renders in a new environment, and how many templates were compiled for it."""
    monkeypatch.setenv("TF_OPDIFF_CACHE", str(tmp_path))

    def run(text):
        compiled = []

        class Counting(Environment):
            def compile(self, source, *arguments, **options):
                compiled.append(source)
                return super().compile(source, *arguments, **options)

        environment = Counting(loader=DictLoader({"page": text}), bytecode_cache=CompiledTemplates())
        return environment.get_template("page").render(n=3), len(compiled)

    return run


def test_a_template_is_compiled_once(render):
    assert [render("{{ n }} ops"), render("{{ n }} ops")] == [("3 ops", 1), ("3 ops", 0)]


def test_another_text_is_compiled_anew(render):
    assert [render("{{ n }} ops"), render("{{ n }} specs")] == [("3 ops", 1), ("3 specs", 1)]


def test_other_code_of_the_reports_compiles_anew(render, monkeypatch):
    render("{{ n }}")
    monkeypatch.setattr(compiled_templates, "_code", lambda: "other")
    assert render("{{ n }}") == ("3", 1)


def test_a_damaged_file_is_compiled_anew(render, tmp_path):
    render("{{ n }}")
    (file,) = (tmp_path / "templates").iterdir()
    file.write_bytes(file.read_bytes()[:-3])
    assert [render("{{ n }}"), render("{{ n }}")] == [("3", 1), ("3", 0)]


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(render, tmp_path):
    (tmp_path / "templates").write_text("")
    assert [render("{{ n }}"), render("{{ n }}")] == [("3", 1), ("3", 1)]
