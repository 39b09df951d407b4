"""LSTMs over all steps, and their ops of gradients."""

from tf_opdiff.suites.forms.calls import fields as called
from tf_opdiff.suites.forms.neural_networks.recurrent import CANCELS, Recurrent, Size, calling
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.reference.neural_networks import recurrent as ref
from tf_opdiff.suites.reference.neural_networks.recurrence import LstmSteps, Recurrence

_LSTM = ("seq_len_max", "x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b")
_RESULTS = ("i", "cs", "f", "o", "ci", "co", "h")
#: The results that the kernels leave unwritten beyond the last step, and those that they fill with zeros.
_GATES, _STATES = (0, 2, 3, 4, 5), (1, 6)
_NO_STEPS = {"no_steps": Size(2, 3, 2, 0, 0)}
#: Without rows, the ops of gradients add unwritten memory to the gradient by the weights: a product of matrices without
#: rows writes nothing in tensorflow/core/kernels/rnn/blas_gemm.h.
_EMPTY = {**_NO_STEPS, "no_rows": Size(0, 2, 3, 2, 2), "no_cells": Size(2, 3, 0, 2, 2)}
_PEEPHOLES = {"blind": {"use_peephole": False}, "peephole": {"use_peephole": True}}
_SHORT = {"short": Size(3, 2, 5, 4, 2), "none": Size(2, 3, 4, 3, 0)}
#: The second version has another order of gates, no bias of the forget gate, and no limit by default.
_SECOND = {"order": "ifco", "forget_bias": 0.0, "cell_clip": 0.0}
#: The gradients of both versions call BlockLSTMGrad, which has the order of the first version and knows no limit.
_OF_GRADIENT = {"order": "icfo", "cell_clip": 0.0}


_SUMS = {"output": CANCELS, "grad": CANCELS}


def _written(program):
    """The program of an LSTM over all steps that returns the first steps of the results with these numbers.

    The documentation says that outputs are zeros beyond `seq_len_max`. The kernels write no zeros there but into the
    cell states and the last results, so the others hold the earlier content of the memory, which differs from run to
    run: BlockLSTMOp in tensorflow/core/kernels/rnn/lstm_ops.cc.
    """

    def cut(tf, n, *xs, **attrs):
        return tuple(y[:n] if k in _GATES else y for k, y in enumerate(program(tf, n, *xs, **attrs)))

    return cut


def _first_steps(n, *xs, **attrs):
    return tuple(y[: int(n)] if k in _GATES else y for k, y in enumerate(ref.lstm(n, *xs, **attrs)))


def _steps(raw, attrs, **fixed):
    """The fields of an LSTM over all steps: of all results, of a short sequence, and of gradients."""
    of = Recurrent(
        raw=raw,
        inputs=_LSTM,
        formula=ref.lstm,
        results=7,
        fixed=fixed,
        attrs=attrs,
        special={"special": ("x",)},
        empty=_EMPTY,
        loose={"output": CANCELS},
    )

    def gradient(suffix, chosen, size, *, more=None, **fields):
        """A part: the gradients of some results."""
        promise, wrong = LstmSteps(chosen, **fixed), LstmSteps(chosen, way_back=_OF_GRADIENT, **fixed)
        recipes = {"plain": of.recipe(size), **(more or {})}
        how = {
            "mistaken": {"grad": called(of.calls(chosen, wrong))["vjp"]},
            "gradient": True,
            "rounded": ("output", "grad"),
            "loose": _SUMS,
            "unsigned_zeros": ("output", "grad"),
        }
        return part(suffix, calls=of.calls(chosen, promise), recipes=recipes, **how | fields)

    size, few = Size(3, 2, 5, 4, 3), of.few() | of.still()
    in_halves = {"dtypes": tiered(of.rest, ()), "attrs": {"default": attrs["default"]}}
    written = _written(calling(raw, _LSTM, tuple(range(7))))
    return of.fields(
        part(
            "-short",
            calls=of.calls(range(7), Recurrence(_first_steps, range(7), **fixed), written),
            recipes={label: of.recipe(one) for label, one in _SHORT.items()},
            loose={"output": CANCELS},
        ),
        gradient("-gradient", _STATES, size, more=few, lowest_tier=True),
        # In float16, the errors of the gradients by peepholes may be as large as they are.
        gradient("-gradient-other", _STATES, size, more=few, **in_halves),
        gradient("-limited-gradient", _STATES, size._replace(used=4), attrs=_LIMIT, lowest_tier=True),
        gradient("-gates-gradient", _GATES, size._replace(steps=3), lowest_tier=True),
        gradient("-second-order", _STATES, size, second_order=True, tier="full"),
    )


_PEEPHOLE = {"use_peephole": True, "forget_bias": -0.5, "cell_clip": 0.0}
_LIMIT = {"limit": {"cell_clip": 0.25}}
SPECS = (
    *op("block-lstm", **_steps("BlockLSTM", {"default": {}, "peephole": _PEEPHOLE}), ordinary=ordinary.GATES),
    *op(
        "block-lstm-grad",
        **Recurrent(
            raw="BlockLSTMGrad",
            inputs=(*_LSTM, *_RESULTS, "cs_grad", "h_grad"),
            formula=ref.lstm_gradient,
            results=8,
            attrs=_PEEPHOLES,
            special={"special": ("h_grad",), "special_state": ("cs_grad",)},
            empty=_NO_STEPS,
            loose={"output": CANCELS},
        ).fields(),
        ordinary=ordinary.GATES,
    ),
    *op(
        "block-lstm-grad-v2",
        **Recurrent(
            raw="BlockLSTMGradV2",
            inputs=(*_LSTM, *_RESULTS, "cs_grad", "h_grad"),
            formula=ref.lstm_gradient,
            results=8,
            fixed={"order": "ifco"},
            attrs=_PEEPHOLES,
            special={"special": ("h_grad",), "special_state": ("cs_grad",)},
            empty=_NO_STEPS,
            loose={"output": CANCELS},
        ).fields(),
        ordinary=ordinary.GATES,
    ),
    *op(
        "block-lstm-v2",
        **_steps("BlockLSTMV2", {"default": {}, "peephole": {"use_peephole": True}}, **_SECOND),
        ordinary=ordinary.GATES,
    ),
)
