"""Oracle and verdict: expected results, comparisons with budgets, known failures and claims."""
