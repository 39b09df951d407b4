"""Cases: runs cases under plans, judges their observations, and gives the records."""

#: The modules that other rooms may import.
__all__ = (
    "case_runner",
    "planned_cells",
    "running_case",
)
