"""A public function in place of a raw op, and a planted fault: another one returns a value that is off."""

from tf_opdiff.suites.forms.programs.public import Public, twins
from tf_opdiff.suites.ops.math.elementary import trigonometric

SPECS = (*twins(trigonometric, "math.cos", Public("math.sin", call=lambda f, x: f(x) * (1 + 2**-10))),)
