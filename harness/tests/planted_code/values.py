"""What a module of suites imports."""

RIGHT = 1.0
