"""Claims page: the verdicts on claims, with programs and evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from tf_opdiff.harness.store.run_info import RunInfo
from tf_opdiff.reports.analysis.claim_store import stored_verdicts
from tf_opdiff.reports.analysis.claims import Chapter, chapters
from tf_opdiff.reports.pages.template import render
from tf_opdiff.reports.text.source_code import token_style
from tf_opdiff.reports.text.verdicts import CLAIM_VERDICTS


def counts(chapters: Sequence[Chapter]) -> dict[str, int]:
    """How many claims have each verdict."""
    each = [claim.verdict for chapter in chapters for claim in chapter.claims]
    return {verdict: each.count(verdict) for verdict in CLAIM_VERDICTS}


def html(
    records: pd.DataFrame, info: RunInfo, claims: Sequence[Mapping[str, Any]], others: pd.DataFrame | None = None
) -> str:
    """The page of the claims. It has no script, and all text from outside is escaped.

    Args:
      records: those of the run.
      info: its run.json.
      claims: its claims.json, as `reports.data.load.load_claims` gives it.
      others: verdicts of other runs; by default those of `reports.analysis.claim_store`.
    """
    all_chapters = chapters(records, info, claims, stored_verdicts() if others is None else others)
    return render(
        "claims.html",
        info=info,
        chapters=all_chapters,
        counts=counts(all_chapters),
        claim_verdicts=CLAIM_VERDICTS,
        tokens=token_style(),
    )
