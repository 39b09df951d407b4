"""Tests of `harness.system`."""
