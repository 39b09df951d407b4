"""StackV2, StackPushV2, StackPopV2 and StackCloseV2: what was pushed last is popped first."""

from typing import Any

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.suites.forms.errors import IN_KERNEL, REFUSED_VALUES
from tf_opdiff.suites.forms.of_xla import NIBBLES, SMALL_FLOATS, nibble_of_xla
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes.pairs import shaped

_ALL = (*(dtype for dtype in FLOATS if dtype != "float32"), *COMPLEX, *INTEGERS, "bool", *SMALL_FLOATS)


def _stack(tf: Any, x: Any, size: int = 4) -> Any:
    return tf.raw_ops.StackV2(max_size=tf.constant(size), elem_type=x.dtype, stack_name="stack")


def _pushed(tf: Any, stack: Any, xs: Any, **attrs: Any) -> list[Any]:
    """The tensors, pushed one after the other."""
    done: list[Any] = []
    for x in xs:
        with tf.control_dependencies(done):
            done.append(tf.raw_ops.StackPushV2(handle=stack, elem=x, **attrs))
    return done


def _turned(tf: Any, x: Any, y: Any, *, swap: bool = False) -> Any:
    """Both tensors and the first one again, in turn: two are popped before the last one is pushed."""
    stack = _stack(tf, x)
    waits, popped = _pushed(tf, stack, (x, y), swap_memory=swap), []
    for more in ((), (x,), ()):
        with tf.control_dependencies(waits):
            waits = _pushed(tf, stack, more, swap_memory=swap) or waits
        with tf.control_dependencies(waits):
            popped.append(tf.raw_ops.StackPopV2(handle=stack, elem_type=x.dtype))
            waits = [popped[-1]]
    with tf.control_dependencies(waits):
        closed = tf.raw_ops.StackCloseV2(handle=stack)
    with tf.control_dependencies([] if closed is None else [closed]):
        return tuple(map(tf.identity, popped))


def _empty(tf: Any, x: Any) -> Any:
    return tf.raw_ops.StackPopV2(handle=_stack(tf, x), elem_type=x.dtype)


def _full(tf: Any, x: Any) -> Any:
    stack = _stack(tf, x, 1)
    with tf.control_dependencies(_pushed(tf, stack, (x, x))):
        return tf.raw_ops.StackPopV2(handle=stack, elem_type=x.dtype)  # TensorFlow removes pushes that nobody pops


_RECIPES = {
    "pair": shaped((3, 5), (3, 5)),
    "scalars": shaped((), ()),
    "empty": shaped((0, 3), (0, 3)),
    "one": shaped((1,), (1,)),
}

SPECS = op(
    "stack",
    "StackV2;StackPushV2;StackPopV2;StackCloseV2",
    part(recipes=_RECIPES, dtypes=tiered(("float32", *_ALL), ("float32",)), of_others=("pair",)),
    part(
        "-nibbles", recipes={"pair": _RECIPES["pair"]}, dtypes=NIBBLES, modes=without_modes("eager", "xla"), tier="full"
    ),
    nibble_of_xla(lambda tf, x: _turned(tf, x, x), copies=3),
    part("-swap", program=lambda tf, x, y: _turned(tf, x, y, swap=True), recipes={"pair": _RECIPES["pair"]}),
    part(
        "-empty",
        ops="StackV2;StackPopV2",
        program=_empty,
        recipes={"plain": shaped((3,))},
        **IN_KERNEL,
    ),
    part(
        "-full",
        ops="StackV2;StackPushV2",
        program=_full,
        recipes={"plain": shaped((3,))},
        **REFUSED_VALUES,
    ),
    program=_turned,
    reference=lambda x, y: (y, x, x),
    limits="StackV2",
)
