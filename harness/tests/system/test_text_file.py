"""A file of the user that is not UTF-8, TOML or JSON is wrong usage; the line names the file."""

import pytest

from tf_opdiff.command_line import main
from tf_opdiff.harness.system.text_file import read_json, read_text, read_toml
from tf_opdiff.reports.ci import github_issues
from tf_opdiff.reports.data.figures import searched

LATIN = "caf\u00e9 =".encode("latin-1")


@pytest.mark.parametrize(
    ("read", "data", "says"),
    [
        (read_text, LATIN, "expected text in UTF-8 ("),
        (read_toml, LATIN, "expected text in UTF-8 ("),
        (read_toml, b"a = ", "expected TOML ("),
        (read_toml, b"a = " + b"[" * 10_000, "expected TOML ("),
        (read_json, LATIN, "expected text in UTF-8 ("),
        (read_json, b"{", "expected JSON ("),
        (read_json, b"[" * 100_000, "expected JSON ("),
    ],
)
def test_a_malformed_file_is_named(read, data, says, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"^[^\n]*$") as error:
        read(path)
    assert str(error.value).startswith(f"{path}: {says}")


@pytest.mark.parametrize("data", [LATIN, b"{ ["], ids=["not UTF-8", "malformed"])
@pytest.mark.parametrize(
    ("name", "read"), [("issues.json", github_issues.existing), ("cpu@1.csv", lambda path: searched.load(path.parent))]
)
def test_a_table_and_a_list_of_issues_are_named(name, read, data, tmp_path):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"^[^\n]*$") as error:
        read(path)
    assert str(error.value).startswith(f"{path}: ")


@pytest.mark.parametrize("data", [LATIN, b"{ ["], ids=["not UTF-8", "malformed"])
@pytest.mark.parametrize(
    "words",
    [
        ["suggest", "RUN", "--known", "FILE.toml"],
        ["sweep", "floor", "--known", "FILE.toml"],
        ["table", "by_op", "RUN"],
        ["diff", "RUN", "RUN"],
        ["claims", "RUN"],
        ["switches", "RUN"],
        ["history", "FOLDER"],
        ["merge", "RUN", "RUN"],
        ["record", "RUN"],
        ["coverage", "--run", "RUN"],
    ],
    ids=lambda words: words[0],
)
def test_a_verb_names_the_file_that_it_cannot_read(words, data, tmp_path, capsys):
    run = tmp_path / "run"
    (run / "shards").mkdir(parents=True)
    for name in ("FILE.toml", "FILE.json", "cpu@1.csv", "run/run.json", "run/records.parquet", "history.parquet"):
        (tmp_path / name).write_bytes(data)
    places = {"RUN": run, "FOLDER": tmp_path, "FILE.toml": tmp_path / "FILE.toml", "FILE.json": tmp_path / "FILE.json"}
    assert main([str(places.get(word, word)) for word in words]) == 4
    error = capsys.readouterr().err
    named = [path.name for path in tmp_path.rglob("*") if path.is_file() and path.name in error]
    assert named and error.count("\n") == 1, error
