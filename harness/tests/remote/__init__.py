"""Tests of remote devices."""
