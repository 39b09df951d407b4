"""Tests of `harness.store`."""
