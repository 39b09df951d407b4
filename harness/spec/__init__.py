"""Declarations: specs, input recipes, plans, device variants, and the catalog of all specs."""

#: The modules that other rooms may import.
__all__ = (
    "catalog",
    "claim",
    "contract",
    "kinds",
    "modes",
    "plan",
    "public_api",
    "quantity",
    "similar",
    "spec",
)
