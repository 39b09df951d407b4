"""Verdicts: comparisons read in the light of contracts, claims and known failures."""

#: The modules that other rooms may import.
__all__ = (
    "blame",
    "claim",
    "classify",
    "judgement",
    "severity",
    "trial",
    "verdict",
)
