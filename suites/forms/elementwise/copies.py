"""Copies: the twins of a spec in all dtypes of an op that copies elements and computes nothing with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.forms.array_ops.quantized import IN_XLA, NOT_IN_XLA, quantized
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU, NIBBLES, OF_CPU, OF_XLA, SMALL_FLOATS

_SMOOTH = tuple(dtype for dtype in (*FLOATS, *COMPLEX) if dtype != "float32")


@dataclass(frozen=True, kw_only=True)
class Dtypes:
    """The dtypes of an op in addition to float32. Quantized dtypes have the bits of the integers that stand here.

    Attributes:
      smooth: those that TensorFlow differentiates.
      smooth_without_xla: further such dtypes that a CPU takes and XLA lacks.
      rough: integers and truth values.
      more: further dtypes that a CPU and XLA take.
      without_xla: further dtypes that a CPU takes and XLA lacks.
      of_xla: those that XLA alone takes.
      nibbles: those of 4 bits that a CPU takes.
      quantized, quantized_without_xla, quantized_of_xla: the same of quantized dtypes.
    """

    smooth: tuple[str, ...] = _SMOOTH
    smooth_without_xla: tuple[str, ...] = ()
    rough: tuple[str, ...] = (*INTEGERS, "bool")
    more: tuple[str, ...] = FLOAT8_OF_CPU
    without_xla: tuple[str, ...] = ("bytes",)
    of_xla: tuple[str, ...] = OF_XLA[:3]
    nibbles: tuple[str, ...] = ()
    quantized: tuple[str, ...] = IN_XLA
    quantized_without_xla: tuple[str, ...] = NOT_IN_XLA
    quantized_of_xla: tuple[str, ...] = ()

    def of_nibbles(self, spec: Spec) -> Iterator[Spec]:
        """The twin of a spec in dtypes of 4 bits, in modes without XLA.

        XLA leaves half of a result of 4 bits unwritten. Two runs differ in it, or do not: no promise can be kept or
        broken reliably. Specs of other ops, such as those of Transpose, show the failure.
        """
        modes = tuple(mode for mode in spec.modes if mode in WITHOUT_XLA)
        if self.nibbles:
            few = spec.but(name=f"{spec.name}-nibbles", tier="full", vjp=None, upstreams={}, modes=modes)
            yield few.but(bound={}, alternatives={}, dtypes=self.nibbles)

    def twins(
        self, spec: Spec, few: Mapping[str, Recipe], of_xla: Mapping[str, Recipe] | None = None
    ) -> Iterator[Spec]:
        """The twins of a spec in these dtypes, in the full tier.

        Args:
          spec: the spec of float32.
          few: the recipes for dtypes whose values are few, or that NumPy lacks.
          of_xla: those of dtypes that XLA alone takes, if they are others.
        """
        full = replace(spec, tier="full", every_input=False)
        rough = full.but(vjp=None, jvp=None, hvp=None, upstreams={}, bound={}, alternatives={})
        few_values = replace(rough, recipes=few)
        of_quantized = replace(few_values, program=quantized(spec.program))
        no_xla = tuple(mode for mode in spec.modes if mode in WITHOUT_XLA)
        kinds: tuple[tuple[str, Spec, tuple[str, ...], tuple[str, ...]], ...] = (
            ("smooth", full, self.smooth, spec.modes),
            ("smooth-no-xla", full, self.smooth_without_xla, no_xla),
            ("rough", replace(rough, recipes={**few, **_plain(spec)}), self.rough, spec.modes),
            ("more", few_values, self.more, spec.modes),
            ("no-xla", few_values, self.without_xla, no_xla),
            ("of-xla", replace(few_values, recipes=of_xla or few), self.of_xla, ("xla",)),
            ("quantized", of_quantized, self.quantized, spec.modes),
            ("no-xla-quantized", of_quantized, self.quantized_without_xla, no_xla),
            ("of-xla-quantized", of_quantized, self.quantized_of_xla, ("xla",)),
        )
        for label, twin, dtypes, modes in kinds:
            if dtypes and {*modes} <= {*spec.modes}:
                yield replace(twin, name=f"{spec.name}-{label}", dtypes=dtypes, modes=modes)


def _plain(spec: Spec) -> dict[str, Recipe]:
    """The recipes of a spec that are about inputs, not about upstreams."""
    return {label: recipe for label, recipe in spec.recipes.items() if label not in spec.derivatives.upstreams}


#: The dtypes of ops without kernels for small floats and for quantized numbers.
COMMON = Dtypes(more=(), of_xla=(), quantized=(), quantized_without_xla=())
#: The dtypes of ops that pass tensors on: a CPU copies bytes and small floats.
PASSED = Dtypes(more=SMALL_FLOATS, without_xla=OF_CPU, of_xla=(), nibbles=NIBBLES)
#: The dtypes of ops for which XLA alone has kernels of small floats and of quantized numbers.
MORE_IN_XLA = replace(COMMON, of_xla=SMALL_FLOATS, quantized_of_xla=IN_XLA)
