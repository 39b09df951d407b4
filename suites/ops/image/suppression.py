"""Non-maximum suppression: the indices of boxes with high scores that overlap little."""

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT, raises, unpromised_in
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.reference.images import suppression as ref

_XLA = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/compiler/tf2xla/kernels/image_ops.cc"
_PADDED = {
    "*/xla": Side(
        reference=raises("UNIMPLEMENTED", "pad_to_max_output_size"),
        why="XLA compiles results of a fixed size only, and says so",
        link=_XLA,
    )
}
#: The largest number of chosen boxes: fewer than there are, none, and more than there are.
_MOST = {"few": {"most": 3}, "none": {"most": 0}}
_FEW, _MANY, _ONE, _NEGATIVE, _BLOCKS = (
    {label: {"most": n}} for label, n in (("few", 3), ("many", 40), ("one", 1), ("negative", -1), ("most", 100))
)
#: More boxes than a word has bits; few of them are chosen, or many.
_COUNT = 150
#: NonMaxSuppressionV2 takes no such threshold: it chooses boxes whose scores are above the lowest number.
_LOWEST = float(np.finfo("float32").min)


def _boxes(draw, dtype, count):
    """Boxes in a small grid, so that every area is exact, with corners in either order; some have no area."""
    low = draw.integers(count, 2, low=0, high=9)
    high = low + draw.integers(count, 2, low=0, high=7)
    corners = np.concatenate([low, high], 1)
    flipped = draw.booleans(count)
    return np.where(flipped[:, None], corners[:, [2, 1, 0, 3]], corners).astype(dtype) / 4


def _scores(draw, dtype, count):
    """Scores that all differ."""
    return (np.argsort(draw.bits(count)) / 16 - 0.5).astype(dtype)


def _recipe(count=23, limit=0.25, least=-0.25, *, scores=_scores, thresholds=None):
    """A recipe: boxes, their scores, the largest overlap, and the score that a box has to exceed."""

    def recipe(draw, dtype):
        limits = (np.array(x, thresholds or dtype) for x in (limit, least))
        return _boxes(draw, dtype, count), scores(draw, dtype, count), *limits

    return recipe


def _ties(draw, dtype, count):
    return draw.integers(count, low=0, high=4).astype(dtype)


def _infinite(draw, dtype, count):
    """Scores that all differ, among them infinities of both signs."""
    scores = _scores(draw, dtype, count)
    scores[1], scores[2] = np.inf, -np.inf
    return scores


def _not_numbers(draw, dtype, count):
    """Scores that differ, and NaN."""
    scores = _scores(draw, dtype, count)
    scores[::4] = np.nan
    return scores


def _exact(draw, dtype):
    """A recipe: pairs of boxes with an overlap of exactly one half, which is not too much, and of a bit more."""
    boxes = [[0, 0, 2, 2], [0, 0, 2, 1], [4, 4, 6, 6], [4, 4, 6, 5.0625], [8, 0, 9, 1], [8, 0, 9, 1], [9, 0, 10, 1]]
    return (
        np.array(boxes, dtype),
        np.arange(7, 0, -1).astype(dtype),
        np.array(0.5, dtype),
        np.array(0, dtype),
    )


_RECIPES = {
    "plain": _recipe(),
    "exact": _exact,
    "infinite": _recipe(scores=_infinite),
    "all_overlaps": _recipe(limit=1.0),
    "no_overlap": _recipe(limit=0.0),
    "at_least": _recipe(least=0.25),
}
#: Thresholds of the other dtype, by the dtype of boxes.
_THRESHOLDS = {"float32": {"half": _recipe(thresholds="float16")}, "float16": {"single": _recipe(thresholds="float32")}}
_SIZES = {"no_boxes": _recipe(0), "box": _recipe(1, least=-1.0), "two": _recipe(2, least=-1.0)}


def _changed(number, change):
    """A recipe with another input of this number: change(x)."""

    def recipe(draw, dtype):
        xs = _recipe()(draw, dtype)
        return (*xs[:number], change(xs[number]), *xs[number + 1 :])

    return recipe


_OF_TIES = unpromised_in("xla", "nothing documents which one of several boxes with equal scores is chosen")
_NO_OVERLAPS = {"negative": _recipe(limit=-0.25), "above_one": _recipe(limit=1.5), "nan": _recipe(limit=np.nan)}
_MISSHAPEN = {
    "flat_boxes": _changed(0, np.ravel),
    "three_corners": _changed(0, lambda x: x[:, :3]),
    "column_of_scores": _changed(1, lambda x: x[:, None]),
    "few_scores": _changed(1, lambda x: x[:-1]),
    "vector_of_overlaps": _changed(2, lambda x: x[None]),
}


def _parts(count, negative=IN_KERNEL):
    """The parts of an op with this number of inputs, and with this promise of a negative number of chosen boxes."""

    def every(recipes):
        return {label: lambda draw, dtype, recipe=r: recipe(draw, dtype)[:count] for label, r in recipes.items()}

    single = {"attrs": _FEW, "lowest_tier": True}
    return (
        part(recipes=every(_RECIPES), attrs=_MOST),
        part("-thresholds", recipes=every(_THRESHOLDS["float32"]), **single),
        part("-thresholds-other", recipes=every(_THRESHOLDS["float16"]), attrs=_FEW, dtypes=tiered(("float16",), ())),
        part("-ties", recipes=every({"ties": _recipe(scores=_ties)}), **_OF_TIES, **single),
        part("-many", recipes=every({"plain": _recipe()}), attrs=_MANY, lowest_tier=True),
        part(
            "-blocks",
            recipes=every({"suppressed": _recipe(_COUNT), "chosen": _recipe(_COUNT, limit=1.0)}),
            attrs=_BLOCKS,
            lowest_tier=True,
        ),
        part("-nan", recipes=every({"nan": _recipe(scores=_not_numbers)}), **single),
        small(every(_SIZES), attrs=_ONE),
        part("-misshapen", recipes=every(_MISSHAPEN), **single, **WHEN_BUILT),
        part("-negative-size", recipes=every({"plain": _recipe()}), attrs=_NEGATIVE, lowest_tier=True, **negative),
        part("-no-overlap", recipes=every(_NO_OVERLAPS), **single, **IN_KERNEL),
    )


def _run(tf, raw, xs, most, **attrs):
    """The results of an op."""
    inputs = dict(zip(("boxes", "scores", "iou_threshold", "score_threshold"), xs, strict=False))
    return getattr(tf.raw_ops, raw)(max_output_size=tf.constant(most), **inputs, **attrs)


def _chosen(boxes, scores, limit, least=_LOWEST, *, most):
    return ref.chosen(boxes, scores, most, limit, least)


def _filled(tf, *xs, most):
    """Nothing documents the indices behind the chosen ones: -1 takes their place."""
    indices, count = _run(tf, "NonMaxSuppressionV4", xs, most, pad_to_max_output_size=True)
    return tf.where(tf.range(most) < count, indices, -1), count


def _counted(boxes, scores, limit, least, *, most):
    indices = _chosen(boxes, scores, limit, least, most=most)
    return indices, np.array(len(indices), "int32")


_DTYPES = tiered(("float32", "float16"))
SPECS = (
    *op(
        "non-max-suppression-v2",
        "NonMaxSuppressionV2",
        *_parts(3),
        program=lambda tf, *xs, most: _run(tf, "NonMaxSuppressionV2", xs, most),
        reference=_chosen,
        dtypes=_DTYPES,
        modes=WITHOUT_XLA,
        ordinary=ordinary.THRESHOLD | ordinary.NAN_IN_OWN_RECIPES,
    ),
    *op(
        "non-max-suppression-v3",
        "NonMaxSuppressionV3",
        *_parts(4),
        program=lambda tf, *xs, most: _run(tf, "NonMaxSuppressionV3", xs, most),
        reference=_chosen,
        dtypes=_DTYPES,
        ordinary=ordinary.THRESHOLD | ordinary.NAN_IN_OWN_RECIPES,
    ),
    *op(
        "non-max-suppression-v4",
        "NonMaxSuppressionV4",
        *_parts(4, negative=WHEN_BUILT),
        part(
            "-unpadded",
            program=lambda tf, *xs, most: tuple(_run(tf, "NonMaxSuppressionV4", xs, most)),
            reference=_counted,
            recipes={label: _RECIPES[label] for label in ("plain", "exact")},
            attrs=_FEW,
            contract=_PADDED,
            lowest_tier=True,
        ),
        program=_filled,
        reference=lambda boxes, scores, limit, least, *, most: ref.padded(boxes, scores, most, limit, least),
        dtypes=_DTYPES,
        ordinary=ordinary.THRESHOLD | ordinary.NAN_IN_OWN_RECIPES,
    ),
)
