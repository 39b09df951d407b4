"""Tests of `harness.repro`."""
