"""An addition that a Python function takes over."""
