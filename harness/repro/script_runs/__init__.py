"""Script runs: scripts of discrepancies, run, and what they showed."""

#: The modules that other rooms may import.
__all__ = (
    "outcome",
    "run_scripts",
)
