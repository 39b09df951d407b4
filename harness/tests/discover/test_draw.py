"""Programs and values come from a seed alone, and cover what they promise."""

import numpy as np

from tf_opdiff.discover.programs.draw import KINDS, LARGEST, SHAPES, Drawing, values
from tf_opdiff.discover.programs.program import Program
from tf_opdiff.discover.programs.vocabulary import FORMS


def drawn(count):
    drawing = Drawing()
    for seed in range(count):
        random = np.random.default_rng(seed)
        program = drawing.program(random)
        yield program, values(random, program, len(KINDS))


def test_a_seed_gives_the_same_programs_and_values_again():
    for (program, draws), (again, others) in zip(drawn(40), drawn(40), strict=True):
        assert program == again
        assert [[x.tobytes() for x in draw] for draw in draws] == [[x.tobytes() for x in draw] for draw in others]


def test_every_program_is_python_and_small_and_survives_its_data():
    for program, draws in drawn(300):
        compile(program.text, "program", "exec")
        compile(program.hooked(), "hooked", "exec")
        assert 1 <= len(program.ops) <= LARGEST * 2
        assert Program.of(program.data()) == program
        assert [x.dtype.name for x in draws[0]] == [*program.dtypes]


def test_all_forms_shapes_and_classes_of_values_are_drawn():
    programs = list(drawn(400))
    assert {program.form for program, _ in programs} == {*FORMS}
    assert {draws[0][0].shape for _, draws in programs} == {*SHAPES}
    floats = [x for program, draws in programs if program.dtypes[0] == "float32" for draw in draws for x in draw]
    every = np.concatenate([x.ravel() for x in floats])
    assert np.isnan(every).any() and np.isinf(every).any() and (every == 0).any()
    assert ((every != 0) & (np.abs(every) < np.finfo(np.float32).tiny)).any()
    assert (np.abs(every[np.isfinite(every)]) > 1e37).any()


def test_pairs_that_were_drawn_often_become_rare():
    drawing = Drawing()
    random = np.random.default_rng(0)
    for _ in range(600):
        drawing.program(random)
    tops = {text: count for (above, text), count in drawing.seen.items() if not above}
    assert max(tops.values()) <= 25
