"""Names in short name the same things."""

import subprocess

from tf_opdiff.reports.text.braced import braced


def test_a_shell_expands_the_short_names_to_the_names():
    names = ["add-float32", "add-int2", "floor-other-bool", "floor-other-uint8", "floor", "neg-int8"]
    short = braced(names)
    assert short == ["add-{float32,int2}", "floor", "floor-other-{bool,uint8}", "neg-int8"]
    expanded = subprocess.check_output(["bash", "-c", f"echo {' '.join(short)}"], text=True)
    assert sorted(expanded.split()) == sorted(names)
