"""Tests of `harness.device`."""
