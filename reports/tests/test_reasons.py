"""The program that checks the numbers in the texts of known failures notices wrong ones."""

import pytest

from bench.reasons import agrees, disagreements, main

_ABORT = "tf.quantization.fake_quant_with_min_max_vars_per_channel(f32(1), f32([0]), f32([1]))"


@pytest.mark.parametrize(
    ("text", "value", "same"),
    [
        ("4,629 ULPs", 4629, True),
        ("4,629 ULPs", 4630, False),
        ("0.50", 0.4951, True),
        ("0.50", 0.4949, False),
        ("-2.8e-30", -2.84e-30, True),
        ("-2.8e-30", 2.8e-30, False),
        ("25 %", 0.251, True),
        ("0", -0.0, False),
        ("NaN", "NaN", True),
        ("inf", "-inf", False),
        ("1", "NaN", False),
    ],
)
def test_a_text_agrees_with_what_rounds_to_its_digits(text, value, same):
    assert agrees(text, value) is same


def test_a_planted_wrong_number_is_listed_and_an_end_of_the_process_hides_nothing():
    numbers = [
        ("1.75", "tf.nn.relu(f16(1.75))"),
        ("SIGABRT", _ABORT),
        ("7", "grad(tf.square, f32(3))"),
        ("0.5", "graph(tf.sqrt)(f32(0.25))"),
        ("1", "ulp(bf16(1.0078125), 1)"),
        ("NaN", "xla(tf.sqrt)(f32(-1))"),
        ("5", "f32([1, 2])"),
    ]
    wrong = disagreements([{"id": "planted", "numbers": numbers}, {"id": "without"}])
    assert [line.partition(" gives ")[2].split(":")[0] for line in wrong] == ["6.0", "ValueError"]
    assert wrong[0] == "planted: 7, and grad(tf.square, f32(3)) gives 6.0"


def test_the_command_checks_the_numbers_of_a_cause_of_the_suites(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["bench.reasons", "--cause", "bessel-i1-gradient-at-zero"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("1 of 1 numbers agree; ")
