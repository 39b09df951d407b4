"""Tests of `tf_opdiff.checking`."""
