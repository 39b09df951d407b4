"""Declarations: specs, input recipes, plans, device variants, and the catalog of all specs."""
