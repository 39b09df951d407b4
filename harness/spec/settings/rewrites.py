"""Rewrites: the names of the passes by which Grappler and XLA change a program, where each can be turned off."""

from __future__ import annotations

#: Grappler's rewriters that can be turned off one by one, by the names that TensorFlow's options and the session's
#: `RewriterConfig` share: https://www.tensorflow.org/api_docs/python/tf/config/optimizer/set_experimental_options
#: They are tried one after the other, so those that explain most discrepancies come first.
REWRITERS = (
    "arithmetic_optimization",
    "constant_folding",
    "remapping",
    "layout_optimizer",
    "loop_optimization",
    "function_optimization",
    "dependency_optimization",
    "shape_optimization",
    "implementation_selector",
    "scoped_allocator_optimization",
)
#: Passes of XLA that change a program for speed; those that a backend cannot do without are not among them. Names as in
#: the files of `--xla_dump_hlo_pass_re=.*`, seen with TensorFlow 2.21.0 on a CPU.
#: As with the rewriters, those that explain most discrepancies come first.
HLO_PASSES = (
    "algsimp",
    "simplify-fp-conversions",
    "fusion",
    "constant_folding",
    "reduce-window-rewriter",
    "reduce-decomposer",
    "logistic-expander",
    "batchnorm_expander",
    "batch-dot-simplification",
    "transpose-folding",
    "convolution-canonicalization",
    "scatter_simplifier",
    "gather_expander",
    "simplify-sorts",
    "simplify-conditional",
    "simplify-while-loops",
    "reshape-decomposer",
    "tuple-simplifier",
    "cse",
    "zero_sized_hlo_elimination",
)
#: In place of a name: all rewriters, or all passes.
ALL = "all"
