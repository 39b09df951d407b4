"""The twin of softsign with a wrong derivative, which lacks the square."""

from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.reference.promises.wide import INF, NAN, Wide

SPECS = op(
    "softsign-wrong",
    "Softsign",
    f=Wide(lambda x: x / (1 + abs(x)), {INF: NAN, -INF: NAN}, odd=True),
    df=Wide(lambda x: 1 / (1 + abs(x))),
    ulp={"output": 1.5, "grad": 3.5},
)
