"""Tests of `harness.judge`."""
