"""Op page: a page for each op of a run: budgets, worst distances, errors by input, contracts and findings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pandas as pd
from markupsafe import Markup

from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.verdicts.severity import SEVERITIES
from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.analysis.claim_tables.claims import ShownClaim
from tf_opdiff.reports.analysis.ops import op_sentence
from tf_opdiff.reports.analysis.ops.error_pictures import ErrorTables
from tf_opdiff.reports.analysis.ops.op_cells import OpCell, OpRow
from tf_opdiff.reports.analysis.ops.op_versions import OpVersions
from tf_opdiff.reports.analysis.ops.op_view import OpView, OpViews, RecordGroup, SharedSpec, dtype_order
from tf_opdiff.reports.data.causes.discrepancy import Discrepancy
from tf_opdiff.reports.data.names.op_names import FOLDER, LIST, OpNames
from tf_opdiff.reports.data.run_data import files
from tf_opdiff.reports.data.run_data.load import Kernels
from tf_opdiff.reports.pages import embed
from tf_opdiff.reports.pages.menu import Menu
from tf_opdiff.reports.pages.op_pages import op_list
from tf_opdiff.reports.pages.op_pages.op_pictures import by_dtype
from tf_opdiff.reports.pages.scripts import enclosed, hash_of, script
from tf_opdiff.reports.pages.template import HERE, compiled, foundation, own_style
from tf_opdiff.reports.text.program_address import program_address
from tf_opdiff.reports.text.sentences import sentence
from tf_opdiff.reports.text.verdicts import CLAIM_WORD_OF, CLAIM_WORDS, VERDICTS

#: The columns that a finding and its program share.
_PROGRAM = ("spec", "verdict", "kind", "reason")
_DOCUMENTATION = "https://www.tensorflow.org/api_docs/python/tf/raw_ops"
#: The words of a reason that a search for its records takes.
_WORDS = 12
#: The types of devices in TensorFlow's registry of kernels, in the order of the page.
_DEVICE_TYPES = {
    "CPU": "CPU",
    "GPU": "GPU",
    "DEFAULT": "any device",
    "XLA_CPU_JIT": "XLA's compiler for CPUs",
    "XLA_GPU_JIT": "XLA's compiler for GPUs",
}
#: The style sheet of the pages, in their folder; the policy that admits it and one script.
STYLE_SHEET = "op.css"
_POLICY = "default-src 'none'; style-src 'unsafe-inline' 'self' file:; script-src {}"
_SCRIPTS = ("unpack.js", "op/op.js")
_OPDEF = re.compile(r"[A-Z][A-Za-z0-9]{0,79}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class OpSources:
    """All that the pages of ops are made of.

    Attributes:
      records: those of the run.
      info: its run.json.
      names: the pages, as `reports.data.names.op_names.op_names` gives them.
      causes: the causes by which the run was judged, by their ids; empty for an older run.
      claims: its claims, as the page of claims shows them.
      repros: the programs of findings.
      errors: the error profiles; None or empty for a run that did not record errors by input.
      kernels: those that its TensorFlow registers, as `reports.data.run_data.load.load_kernels` gives them.
      stored: verdicts of other runs, as `reports.analysis.ops.op_store.stored_ops` gives them.
      ranked: its discrepancies.
      extra: the further pages of the run, for the menu; see `reports.pages.menu.Menu`.
    """

    records: pd.DataFrame
    info: RunInfo
    names: OpNames
    causes: Mapping[str, Cause] = field(default_factory=dict)
    claims: Sequence[ShownClaim] = ()
    repros: Sequence[Mapping[str, Any]] = ()
    errors: ErrorTables | None = None
    kernels: Kernels = field(default_factory=dict)
    stored: pd.DataFrame | None = None
    ranked: Sequence[Discrepancy] = ()
    extra: Sequence[tuple[str, str]] = ()


def write(run_dir: Path, sources: OpSources) -> None:
    """Writes the pages into the folder `ops` of a run, and removes pages of an earlier write that are no longer made.

    Raises:
      ValueError: the folder is a link, or a file is in its place.
      OSError: a file can't be written.
    """
    folder = untrusted.inside(run_dir, FOLDER)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder}: expected a folder, got a file")
    folder.mkdir(exist_ok=True)
    texts = pages(sources)
    for path in folder.glob("*.html"):
        if path.name not in texts and (path.is_symlink() or path.is_file()):
            path.unlink()
    for name, text in texts.items():
        files.replace_text(folder / name, text)


def pages(sources: OpSources) -> dict[str, str]:
    """The HTML of each page by the name of its file; `index.html`, the list of them; and the style sheet of all.

    The tables and pictures of a page are compressed, as they are nine tenths of it; a script unpacks them.
    """
    views = OpViews(sources.records, sources.causes)
    own = enclosed(_short(HERE / "templates" / name) for name in _SCRIPTS)
    programs = {tuple(r.get(name, "") for name in _PROGRAM): _shown_program(r) for r in sources.repros}
    shared = {
        "info": sources.info,
        "style_sheet": STYLE_SHEET,
        "own": own,
        "policy": _POLICY.format(hash_of(own)),
        "verdicts": VERDICTS,
        "claim_words": CLAIM_WORDS,
        "word_of": CLAIM_WORD_OF,
        "severities": SEVERITIES,
        "claims": {claim.id: claim for claim in sources.claims},
        "has_errors": bool(sources.errors),
        "has_kernels": bool(sources.kernels),
        "words": op_sentence,
        "records_link": records_link,
        "shown": shown,
        "example": sentence.values,
        "program": lambda group: _program(group, programs),
        "group_link": _group_link,
        "contract_link": _contract_link,
        "filters": _filters,
        "anchor": anchor,
    }
    page, packed = compiled("op.html"), compiled("op/packed.html")
    versions = None if sources.stored is None else OpVersions(sources.records, sources.info, sources.stored)
    pages, all_views = {}, []
    for name in sources.names.pages:
        view = views.view(name)
        all_views.append(view)
        pictures = by_dtype(sources.errors.pictures(name.own) if sources.errors else [])
        about: dict[str, Any] = {"title": _title(view), "documentation": _documentation(view), "pictures": pictures}
        about["kernels"] = _kernels(sources.kernels.get(name.name, {})) if name.is_op else {}
        about["versions"] = versions.table(name.own) if versions else None
        data = Markup(embed.packed(packed.render(view=view, **about, **shared)))
        menu = Menu(f"{FOLDER}/{name.file}", sources.extra)
        pages[name.file] = page.render(view=view, data=data, menu=menu, **about, **shared)
    pages[LIST] = op_list.html(all_views, sources.ranked, sources.extra, **shared)
    pages[STYLE_SHEET] = foundation() + own_style("op/op.css") + own_style("op/strip.css")
    return pages


def _short(path: Path) -> Markup:
    """A script without comments and indentation, as each of the many pages has it."""
    lines = (line.strip() for line in script(path).splitlines())
    return Markup("\n").join(line for line in lines if line and not line.startswith("//"))


def _kernels(kinds: Mapping[str, Sequence[Mapping[str, Sequence[str]]]]) -> dict[str, list[dict[str, list[str]]]]:
    """The kernels of an op by device type in words, the types that readers know first; dtypes in their order."""
    order = {kind: i for i, kind in enumerate(_DEVICE_TYPES)}
    return {
        _DEVICE_TYPES.get(kind, kind): [
            {name: sorted(types, key=dtype_order) for name, types in row.items()} for row in kinds[kind]
        ]
        for kind in sorted(kinds, key=lambda kind: (order.get(kind, len(order)), kind))
    }


def _title(view: OpView) -> str:
    return view.page.name if view.page.is_op else f"{view.page.name}: specs without a covered op"


def _documentation(view: OpView) -> str:
    """The address of TensorFlow's documentation of an op; empty for what can't be the name of an op."""
    name = view.page.name
    return f"{_DOCUMENTATION}/{name}" if view.page.is_op and _OPDEF.fullmatch(name) else ""


def anchor(text: str) -> str:
    """A text as an id of an element and as a fragment: `dtype=float32`; without spaces, whatever the text holds."""
    return quote(text, safe="=")


def records_link(**filters: str) -> str:
    """The address of the records that some filters of the run's page select."""
    return "../index.html#" + urlencode(filters, safe="[]/")


def shown(cell: OpCell) -> str:
    """A cell in short: the symbol of its worst verdict, and the count if a reader has to look at the records."""
    verdict = VERDICTS[cell.verdict]
    return f"{verdict.symbol} {cell.count:,}" if cell.prominent else verdict.symbol


def _shown_program(repro: Mapping[str, Any]) -> tuple[str, str, str]:
    """The outcome of a program, its path in the run, and the address that shows it."""
    words, path = sentence.of_repro(repro)
    return words, path, program_address(repro, path)


def _program(group: RecordGroup, programs: Mapping[tuple[Any, ...], tuple[str, str, str]]) -> tuple[str, str, str]:
    """The outcome of the program of a discrepancy, its path and its address; empty if there is none."""
    first = group.first
    reason = first["reason"] if first["verdict"] in ("known", "stale") else ""
    return programs.get((first["spec"], first["verdict"], first["kind"], reason), ("", "", ""))


def _group_link(group: RecordGroup) -> str:
    """The address of the records of a discrepancy."""
    first = group.first
    if first["cause"]:
        return records_link(verdict=first["verdict"], q=first["cause"])
    return records_link(verdict=first["verdict"], spec=first["spec"], kind=first["kind"])


def _contract_link(group: RecordGroup) -> str:
    """The address of the records of a contract."""
    filters = {"verdict": "contract", "q": " ".join(group.first["reason"].split()[:_WORDS])}
    return records_link(**filters, **({"spec": group.specs[0]} if len(group.specs) == 1 else {}))


def _filters(row: OpRow | SharedSpec, plan: str) -> dict[str, str]:
    """The filters of the run's page that select the records of a cell."""
    name = PlanName.parse(plan) or PlanName("", plan)
    filters = {"spec": row.spec, "device": name.device, "mode": name.mode}
    if isinstance(row, OpRow):
        filters["q"] = " ".join(filter(None, [f"{row.spec}-{row.dtype}", row.attrs, row.quantity]))
    return filters
