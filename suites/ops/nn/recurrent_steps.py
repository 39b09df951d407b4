"""LSTMs over all steps, and their ops of gradients."""

from tf_opdiff.suites.forms.recurrent import CANCELS, Recurrent, Size, calling, recurrent, written
from tf_opdiff.suites.reference import recurrent as ref

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


def _steps(name, raw, attrs, limits, **more):
    """The specs of an LSTM over all steps: of all results, of a short sequence, and of gradients."""
    op = Recurrent(
        name=name,
        raw=raw,
        inputs=_LSTM,
        results=7,
        attrs=attrs,
        special={"special": ("x",)},
        empty=_EMPTY,
        loose={"output": CANCELS},
        **more,
    )

    def first_steps(n, *xs, **attrs):
        every = op.bound_formula(n, *xs, **attrs)
        return tuple(y[: int(n)] if k in _GATES else y for k, y in enumerate(every))

    short = Recurrent(name=name, raw=raw, inputs=_LSTM, formula=first_steps, results=7, attrs=attrs)
    second = op.differentiated("-second-order", _STATES, Size(3, 2, 5, 4, 3), **op.second_order(_STATES))
    program = written(_GATES, calling(raw, _LSTM, tuple(range(7))))
    recipes = {label: short.recipe(size) for label, size in _SHORT.items()}
    return (
        *op.specs(),
        *short.with_rest(short.spec("-short", recipes, program=program, loose={"output": CANCELS})),
        *op.differentiated("-gradient", _STATES, Size(3, 2, 5, 4, 3), other=True),
        *op.differentiated("-limited-gradient", _STATES, Size(3, 2, 5, 4, 4), attrs=limits),
        *op.differentiated("-gates-gradient", _GATES, Size(3, 2, 5, 3, 3)),
        *(two for one in second for two in op.with_rest(one)),
    )


SPECS = (
    *_steps(
        "block-lstm",
        "BlockLSTM",
        {"default": {}, "peephole": {"use_peephole": True, "forget_bias": -0.5, "cell_clip": 0.0}},
        {"limit": {"cell_clip": 0.25}},
        formula=ref.lstm,
        mistake=_OF_GRADIENT,
    ),
    *recurrent(
        "block-lstm-grad",
        "BlockLSTMGrad",
        inputs=(*_LSTM, *_RESULTS, "cs_grad", "h_grad"),
        formula=ref.lstm_gradient,
        results=8,
        attrs=_PEEPHOLES,
        special={"special": ("h_grad",), "special_state": ("cs_grad",)},
        empty=_NO_STEPS,
        loose={"output": CANCELS},
    ),
    *recurrent(
        "block-lstm-grad-v2",
        "BlockLSTMGradV2",
        inputs=(*_LSTM, *_RESULTS, "cs_grad", "h_grad"),
        formula=ref.lstm_gradient,
        results=8,
        fixed={"order": "ifco"},
        attrs=_PEEPHOLES,
        special={"special": ("h_grad",), "special_state": ("cs_grad",)},
        empty=_NO_STEPS,
        loose={"output": CANCELS},
    ),
    *_steps(
        "block-lstm-v2",
        "BlockLSTMV2",
        {"default": {}, "peephole": {"use_peephole": True}},
        {"limit": {"cell_clip": 0.25}},
        formula=ref.lstm,
        fixed=_SECOND,
        mistake=_OF_GRADIENT,
    ),
)
