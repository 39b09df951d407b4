"""A spec that imports nothing of its suites."""

from tf_opdiff.harness.tests.planted_specs.planted import ONE, floor

SPECS = (floor("independent", lambda tf, x: tf.floor(x), recipes=ONE),)
