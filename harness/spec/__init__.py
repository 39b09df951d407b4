"""Declarations: specs, recipes of inputs, plans, variants of devices, and the catalog of all specs."""
