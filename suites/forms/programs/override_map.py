"""Programs under `gradient_override_map`."""

from tf_opdiff.suites.reference.registered import registered


def overriding(tf, types):
    """The context of a map from op types to names or to gradient functions, which it registers."""
    names = {op: g if isinstance(g, str) else registered(tf, f"TfOpdiff{g.__name__}", g) for op, g in types.items()}
    return tf.compat.v1.get_default_graph().gradient_override_map(names)


def called(program, **options):
    """The program as a `tf.function` of its own, so that the graph of the function is what gets differentiated."""
    return lambda tf, *inputs: tf.function(lambda *xs: program(tf, *xs), autograph=False, **options)(*inputs)
