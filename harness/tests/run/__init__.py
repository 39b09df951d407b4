"""Tests of `harness.run`."""
