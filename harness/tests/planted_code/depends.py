"""A spec whose program uses another module, which it imports through a function."""

from tf_opdiff.harness.tests.planted_specs.planted import ONE, floor


def _program(tf, x):
    from tf_opdiff.harness.tests.planted_code.values import RIGHT

    return tf.floor(x) * RIGHT


SPECS = (floor("depends", _program, recipes=ONE),)
