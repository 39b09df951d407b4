"""Claims page: the verdicts on claims, with programs and evidence, as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from tf_opdiff.harness.store.rundir import RunInfo
from tf_opdiff.reports.analysis.claim_verdicts import kept
from tf_opdiff.reports.analysis.claims import LOOKS, Chapter, chapters
from tf_opdiff.reports.pages.run_page import POLICY, environment, style
from tf_opdiff.reports.text.source_code import token_style


def counts(found: Sequence[Chapter]) -> dict[str, int]:
    """How many claims have each verdict."""
    each = [claim.verdict for chapter in found for claim in chapter.claims]
    return {verdict: each.count(verdict) for verdict in LOOKS}


def html(
    records: pd.DataFrame, info: RunInfo, claims: Sequence[Mapping[str, Any]], others: pd.DataFrame | None = None
) -> str:
    """The page of the claims; no script runs in it, and whatever is not ours is escaped."""
    found = chapters(records, info, claims, kept() if others is None else others)
    return (
        environment()
        .get_template("claims.html")
        .render(
            info=info,
            chapters=found,
            counts=counts(found),
            looks=LOOKS,
            style=style(),
            tokens=token_style(),
            policy=POLICY,
        )
    )
