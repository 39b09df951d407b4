"""Tests of `harness.spec`."""
