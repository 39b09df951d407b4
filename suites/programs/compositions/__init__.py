"""Compositions: programs of several ops and constants, which graph optimisers rewrite.

Each module names the rewrites of Grappler and of XLA's algebraic simplifier that its tables are about. A rewrite that
keeps every bit shows nothing; the others are known failures in `suites/known/compositions.toml`.
"""
