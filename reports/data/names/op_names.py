"""Op names: the pages of ops that a run has, the specs on each, and the names of their files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

import pandas as pd

from tf_opdiff.harness.store.records.record import CLAIM

#: The folder of the pages within the run's folder.
FOLDER = "ops"
#: The file that lists the pages.
LIST = "index.html"
_SUITE = "suite-"
#: The most ops of a spec that can be about one of them.
_FEW = 3
#: Names of files that every system takes as they are: ASCII only, no dot, and not too long.
_SAFE = re.compile(r"(?!suite-)[A-Za-z0-9][A-Za-z0-9_-]{0,79}", re.ASCII)
#: Names that Windows reserves, and that of the list.
_RESERVED = re.compile(r"index|con|prn|aux|nul|com\d|lpt\d", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class OpName:
    """One page: that of an op, or that of the specs of a suite whose executed graphs have no covered op.

    Attributes:
      name: the OpDef, or the suite.
      is_op: whether it is an op's page.
      own: the specs about this op alone; without such specs, those with the fewest other ops, at most two.
      shared: the specs in which the op runs together with others, and the programs of claims.
      file: the name of the file in `FOLDER`.
    """

    name: str
    is_op: bool
    own: tuple[str, ...]
    shared: tuple[str, ...]
    file: str

    @property
    def link(self) -> str:
        """The address of the page, relative to the folder of the run; safe in an attribute of HTML."""
        return f"{FOLDER}/{quote(self.file)}"


@dataclass(frozen=True)
class OpNames:
    """The pages of a run, by OpDef and by suite."""

    ops: Mapping[str, OpName] = field(default_factory=dict)
    suites: Mapping[str, OpName] = field(default_factory=dict)

    @property
    def pages(self) -> list[OpName]:
        """All pages: those of ops by name, then those of suites."""
        return [*self.ops.values(), *self.suites.values()]

    def link(self, raw_op: str) -> str:
        """The address of an op's page, relative to the folder of the run; empty if the op has no page."""
        return self.ops[raw_op].link if raw_op in self.ops else ""

    def by_spec(self) -> dict[str, str]:
        """For each spec the address of the page that is most about it: one on which it stands by itself."""
        links: dict[str, str] = {}
        for page in self.pages:
            links |= {spec: page.link for spec in page.own if spec not in links}
        for page in self.pages:
            links |= {spec: page.link for spec in page.shared if spec not in links}
        return links


def op_names(records: pd.DataFrame) -> OpNames:
    """The pages of a run. A spec stands on the page of each op that a record of it names in `raw_op`.

    Args:
      records: those of a run, as `reports.load` gives them.
    """
    texts = records[["suite", "spec", "raw_op"]].drop_duplicates().astype("str")
    ops_of: dict[str, set[str]] = {}
    suite_of: dict[str, str] = {}
    for suite, spec, raw_op in texts.itertuples(index=False):
        ops_of.setdefault(spec, set()).update(filter(None, raw_op.split(";")))
        suite_of.setdefault(spec, suite)
    about_claims = records["against"].astype(str).str.startswith(CLAIM)
    claimed = set(records.loc[about_claims, "spec"].astype(str))
    specs_of: dict[str, list[str]] = {}
    for spec in sorted(ops_of):
        for op in ops_of[spec]:
            specs_of.setdefault(op, []).append(spec)
    without: dict[str, list[str]] = {}
    for spec in sorted(spec for spec, ops in ops_of.items() if not ops):
        without.setdefault(suite_of[spec], []).append(spec)
    files = _files(specs_of, without)
    ops = {}
    for op, specs in sorted(specs_of.items()):
        fewest = min((len(ops_of[spec]) for spec in specs if spec not in claimed), default=0)
        own = [spec for spec in specs if spec not in claimed and len(ops_of[spec]) == fewest <= _FEW]
        shared = [spec for spec in specs if spec not in own]
        ops[op] = OpName(name=op, is_op=True, own=tuple(own), shared=tuple(shared), file=files["", op])
    suites = {
        suite: OpName(name=suite, is_op=False, own=tuple(specs), shared=(), file=files[_SUITE, suite])
        for suite, specs in sorted(without.items())
    }
    return OpNames(ops, suites)


def _files(ops: Mapping[str, object], suites: Mapping[str, object]) -> dict[tuple[str, str], str]:
    """The file of each op and suite. Files differ even where a system takes upper and lower case for the same."""
    names = [*(("", op) for op in ops), *((_SUITE, suite) for suite in suites)]
    plain = [prefix + name for prefix, name in names]
    folded = [text.lower() for text in plain]
    files = {}
    for (prefix, name), text, key in zip(names, plain, folded, strict=True):
        safe = _SAFE.fullmatch(name) and not _RESERVED.fullmatch(name) and folded.count(key) == 1
        files[prefix, name] = f"{text if safe else prefix + _hashed(name)}.html"
    return files


def _hashed(name: str) -> str:
    """A safe name: the letters and digits of a name, and a hash of it."""
    words = "-".join(re.findall("[A-Za-z0-9]+", name))[:40].strip("-")
    return f"{words or 'op'}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
