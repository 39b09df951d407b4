"""Links between the documents of the repository lead to files and headings that exist."""

import re
import subprocess
from functools import cache

import pytest

from tf_opdiff.harness.paths import ROOT

LINK = re.compile(r"\[(?:[^\][]|\[[^\]]*\])*\]\(([^)\s]+)\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
FENCE = re.compile(r"^(`{3,}|:{3,}).*?^\1$", re.MULTILINE | re.DOTALL)


def documents():
    """Every Markdown file that is not ignored by git."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return sorted(path for path in map(ROOT.joinpath, names) if path.exists())


@cache
def anchors(path):
    """The anchors that GitHub gives to the headings of a document."""
    headings = re.findall(r"^#+ +(.*)$", FENCE.sub("", path.read_text()), re.MULTILINE)
    words = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-") for text in words}


def broken(path):
    """The links of a document that lead nowhere."""
    for match in LINK.finditer(FENCE.sub("", path.read_text())):
        link = match[1] or match[2]
        file, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = (path.parent / file).resolve() if file else path
        if not target.exists() or (anchor and (target.suffix != ".md" or anchor not in anchors(target))):
            yield link


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(path):
    assert list(broken(path)) == []


def test_a_broken_link_is_seen(tmp_path):
    (tmp_path / "other.md").write_text("# A heading: with `code`\n")
    page = tmp_path / "page.md"
    links = ["other.md", "other.md#a-heading-with-code", "#here", "https://example.org/x"]
    wrong = ["absent.md", "other.md#absent", "#absent"]
    page.write_text("# Here\n" + "\n".join(f"[to]({link})" for link in [*links, *wrong]) + "\n\n[x]: gone.md\n")
    assert list(broken(page)) == [*wrong, "gone.md"]
