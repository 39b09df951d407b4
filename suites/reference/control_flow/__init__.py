"""Control flow: references of branches, control dependencies, Python functions and gradient overrides."""
