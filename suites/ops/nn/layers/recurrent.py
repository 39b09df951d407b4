"""Recurrent cells: one step of a GRU and of an LSTM, and their ops of gradients."""

from tf_opdiff.suites.forms.neural_networks.recurrent import CANCELS, Recurrent, Size
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.reference.neural_networks import recurrent as ref

_GRU = ("x", "h_prev", "w_ru", "w_c", "b_ru", "b_c")
_LSTM = ("x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b")
_RESULTS = ("i", "cs", "f", "o", "ci", "co")
_WEIGHTS = ("wci", "wcf", "wco")
_PEEPHOLES = {"blind": {"use_peephole": False}, "peephole": {"use_peephole": True}}

SPECS = (
    *op(
        "gru-block-cell",
        **Recurrent(
            raw="GRUBlockCell",
            inputs=_GRU,
            formula=ref.gru_cell,
            results=4,
            by_rows=4,
            special={"special": ("x",), "special_state": ("h_prev",)},
            empty={"no_rows": Size(0, 2, 3), "no_cells": Size(2, 3, 0)},
            loose={"output[3]": CANCELS},
            rest=(),
        ).fields(),
        ordinary=ordinary.GATES,
    ),
    *op(
        "gru-block-cell-grad",
        **Recurrent(
            raw="GRUBlockCellGrad",
            inputs=(*_GRU, "r", "u", "c", "d_h"),
            formula=ref.gru_cell_gradient,
            results=4,
            by_rows=4,
            special={"special": ("d_h",), "special_state": ("h_prev",)},
            empty={"no_rows": Size(0, 2, 3)},  # without cells, the kernel leaves the gradient by x unwritten
            rest=(),
        ).fields(),
        ordinary=ordinary.GATES,
    ),
    *op(
        "lstm-block-cell",
        **Recurrent(
            raw="LSTMBlockCell",
            inputs=_LSTM,
            formula=ref.lstm_cell,
            results=7,
            by_rows=7,
            attrs={
                "default": {},
                "clipped": {"cell_clip": 0.25, "forget_bias": -0.5},
                "peephole": {"use_peephole": True, "cell_clip": 0.0},
            },
            special={"special": ("x",), "special_state": ("cs_prev",)},
        ).fields(),
        ordinary=ordinary.GATES,
    ),
    *op(
        "lstm-block-cell-grad",
        **Recurrent(
            raw="LSTMBlockCellGrad",
            inputs=(*_LSTM, *_RESULTS, "cs_grad", "h_grad"),
            formula=ref.lstm_cell_gradient,
            results=5,
            by_rows=2,
            attrs=_PEEPHOLES,
            special={"special": ("h_grad",), "special_state": ("cs_grad",)},
            empty={"no_rows": Size(0, 2, 3), "no_cells": Size(2, 3, 0)},
            zeroed=_WEIGHTS,
        ).fields(),
        ordinary=ordinary.GATES,
    ),
    *op(
        "lstm-block-cell-grad-moved",
        **Recurrent(
            raw="LSTMBlockCellGrad",
            inputs=(*_LSTM, *_RESULTS, "cs_grad", "h_grad"),
            formula=ref.lstm_cell_gradient,
            results=5,
            moved=_WEIGHTS,
            zeroed=_WEIGHTS,
            attrs=_PEEPHOLES,
        ).fields(),
        without={"special-operands": "functions zero moved weights, a known failure; `lstm-block-cell-grad` has them"},
        ordinary=ordinary.GATES,
    ),
)
