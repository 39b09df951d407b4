"""Forms: the forms of a discrepancy that its programs show, from the shortest to that of the run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

from tf_opdiff.harness.repro.discrepancy import Discrepancy, with_all_results
from tf_opdiff.harness.repro.short_programs.cuts import cut, of_copies, of_one_element, with_upstreams

#: Computes a form of a discrepancy; None if it has no such form.
Form = Callable[[], Discrepancy | None]
#: The place of the whole case in the result of `forms_of`.
WHOLE = 5


def forms_of(whole: Discrepancy) -> tuple[Form, ...]:
    """The forms of a discrepancy that its scripts show, in the order in which they are tried.

    One call with one element, with a row, with copies of the element, with all inputs; then programs in full: of one
    element, of the whole case, and of all outputs and gradients together, as the run computed them. A form is computed
    when its turn has come: most discrepancies need the first alone.
    """
    sent = functools.cache(lambda: with_upstreams(whole))
    element = functools.cache(lambda: of_one_element(sent()))

    def short(form: Form) -> Form:
        return lambda: (discrepancy := form()) and replace(discrepancy, short=True)

    shorter: tuple[Form, ...] = (element, lambda: cut(sent()), lambda: of_copies(sent()), lambda: whole)
    return *map(short, shorter), element, lambda: whole, lambda: with_all_results(whole)
