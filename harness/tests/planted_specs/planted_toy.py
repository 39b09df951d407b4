"""Planted specs for the device TOY: one case each, so that its kernels meet few of them. See tests/toy/toy.cc."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.spec import Raises, Spec
from tf_opdiff.suites.reference.elementwise.sign import real_sign

WIDE = ("float32", "float64")


def _alone(tf, x):
    """Floor, if there is no device besides CPUs and the one that is in use, neither here nor in a session."""
    from tf_opdiff.harness.device.programs.evidence import short_device
    from tf_opdiff.harness.device.programs.graph_mode import session_config

    with tf.compat.v1.Session(graph=tf.Graph(), config=session_config()) as session:
        there = [*tf.config.list_logical_devices(), *session.list_devices()]
    floor = tf.raw_ops.Floor(x=x)
    used = {"CPU:0", short_device(floor.device)}
    return floor if {short_device(device.name) for device in there} <= used else tf.raw_ops.Ceil(x=x)


def _of_another_dtype(tf, x):
    """Floor, after one of a dtype for which TOY has no kernel."""
    with tf.control_dependencies([tf.raw_ops.Floor(x=tf.constant([0.5], "float16"))]):
        return tf.raw_ops.Floor(x=x)


def _spec(name, op, reference, vjp=lambda g, x: None, **more):
    def program(tf, x):
        return getattr(tf.raw_ops, op)(x=x)

    settings = {"recipes": {"plain": plain}, "dtypes": WIDE} | more
    return Spec(name=name, ops=op, program=program, reference=reference, vjp=vjp, **settings)


SPECS = (
    Spec(
        name="alone",
        ops="Floor",
        program=_alone,
        reference=np.floor,
        recipes={"plain": plain},
        dtypes=("float64",),
        modes=("eager",),
    ),
    Spec(
        name="called",
        ops="Cos",
        program=lambda tf, x: tf.function(lambda x: tf.raw_ops.Cos(x=x))(x),
        reference=np.cos,
        recipes={"plain": plain},
        modes=("graph",),
        ulp={"output": 4},
    ),
    _spec("ceil", "Ceil", np.ceil),
    _spec("cos", "Cos", np.cos, vjp=None, ulp={"output": 4}),
    _spec("floor", "Floor", np.floor, dtypes=("float16", *WIDE)),
    Spec(
        name="of-another-dtype",
        ops="Floor",
        program=_of_another_dtype,
        reference=np.floor,
        recipes={"plain": plain},
        modes=("eager", "function", "graph"),
    ),
    Spec(
        name="out-of-range",
        ops="GatherV2",
        program=lambda tf, x: tf.gather(x, 1000),
        reference=lambda x: Raises("INVALID_ARGUMENT", "is not in"),
        recipes={"plain": plain},
        modes=("eager", "function", "graph"),
    ),
    _spec("rint", "Rint", np.rint),
    _spec("round", "Round", np.round, dtypes=("float32",)),
    _spec("sign", "Sign", real_sign, vjp=lambda g, x: np.zeros_like(x)),
)
