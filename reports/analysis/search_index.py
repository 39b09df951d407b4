"""Search index: the ops, functions, specs, discrepancies and claims of a run, with the address of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from tf_opdiff.harness.judge.known_failures.cause import named
from tf_opdiff.reports.analysis.claim_tables.claims import Chapter
from tf_opdiff.reports.data.causes.discrepancy import Discrepancy
from tf_opdiff.reports.data.names.op_names import OpName, OpNames


@dataclass(frozen=True)
class Entry:
    """One thing that a search can find.

    Attributes:
      kind: `op`, `function`, `discrepancy`, `spec`, `suite` or `claim`.
      name: the name by which it is ranked; the title of a discrepancy, the words of a claim.
      link: its address, relative to the folder of the run.
      about: a few words that the page shows.
      words: more words that find it.
    """

    kind: str
    name: str
    link: str
    about: str = ""
    words: str = ""


def entries(names: OpNames, ranked: Sequence[Discrepancy], topics: Sequence[Chapter]) -> list[Entry]:
    """The entries of a run.

    Args:
      names: the pages of its ops.
      ranked: its discrepancies.
      topics: the topics of the claims that it tested.
    """
    ids: dict[str, set[str]] = {}
    for one in ranked:
        for spec in one.specs:
            ids.setdefault(spec, set()).add(one.id)
    ops = [Entry("op", name, page.link, _about(page, ids)) for name, page in names.ops.items()]
    suites = [Entry("suite", name, page.link, _about(page, ids)) for name, page in names.suites.items()]
    return [*ops, *_functions(ranked), *map(_discrepancy, ranked), *suites, *_specs(names), *_claims(topics)]


def _about(page: OpName, ids: Mapping[str, set[str]]) -> str:
    """How many discrepancies the specs on a page show: its own specs, and only those in which the op runs with others.

    `ids` are the discrepancies of each spec.
    """
    own, shared = (set().union(*(ids.get(spec, ()) for spec in specs)) for specs in (page.own, page.shared))
    others = len(shared - own)
    return ", ".join(filter(None, [counted(len(own)), f"{others:,} in programs with it" if others else ""]))


def counted(count: int) -> str:
    """`3 discrepancies`; empty for none."""
    return f"{count:,} {'discrepancy' if count == 1 else 'discrepancies'}" if count else ""


def anchor(one: Discrepancy) -> str:
    """The id of the element of a discrepancy on the page of all of them; it holds no space."""
    return f"is-{quote(one.id, safe='')}"


def _functions(ranked: Sequence[Discrepancy]) -> list[Entry]:
    counts = Counter(name for one in ranked if (name := one.function or named(one.title)))
    links = {name: f"discrepancies.html#q={quote(name, safe='')}" for name in counts}
    return [Entry("function", name, links[name], counted(n)) for name, n in sorted(counts.items())]


def _discrepancy(one: Discrepancy) -> Entry:
    words = " ".join((one.id, *one.ops, *one.specs, one.reason))
    about = f"{one.severity_title}{', ' * bool(one.owner)}{one.owner}"
    return Entry("discrepancy", one.title.replace("`", ""), f"discrepancies.html#{quote(anchor(one))}", about, words)


def _specs(names: OpNames) -> list[Entry]:
    links: Mapping[str, str] = names.by_spec()
    page_of = {page.link: page.name for page in names.pages}
    return [Entry("spec", spec, link, f"on the page of {page_of[link]}") for spec, link in sorted(links.items())]


def _claims(topics: Iterable[Chapter]) -> list[Entry]:
    return [
        Entry("claim", claim.says, f"claims.html#{quote(claim.anchor)}", claim.word, f"{claim.id} {title}")
        for title, claims in ((topic.topic["title"], topic.claims) for topic in topics)
        for claim in claims
    ]
