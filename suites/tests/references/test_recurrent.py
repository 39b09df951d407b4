"""The gradients of recurrent cells agree with differences, and the cells with their definition, number by number."""

import math
from functools import partial

import numpy as np
import pytest

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.suites.reference.neural_networks import recurrent as ref
from tf_opdiff.suites.reference.neural_networks.recurrence import Recurrence
from tf_opdiff.suites.reference.promises.complex_step import along

STEPS, BATCH, INPUTS, CELLS, STEP = 3, 2, 3, 2, 1e-6
STATE, WEIGHTS = (BATCH, CELLS), ((INPUTS + CELLS, 4 * CELLS), *((CELLS,),) * 3, (4 * CELLS,))
ONE_STEP = ((BATCH, INPUTS), STATE, STATE, *WEIGHTS)
ALL_STEPS = ((STEPS, BATCH, INPUTS), *ONE_STEP[1:])
GRU = ((BATCH, INPUTS), STATE, (INPUTS + CELLS, 2 * CELLS), (INPUTS + CELLS, CELLS), (2 * CELLS,), (CELLS,))
HOW = {
    "plain": {},
    "peephole": {"use_peephole": True, "forget_bias": -0.5},
    "second": {"order": "ifco", "forget_bias": 0.0, "cell_clip": 0.0, "use_peephole": True},
}


def drawn(shapes, seed=1):
    draw = Draw(seed)
    return [draw.uniform(*shape) for shape in shapes]


def without_clip(how):
    return {name: value for name, value in how.items() if name != "cell_clip"}


def by_differences(function, xs, i, gs):
    """The gradient of the sum of products of upstreams and results by input i, from two values for each number."""
    gradient = np.zeros(xs[i].shape)
    for place in np.ndindex(xs[i].shape):
        moved = np.zeros(xs[i].shape)
        moved[place] = STEP
        up, down = (function(*[x + sign * moved if j == i else x for j, x in enumerate(xs)]) for sign in (1, -1))
        gradient[place] = sum(np.sum(g * (a - b)) for g, a, b in zip(gs, up, down, strict=True)) / (2 * STEP)
    return gradient


def close(gradient, difference):
    return np.allclose(np.asarray(gradient, float), difference, atol=1e-8)


def number_by_number(x, cs, h, w, wci, wcf, wco, b, *, order, forget_bias, cell_clip, use_peephole):
    """One step of an LSTM of one row, with a loop for each sum."""
    size, entries = len(cs), [*x, *h]

    def gate(name, j):
        column = order.index(name) * size + j
        return sum(a * w[k][column] for k, a in enumerate(entries)) + b[column]

    def sigmoid(z):
        return 1 / (1 + math.exp(-z))

    results = []
    for j in range(size):
        peep = [p[j] if use_peephole else 0 for p in (wci, wcf, wco)]
        i = sigmoid(gate("i", j) + peep[0] * cs[j])
        f = sigmoid(gate("f", j) + forget_bias + peep[1] * cs[j])
        ci = math.tanh(gate("c", j))
        new = i * ci + f * cs[j]
        new = max(-cell_clip, min(cell_clip, new)) if cell_clip > 0 else new
        o = sigmoid(gate("o", j) + peep[2] * new)
        results.append((i, new, f, o, ci, math.tanh(new), o * math.tanh(new)))
    return np.array(results).T


@pytest.mark.parametrize("order", ["icfo", "ifco"])
@pytest.mark.parametrize("clip", [0.0, 0.1, 3.0])
@pytest.mark.parametrize("peephole", [False, True])
def test_a_step_is_that_of_its_definition(order, clip, peephole):
    how = {"order": order, "forget_bias": 0.5, "cell_clip": clip, "use_peephole": peephole}
    x, cs, h, *weights = drawn(ONE_STEP)
    results = np.stack(ref.lstm_cell(x, cs, h, *weights, **how))
    for row in range(BATCH):
        assert np.allclose(results[:, row], number_by_number(x[row], cs[row], h[row], *weights, **how))
    assert (np.abs(results[1]) == clip).any() == (clip == 0.1)


@pytest.mark.parametrize("n", range(STEPS + 1))
def test_all_steps_are_steps_one_after_the_other_and_zeros_beyond(n):
    x, cs, h, *weights = drawn(ALL_STEPS)
    results = ref.lstm(n, x, cs, h, *weights)
    for t in range(STEPS):
        step = ref.lstm_cell(x[t], cs, h, *weights) if t < n else np.zeros((7, *STATE))
        assert all(np.array_equal(every[t], one) for every, one in zip(results, step, strict=True))
        cs, h = step[1], step[6]


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
@pytest.mark.parametrize("n", [0, 2, STEPS])
def test_gradients_of_all_steps_are_those_of_differences(how, n):
    xs, gs = drawn(ALL_STEPS), drawn([(STEPS, *STATE)] * 7, seed=2)
    for i, gradient in enumerate(ref.lstm_vjp(gs, n, *xs, **how)[1:]):
        assert close(gradient, by_differences(lambda *xs: ref.lstm(n, *xs, **how), xs, i, gs))


def test_a_cell_state_at_its_limit_has_no_gradient_before_it():
    how, xs, gs = {"cell_clip": 0.1}, drawn(ALL_STEPS), drawn([(STEPS, *STATE)] * 7, seed=2)
    assert (np.abs(ref.lstm(STEPS, *xs, **how)[1]) == 0.1).any()
    for i, gradient in enumerate(ref.lstm_vjp(gs, STEPS, *xs, **how)[1:]):
        assert close(gradient, by_differences(lambda *xs: ref.lstm(STEPS, *xs, **how), xs, i, gs))


@pytest.mark.parametrize("how", [*HOW.values(), {"cell_clip": 0.1}], ids=[*HOW, "limit"])
def test_forward_mode_and_second_order_of_all_steps_are_those_of_differences(how):
    xs, ts = drawn(ALL_STEPS), drawn(ALL_STEPS, seed=3)
    gs = drawn([(STEPS, *STATE)] * 7, seed=2)
    for function in (partial(ref.lstm, 2, **how), lambda *xs: ref.lstm_vjp(gs, 2, *xs, **how)[1:]):
        up, down = (function(*[x + sign * STEP * t for x, t in zip(xs, ts, strict=True)]) for sign in (1, -1))
        differences = [(a - b) / (2 * STEP) for a, b in zip(up, down, strict=True)]
        assert all(map(close, along(function, xs, ts), differences))
        assert any(np.abs(difference).max() > 0.1 for difference in differences)


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
def test_the_op_of_gradients_gives_those_of_the_cell_states_and_of_the_results(how):
    xs, gs = drawn(ALL_STEPS), drawn([(STEPS, *STATE)] * 7, seed=2)
    gs = [g if k in (1, 6) else 0 * g for k, g in enumerate(gs)]
    order = {"order": how.get("order", "icfo"), "use_peephole": how.get("use_peephole", False)}
    own = ref.lstm_gradient(2, *xs, *ref.lstm(2, *xs, **how), gs[1], gs[6], **order)
    assert all(np.allclose(a, b) for a, b in zip(own, ref.lstm_vjp(gs, 2, *xs, **how)[1:], strict=True))


@pytest.mark.parametrize("peephole", [False, True])
def test_gradients_of_one_step_are_those_of_differences(peephole):
    how, xs = {"cell_clip": 0.0, "use_peephole": peephole}, drawn(ONE_STEP)
    gs = drawn([STATE] * 7, seed=2)
    gs = [g if k in (1, 6) else 0 * g for k, g in enumerate(gs)]
    by_cs, gates, *peepholes = ref.lstm_cell_gradient(
        *xs, *ref.lstm_cell(*xs, **how)[:6], gs[1], gs[6], use_peephole=peephole
    )
    wanted = [by_differences(lambda *xs: ref.lstm_cell(*xs, **how), xs, i, gs) for i in (1, 4, 5, 6, 7)]
    for gradient, difference in zip((by_cs, *peepholes, gates.sum(axis=0)), wanted, strict=True):
        assert close(gradient, difference)


def test_a_gru_keeps_its_state_where_the_update_gate_is_open():
    x, h, w_ru, w_c, b_ru, b_c = drawn(GRU)
    b_ru[CELLS:] = 60
    assert np.allclose(ref.gru_cell(x, h, w_ru, w_c, b_ru, b_c)[3], h)
    b_ru[CELLS:] = -60
    r, _, _, new = ref.gru_cell(x, h, w_ru, w_c, b_ru, b_c)
    assert np.allclose(new, np.tanh(x @ w_c[:INPUTS] + (r * h) @ w_c[INPUTS:] + b_c))
    assert np.allclose(r, 1 / (1 + np.exp(-(x @ w_ru[:INPUTS] + h @ w_ru[INPUTS:] + b_ru)[:, :CELLS])))


def test_gradients_of_a_gru_are_those_of_differences():
    xs, g = drawn(GRU), drawn([STATE], seed=2)[0]
    gs = [np.zeros(STATE)] * 3 + [g]
    by_x, by_h, by_c, by_gates = ref.gru_cell_gradient(*xs, *ref.gru_cell(*xs)[:3], g)
    wanted = [by_differences(ref.gru_cell, xs, i, gs) for i in (0, 1, 4, 5)]
    assert close(by_x, wanted[0])
    assert close(by_h, wanted[1])
    assert close(by_gates.sum(axis=0), wanted[2])
    assert close(by_c.sum(axis=0), wanted[3])


def test_errors_bound_float32_and_a_wrong_formula_is_beyond_them():
    xs = [x.astype(np.float32) for x in drawn(ONE_STEP)]
    cell = Recurrence(ref.lstm_cell, range(7))
    computed, exact = ref.lstm_cell(*xs, use_peephole=True), cell.f(*xs, use_peephole=True)
    wrong = ref.lstm_cell(*xs, use_peephole=True, forget_bias=1.0001)
    for k, largest in enumerate(cell.error(2.0**-24, *(x.astype(np.float64) for x in xs), use_peephole=True)):
        assert (np.abs(computed[k] - exact[k]) <= largest).all()
        assert (np.abs(wrong[k] - exact[k]) > largest).any() == (k in (1, 2, 3, 5, 6))
