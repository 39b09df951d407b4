"""The twin of softsign with a wrong derivative, which lacks the square."""

from tf_opdiff.suites.forms.unary import unary
from tf_opdiff.suites.reference.wide import INF, NAN, Wide

SPECS = unary(
    "softsign-wrong",
    op="Softsign",
    argument="features",
    f=Wide(lambda x: x / (1 + abs(x)), {INF: NAN, -INF: NAN}, odd=True),
    df=Wide(lambda x: 1 / (1 + abs(x))),
    ulp={"output": 1.5, "grad": 3.5},
)
