"""Python functions as ops: their calls, errors and gradients."""
