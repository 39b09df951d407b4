"""Tiers: how much of the suites a run takes; each has the items of the tiers before it too."""

from __future__ import annotations

TIERS = ("smoke", "default", "full")
