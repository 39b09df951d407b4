"""Oracle and verdict: expected results, comparisons with budgets, known failures and claims."""

#: The modules that other rooms may import.
__all__ = ()
