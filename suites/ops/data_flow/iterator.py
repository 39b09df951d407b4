"""Datasets and iterators: the elements of a dataset, in their order, by each op that passes it on or reads it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.of_xla import NIBBLES, OF_CPU, OF_XLA, SMALL_FLOATS
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.recipes.pairs import shaped

_OTHERS = (*(dtype for dtype in FLOATS if dtype != "float32"), *COMPLEX, *INTEGERS, "bool")
_RECIPES = {"rows": shaped((3, 5)), "scalars": shaped((3,)), "empty_rows": shaped((3, 0)), "one": shaped((3, 1))}
_ROW = {"row": shaped((5,))}
#: The dtypes for which a CPU has no kernel of slices.
_WITHOUT_SLICES = (*OF_XLA, *(dtype for dtype in OF_CPU if dtype != "bytes"))
#: The options of a dataset as its op has them: `deterministic` of `tf.data.Options` is true.
_OPTIONS = b"\x08\x01"
_READ = "MakeIterator;IteratorGetNext;AnonymousIteratorV3"


def _typed(x: Any) -> dict[str, Any]:
    """The attributes of a dataset of the rows of a tensor."""
    return {"output_types": [x.dtype], "output_shapes": [x.shape[1:]]}


def _rows(tf: Any, x: Any) -> Any:
    """A dataset of the rows of a tensor."""
    return tf.raw_ops.TensorSliceDataset(components=[x], output_shapes=[x.shape[1:]])


def _after(tf: Any, waits: Any) -> Any:
    """A context whose ops wait for others; eager ops and functions have nothing to wait for."""
    return tf.control_dependencies([] if waits is None else [waits])


def _next(tf: Any, iterator: Any, x: Any) -> Any:
    return tf.raw_ops.IteratorGetNext(iterator=iterator, **_typed(x))[0]


def _anonymous(tf: Any, x: Any) -> Any:
    return tf.raw_ops.AnonymousIteratorV3(**_typed(x))


def _read(tf: Any, dataset: Any, x: Any, make: Any = _anonymous, following: Any = _next) -> tuple[Any, ...]:
    """Three elements of a dataset, by an iterator."""
    iterator = make(tf, x)
    waits, elements = tf.raw_ops.MakeIterator(dataset=dataset, iterator=iterator), []
    for _ in range(3):
        with _after(tf, waits):
            waits = following(tf, iterator, x)
            elements.append(waits)
    return tuple(elements)


def _passed(call: Callable[..., Any]) -> Callable[..., Any]:
    """The program that reads the dataset that call(tf, dataset, **types) gives of one of rows."""
    return lambda tf, x: _read(tf, call(tf, _rows(tf, x), **_typed(x)), x)


def _read_by(make: Any = _anonymous, following: Any = _next) -> Callable[..., Any]:
    """The program that reads a dataset of rows in a certain way."""
    return lambda tf, x: _read(tf, _rows(tf, x), x, make, following)


def _by_name(tf: Any, x: Any) -> Any:
    """An iterator that is known by its name, which tells dtypes and shapes apart."""
    name = "_".join(("rows", x.dtype.name, *map(str, x.shape)))
    return tf.raw_ops.IteratorV2(shared_name=name, container="", **_typed(x))


def _of_text(tf: Any, iterator: Any, x: Any) -> Any:
    """The next element of the iterator that a text stands for."""
    text = tf.raw_ops.IteratorToStringHandle(resource_handle=iterator)
    return _next(tf, tf.raw_ops.IteratorFromStringHandleV2(string_handle=text, **_typed(x)), x)


def _of_optional(tf: Any, iterator: Any, x: Any) -> Any:
    optional = tf.raw_ops.IteratorGetNextAsOptional(iterator=iterator, **_typed(x))
    return tf.raw_ops.OptionalGetValue(optional=optional, **_typed(x))[0]


def _at_once(tf: Any, iterator: Any, x: Any) -> Any:
    return tf.raw_ops.IteratorGetNextSync(iterator=iterator, **_typed(x))[0]


def _wrapped(tf: Any, dataset: Any, **types: Any) -> Any:
    return tf.raw_ops.UnwrapDatasetVariant(input_handle=tf.raw_ops.WrapDatasetVariant(input_handle=dataset))


def _deleted(tf: Any, x: Any) -> Any:
    """The elements by an iterator that is deleted at the end."""
    iterator, deleter = tf.raw_ops.AnonymousIteratorV2(**_typed(x))
    elements = _read(tf, _rows(tf, x), x, lambda tf, x: iterator)
    with _after(tf, elements[-1]):
        deleted = tf.raw_ops.DeleteIterator(handle=iterator, deleter=deleter)
    with _after(tf, deleted):
        return tuple(map(tf.identity, elements))


def _whole(tf: Any, x: Any) -> Any:
    """The whole tensor by a generator, three times."""
    return _generated(tf, x, lambda n, x: tf.identity(x), tf.TensorSpec([1, *x.shape], x.dtype))


def _generated(tf: Any, x: Any, following: Any, like: Any) -> Any:
    """Elements by a generator, whose state is their number; `like` has the dtype and the shape of such rows."""
    number, shape = tf.TensorSpec([], tf.int64), tf.TensorSpec(x.shape, x.dtype)

    def traced(f: Callable[..., Any], *types: Any) -> Any:
        return tf.function(f, autograph=False).get_concrete_function(*types)

    first = traced(lambda x: tf.constant(0, tf.int64), shape)
    one = traced(following, number, shape)
    last = traced(lambda n, x: tf.constant(0, tf.int64), number, shape)
    functions = {"init_func": first, "next_func": one, "finalize_func": last}
    others = {"init_func_other_args": [x], "next_func_other_args": [x], "finalize_func_other_args": [x]}
    return _read(tf, tf.raw_ops.GeneratorDataset(**functions, **others, **_typed(like)), like)


def _options(tf: Any, x: Any) -> Any:
    """The options of a dataset that has them."""
    dataset = tf.raw_ops.OptionsDataset(input_dataset=_rows(tf, x), serialized_options=_OPTIONS, **_typed(x))
    return tf.raw_ops.GetOptions(input_dataset=dataset)


def _first_version(tf: Any, x: Any) -> Any:
    """An iterator of the first version, whose handle is its only output."""
    return tf.raw_ops.AnonymousIterator(**_typed(x))


def _slow(tf: Any, dataset: Any, **types: Any) -> Any:
    """The dataset through both ops that wait a microsecond before each element."""
    wait = {"sleep_microseconds": tf.constant(1, tf.int64), **types}
    return tf.raw_ops.ExperimentalSleepDataset(
        input_dataset=tf.raw_ops.SleepDataset(input_dataset=dataset, **wait), **wait
    )


def _passing(raw: str, **arguments: Any) -> Callable[..., Any]:
    """The program of an op that gives the elements of its input."""
    return _passed(lambda tf, dataset, **types: getattr(tf.raw_ops, raw)(input_dataset=dataset, **arguments, **types))


#: The parts of each: float32, and all other dtypes in the full tier.
_PARTS = (
    part(recipes=_RECIPES),
    part("-other", recipes={"rows": _RECIPES["rows"]}, dtypes=_OTHERS, tier="full"),
    part("-more", recipes={"rows": _RECIPES["rows"]}, dtypes=(*SMALL_FLOATS, *NIBBLES, *OF_CPU), tier="full"),
)
_ROWS: dict[str, Any] = {"reference": lambda x: (x[0], x[1], x[2]), "modes": WITHOUT_XLA}

SPECS = (
    *op(
        "anonymous-iterator",
        "AnonymousIterator;MakeIterator;IteratorGetNext",
        *_PARTS,
        program=_read_by(_first_version),
        **_ROWS,
    ),
    *op(
        "delete-iterator",
        "DeleteIterator;AnonymousIteratorV2;MakeIterator;IteratorGetNext",
        *_PARTS,
        program=_deleted,
        **_ROWS,
    ),
    *op(
        "finalize-dataset",
        "FinalizeDataset;" + _READ,
        *_PARTS,
        part("-captured", program=_passing("FinalizeDataset", has_captured_ref=True), recipes=_RECIPES),
        program=_passing("FinalizeDataset"),
        **_ROWS,
    ),
    *op(
        "generator-dataset",
        "GeneratorDataset;" + _READ,
        *_PARTS,
        part("-whole", program=_whole, reference=lambda x: (x,) * 3, recipes=_ROW, dtypes=_WITHOUT_SLICES, tier="full"),
        program=lambda tf, x: _generated(tf, x, lambda n, x: x[0], x),
        **_ROWS | {"reference": lambda x: (x[0],) * 3},
    ),
    *op(
        "iterator-by-name",
        "IteratorV2;IteratorToStringHandle;IteratorFromStringHandleV2;MakeIterator;IteratorGetNext",
        *_PARTS,
        program=_read_by(_by_name, _of_text),
        **_ROWS,
    ),
    *op(
        "iterator-of-optional",
        "IteratorGetNextAsOptional;MakeIterator;AnonymousIteratorV3",
        *_PARTS,
        program=_read_by(following=_of_optional),
        **_ROWS,
    ),
    *op(
        "iterator-sync",
        "IteratorGetNextSync;MakeIterator;AnonymousIteratorV3",
        *_PARTS,
        program=_read_by(following=_at_once),
        **_ROWS,
    ),
    *op(
        "options-dataset",
        "OptionsDataset;" + _READ,
        *_PARTS,
        part(
            "-options",
            ops="OptionsDataset;GetOptions",
            program=_options,
            recipes=_RECIPES,
            reference=lambda x: np.array(_OPTIONS, object),
            constant=("output[0]",),
        ),
        program=_passing("OptionsDataset", serialized_options=_OPTIONS),
        **_ROWS,
    ),
    *op(
        "prefetch-dataset",
        "PrefetchDataset;" + _READ,
        *_PARTS,
        part(
            "-autotuned", program=_passing("PrefetchDataset", buffer_size=-1, legacy_autotune=False), recipes=_RECIPES
        ),
        program=_passing("PrefetchDataset", buffer_size=2),
        **_ROWS,
    ),
    *op("sleep-dataset", "SleepDataset;ExperimentalSleepDataset;" + _READ, *_PARTS, program=_passed(_slow), **_ROWS),
    *op(
        "wrap-dataset", "WrapDatasetVariant;UnwrapDatasetVariant;" + _READ, *_PARTS, program=_passed(_wrapped), **_ROWS
    ),
)
